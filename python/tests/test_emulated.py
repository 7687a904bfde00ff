"""The page of `tightlink emulate --report` in a real browser: both directions are drawn and told apart."""

from __future__ import annotations

import pytest
from conftest import RESULTS, fits_a_phone, keeps_to_itself, opened, sample, until


@pytest.fixture(scope="module")
def visit(browser):
    """The sample page, drawn."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "emulated.html"
    sample("emulated_sample", path)
    page = opened(browser, path.name)
    until(page, "() => window.tightlinkReport && window.tightlinkReport.drawn === window.tightlinkReport.expected")
    yield page
    page.close()


def test_delay_rate_and_drops_are_drawn_for_both_directions(visit):
    drawn = visit.locator("[data-chart]")
    assert [drawn.nth(i).get_attribute("data-chart") for i in range(drawn.count())] == ["delay", "rate", "drops"]
    assert [drawn.nth(i).get_attribute("data-traces") for i in range(drawn.count())] == ["2", "2", "2"]
    colors = visit.evaluate("document.querySelector('[data-chart=delay]').data.map(t => t.line.color)")
    assert len(set(colors)) == 2
    assert visit.locator(".legend .flow").count() == 2
    rows = visit.locator("tbody th[scope=row]").all_text_contents()
    assert rows == ["to the far end", "from the far end", "near end", "far end"]
    assert "From the far end: 4.60 Mbit/s (92.0 % busy)" in visit.locator(".headline").inner_text().replace("\xa0", " ")


def test_a_direction_is_switched_off_by_its_name(visit):
    visit.locator(".legend button", has_text="from the far end").click()
    shown = "JSON.stringify(document.querySelector('[data-chart=rate]').data.map(t => t.visible))"
    assert until(visit, f"{shown} === '[true,false]'")
    visit.locator(".legend button", has_text="from the far end").click()


def test_the_page_keeps_to_itself_and_fits_a_phone(visit):
    assert keeps_to_itself(visit), (visit.said, visit.asked)
    assert fits_a_phone(visit)
