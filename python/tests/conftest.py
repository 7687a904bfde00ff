"""What every browser test shares: one Chromium for all of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

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
    """Adds a test that is skipped to those that could not judge, which `make test` lists at its end (tests/testkit)."""
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


ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "target/test-results"


def sample(example: str, path: Path) -> None:
    """Has an example of the room of reports write its page. It is that of `cargo test --workspace`: alone it would be compiled anew."""
    subprocess.run(["cargo", "build", "-q", "--workspace", "--example", example], cwd=ROOT, check=True)
    built = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/examples" / example
    subprocess.run([built, path], cwd=ROOT, check=True)


def opened(browser, name: str):
    """A page that `make test` has just made, with what it said and what it asked the network for."""
    path = RESULTS / name
    if not path.exists():
        pytest.fail(f"{path} is missing: make test makes it", pytrace=False)
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    return page


def until(page, condition: str, seconds: float = 10.0) -> bool:
    """Whether the condition becomes true in the page. The page's policy forbids what wait_for_function needs."""
    for _ in range(int(seconds * 10)):
        if page.evaluate(condition):
            return True
        time.sleep(0.1)
    return False


def keeps_to_itself(page) -> bool:
    """Whether the page said nothing and asked nothing of the network."""
    return page.said == [] and all(re.match(r"(file|data|blob):", url) for url in page.asked)


def fits_a_phone(page) -> bool:
    """Whether the page needs no sideways scrolling on a narrow screen."""
    page.set_viewport_size({"width": 390, "height": 800})
    return until(page, "() => document.documentElement.scrollWidth <= 390")
