"""The page of `tightlink diagnose --report` in a real browser: bar, charts, and a sequence that zooms."""

from __future__ import annotations

import pytest
from conftest import RESULTS, fits_a_phone, keeps_to_itself, opened, sample, until


@pytest.fixture(scope="module")
def visit(browser):
    """The sample page, with both connections open and drawn."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "diagnosis.html"
    sample("diagnosis_sample", path)
    page = opened(browser, path.name)
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    until(page, "() => window.tightlinkReport && window.tightlinkReport.drawn === window.tightlinkReport.expected")
    yield page
    page.close()


def test_each_connection_has_its_charts_and_curves_of_their_own_colour(visit):
    first = visit.locator("#case-1 [data-chart]")
    kinds = [first.nth(i).get_attribute("data-chart") for i in range(first.count())]
    assert kinds == ["sequence-start", "window", "rtt", "rate", "sequence"]
    second = visit.locator("#case-2 [data-chart]")
    assert "drops" in [second.nth(i).get_attribute("data-chart") for i in range(second.count())]
    colors = visit.evaluate("document.querySelector('#case-2 [data-chart=window]').data.map(t => t.line.color)")
    assert len(colors) >= 2 and len(set(colors)) == len(colors)


def test_the_shares_fill_their_bar(visit):
    bar = visit.locator("#case-1 .shares").bounding_box()["width"]
    widths = visit.evaluate("[...document.querySelectorAll('#case-1 .shares i')].map(i => i.getBoundingClientRect().width)")
    assert sum(widths) == pytest.approx(bar, abs=2 + len(widths))
    assert visit.locator("#case-1 .share-names li").count() == len(widths)


def test_a_zoomed_sequence_has_the_height_of_its_part(visit):
    chart = "document.querySelector('#case-1 [data-chart=sequence]')"
    whole = visit.evaluate(f"{chart}.layout.yaxis.range")
    visit.evaluate("Plotly.relayout(document.querySelector('#case-1 [data-chart=rtt]'), {'xaxis.range': [5, 5.5]})")
    assert until(visit, f"{chart}.layout.yaxis.range[0] > 1")
    low, high = visit.evaluate(f"{chart}.layout.yaxis.range")
    assert high - low < (whole[1] - whole[0]) / 4
    visit.locator("#case-1 .reset").click()
    assert until(visit, f"Math.abs({chart}.layout.yaxis.range[1] - {whole[1]}) < 1e-9")


def test_the_page_keeps_to_itself_and_fits_a_phone(visit):
    assert keeps_to_itself(visit), (visit.said, visit.asked)
    assert fits_a_phone(visit)
