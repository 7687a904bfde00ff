"""The page of a heat map in a real browser: every cell is there, coloured by what it says, and fits."""

from __future__ import annotations

import re

import pytest
from conftest import fits_a_phone, keeps_to_itself, opened

CONTROLS = ["reno", "cubic", "bbr"]


@pytest.fixture(scope="module")
def visit(browser):
    """The page."""
    page = opened(browser, "heat.html")
    yield page
    page.close()


def cells(visit, index: int) -> list[dict]:
    script = "all => all.map(c => ({value: c.dataset.value, text: c.textContent, color: getComputedStyle(c).backgroundColor}))"
    return visit.locator(f"[data-map='{index}'] td[data-value]").evaluate_all(script)


def test_each_number_has_a_map_for_each_buffer_with_a_row_and_a_column_per_controller(visit):
    assert visit.locator("[data-map]").count() == 6
    for index in range(6):
        table = visit.locator(f"[data-map='{index}']")
        assert table.locator("thead th[scope=col]").all_text_contents() == [*CONTROLS, "mean"]
        assert table.locator("tbody th").all_text_contents() == CONTROLS
        assert len(cells(visit, index)) == 9


def test_a_share_above_half_has_another_colour_than_one_below(visit):
    for index in (0, 1):
        for cell in cells(visit, index):
            red, _, blue = map(int, re.findall(r"\d+", cell["color"])[:3])
            share = float(cell["value"])
            assert (red - blue) * (share - 50) >= 0, cell
            assert abs(float(cell["text"]) - share) <= 0.05, cell


def test_both_orders_of_a_pair_add_up_to_about_all(visit):
    shares = [float(cell["value"]) for cell in cells(visit, 0)]
    for row in range(3):
        for column in range(row):
            # Starts differ by half a second, so that they need not be exact.
            assert 65 <= shares[3 * row + column] + shares[3 * column + row] <= 135


def test_the_page_keeps_to_itself_and_is_quiet(visit):
    assert keeps_to_itself(visit), (visit.said, visit.asked)


def test_it_fits_a_phone(visit):
    assert fits_a_phone(visit)
