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
        assert f"{chart['x']['label']}, {chart['x']['unit']}" in text
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


@pytest.fixture(scope="module")
def against(browser):
    """The page of one result against another, drawn."""
    page = opened(browser, "against.html")
    until(page, "() => window.tightlinkReport && window.tightlinkReport.drawn === window.tightlinkReport.expected")
    yield page
    page.close()


def test_a_result_is_drawn_against_another_along_the_swept_key(against):
    (chart,) = data(against)["charts"]
    assert (chart["x"]["label"], chart["y"]["label"]) == ("mean queueing delay", "utilization")
    assert [curve["name"] for curve in chart["curves"]] == ["drop-tail", "codel"]
    text = against.locator("[data-chart]").text_content()
    for point in chart["curves"][0]["points"]:
        assert point["at"] in text, "the swept values stand at the first curve"
    xs = [point["x"] for point in chart["curves"][0]["points"]]
    assert xs == sorted(xs), "a larger drop-tail queue waits longer"
    assert against.locator("table.summary tbody th[scope=row]").count() == 14
    assert keeps_to_itself(against), (against.said, against.asked)


def test_an_axis_of_utilization_is_scaled_to_the_data(against):
    ys = [point["y"] for curve in data(against)["charts"][0]["curves"] for point in curve["points"]]
    low, high = against.evaluate("document.querySelector('[data-chart]').layout.yaxis.range")
    assert min(ys) > 50 and 50 < low < min(ys) and max(ys) <= high <= 103


def test_a_dark_screen_has_dark_charts(against):
    chart_color = "document.querySelector('[data-drawn]').layout.paper_bgcolor"
    against.emulate_media(color_scheme="dark")
    assert until(against, f"{chart_color} === '#14181c'")
    against.emulate_media(color_scheme="light")
    assert until(against, f"{chart_color} === '#fff'")
    assert fits_a_phone(against)
