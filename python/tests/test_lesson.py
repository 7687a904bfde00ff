"""The slides of the lesson in a real browser. `crates/cli/tests/cli/lesson.rs` runs the commands of its sheet."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT, fits_a_phone, until

SLIDES = ROOT / "docs/lab/slides.html"


@pytest.fixture
def visit(browser):
    """The slides, with what the page asked for."""
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(SLIDES.as_uri())
    yield page
    page.close()


def shown(page) -> str:
    """The slide at the upper edge of the window."""
    return page.evaluate("() => document.elementFromPoint(innerWidth / 2, 20).closest('section')?.id")


def test_the_slides_are_made_from_the_sheet():
    made = subprocess.run([sys.executable, ROOT / "scripts/slides", "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


def test_ten_slides_have_a_picture_a_table_or_commands_and_the_page_needs_no_network(visit):
    assert visit.locator("section").count() == 10
    for slide in visit.locator("section").all():
        assert slide.locator("img, table, pre").count() > 0, slide.inner_text()
    assert visit.evaluate("() => [...document.images].every(image => image.complete && image.naturalWidth > 0)")
    assert all(url == SLIDES.as_uri() or url.startswith("data:") for url in visit.asked), visit.asked


def test_arrow_keys_go_from_slide_to_slide(visit):
    assert shown(visit) == "s1"
    for key, then in [("ArrowRight", "s2"), ("ArrowDown", "s3"), ("ArrowLeft", "s2"), ("End", "s10"), ("Home", "s1")]:
        visit.keyboard.press(key)
        assert until(visit, f"{ID} === '{then}'"), (key, shown(visit))


ID = "document.elementFromPoint(innerWidth / 2, 20).closest('section')?.id"


def test_light_and_dark_have_their_own_ground_and_pictures(visit):
    grounds = {}
    for scheme, chosen in (("light", "image.src"), ("dark", "image.parentElement.querySelector('source').srcset")):
        visit.emulate_media(color_scheme=scheme)
        # The browser takes its time to change a picture.
        shows = f"(image => image.complete && image.currentSrc === {chosen})(document.querySelector('img'))"
        assert until(visit, shows), scheme
        grounds[scheme] = visit.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds["light"] != grounds["dark"]
    assert visit.evaluate("document.querySelector('img').src !== document.querySelector('source').srcset")


def test_the_slides_fit_a_phone_and_print_on_a_page_each(visit):
    pages = visit.pdf(prefer_css_page_size=True)
    assert pages.count(b"/Type /Page\n") == 10 or pages.count(b"/Type /Page") - pages.count(b"/Type /Pages") == 10
    assert fits_a_phone(visit)
