"""What every browser test shares: one Chromium for all of them."""

from __future__ import annotations

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
]


def pytest_runtest_logreport(report):
    """Adds a test that is skipped to those that could not judge, which `make test` lists at its end (tests/unjudged)."""
    kept = os.environ.get("TIGHTLINK_SKIPPED")
    if report.skipped and kept:
        _, _, reason = report.longrepr
        with open(kept, "a", encoding="utf-8") as out:
            out.write(f"{report.nodeid}\t{' '.join(reason.removeprefix('Skipped: ').split())}\n")


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium; a machine without one fails, as an unseen page is an untested page."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.fail("no chromium on PATH: apt-get install chromium", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()
