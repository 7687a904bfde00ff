"""The page of a figure over a sweep in a real browser: every curve is drawn, says its units, and prints."""

from __future__ import annotations

import json

import pytest
from conftest import fits_a_phone, keeps_to_itself, opened, until


@pytest.fixture(scope="module")
def visit(browser):
    """The page, drawn."""
    page = opened(browser, "figure.html")
    until(page, "() => window.tightlinkReport && window.tightlinkReport.drawn === window.tightlinkReport.expected")
    yield page
    page.close()


def data(visit) -> dict:
    return json.loads(visit.inner_text("#report-data") or visit.locator("#report-data").text_content())


def test_every_curve_of_every_chart_is_drawn(visit):
    charts = data(visit)["charts"]
    assert [chart["y"]["label"] for chart in charts] == ["idle time", "loss rate", "p95 queueing delay"]
    drawn = visit.locator("[data-chart]")
    assert drawn.count() == len(charts)
    for index, chart in enumerate(charts):
        assert int(drawn.nth(index).get_attribute("data-traces")) == len(chart["curves"]) == 2
        assert all(len(curve["points"]) == 7 for curve in chart["curves"])
        assert drawn.nth(index).locator("svg").count() > 0


def test_units_and_keys_stand_at_the_axes(visit):
    for index, chart in enumerate(data(visit)["charts"]):
        text = visit.locator("[data-chart]").nth(index).text_content()
        assert f"{chart['y']['label']}, {chart['y']['unit']}" in text
        assert "link.queue.limit" in text
    assert [chart["y"]["unit"] for chart in data(visit)["charts"]] == ["%", "%", "ms"]


def test_the_table_has_the_numbers_of_the_curves(visit):
    cells = visit.locator("table.summary td").evaluate_all("cells => cells.map(cell => Number(cell.dataset.value))")
    points = [point["y"] for chart in data(visit)["charts"] for curve in chart["curves"] for point in curve["points"]]
    assert sorted(cells) == pytest.approx(sorted(points))


def test_the_curves_say_what_a_buffer_buys(visit):
    idle, loss, delay = data(visit)["charts"]
    for chart, falls in ((idle, True), (loss, True), (delay, False)):
        for curve in chart["curves"]:
            first, last = curve["points"][0]["y"], curve["points"][-1]["y"]
            assert (last < first) == falls, (chart["y"]["label"], curve["name"], first, last)


def test_the_page_keeps_to_itself_and_is_quiet(visit):
    assert keeps_to_itself(visit), (visit.said, visit.asked)


def test_it_prints_and_fits_a_phone(visit):
    assert fits_a_phone(visit)
    assert len(visit.pdf()) > 20_000
