"""The report page in a real browser: it draws all its data, says units, keeps to itself, and prints whole.

The page under test is the file named by TIGHTLINK_REPORT, or that of the example `report_sample`.
The page's Content-Security-Policy forbids eval, so these tests poll instead of using Playwright's wait_for_function.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from conftest import sample
from playwright.sync_api import Browser, Page

HOSTILE = "</script><img src=x onerror=alert(1)>"
UNITS = {"rate": "Mbit/s", "rtt": "ms", "window": "kB", "backlog": "kB", "drops": "packets"}
COLUMNS = 7


@pytest.fixture(scope="session")
def report(tmp_path_factory) -> Path:
    """The page under test."""
    if given := os.environ.get("TIGHTLINK_REPORT"):
        return Path(given).resolve()
    path = tmp_path_factory.mktemp("report") / "sample.html"
    sample("report_sample", path)
    return path


class Visit:
    """One open page and all it said and asked for."""

    def __init__(self, browser: Browser, report: Path, suffix: str = "", **context):
        self.context = browser.new_context(**{"viewport": {"width": 1240, "height": 900}, **context})
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.complaints.append(m.text))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", lambda d: (self.complaints.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.url = report.as_uri() + suffix
        self.page.goto(self.url)

    def until(self, expression: str, seconds: float = 30.0) -> None:
        """Polls until the expression is true in the page."""
        deadline = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < deadline, f"not within {seconds} s: {expression}; page said {self.complaints}"
            self.page.wait_for_timeout(25)

    def until_drawn(self, selector: str = "[data-chart]") -> None:
        """Polls until every chart that matches and is not in a closed block is drawn."""
        self.until(
            f"[...document.querySelectorAll({selector!r})].filter(e => !e.closest('details:not([open])'))"
            ".every(e => e.dataset.drawn === 'true')"
        )

    def data(self) -> dict:
        return self.page.evaluate("JSON.parse(document.getElementById('report-data').textContent)")

    def ranges(self, case: int = 0) -> list[list[float]]:
        """The time range each drawn chart of a case shows."""
        query = f"[...document.querySelectorAll('[data-drawn][data-case=\"{case}\"]')].map(e => e.layout.xaxis.range)"
        return self.page.evaluate(query)

    def plot_area(self, kind: str, case: int = 0) -> dict[str, float]:
        """Where the plot area of a chart is in the window."""
        chart = self.page.locator(f"[data-chart={kind}][data-case='{case}']")
        chart.scroll_into_view_if_needed()
        return chart.locator(".nsewdrag").first.bounding_box()


@pytest.fixture
def visit(browser, report):
    """Opens pages and, when the test is over, checks that none complained or asked the network."""
    opened: list[Visit] = []

    def open_page(suffix: str = "", **context) -> Visit:
        opened.append(Visit(browser, report, suffix, **context))
        return opened[-1]

    yield open_page
    for one in opened:
        own = one.url.partition("#")[0]
        foreign = [url for url in one.requests if url != own and not url.startswith(("data:", "blob:"))]
        one.context.close()
        assert one.complaints == []
        assert foreign == []


def test_every_chart_draws_every_series(visit):
    v = visit("#all")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    data = v.data()
    expected = {
        (str(i), chart["kind"]): len(chart["traces"]) for i, c in enumerate(data["cases"]) for chart in c["charts"]
    }
    if len(data["cases"]) > 1:
        engines = {s["engine"] for c in data["cases"] for s in c["summaries"]}
        expected |= {("", kind): 1 + len(engines) for kind in ("overview-goodput", "overview-rtt")}
    drawn = v.page.evaluate(
        """[...document.querySelectorAll('[data-chart]')].map(e => [e.dataset.case, e.dataset.chart,
            Number(e.dataset.traces), e.querySelectorAll('.scatterlayer .trace, .barlayer .trace').length])"""
    )
    assert expected, "a report without charts"
    assert {(case, kind): traces for case, kind, traces, _ in drawn} == expected
    assert {(case, kind): in_svg for case, kind, _, in_svg in drawn} == expected


def test_curves_have_ink_where_the_data_are(visit):
    v = visit("#all")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    empty = v.page.evaluate(
        """[...document.querySelectorAll('[data-chart]:not([data-case=""]) .scatterlayer .trace')]
            .filter(t => !(t.querySelector('path.js-line')?.getTotalLength() > 1)).length"""
    )
    assert empty == 0


def test_a_closed_case_is_drawn_when_opened(visit):
    v = visit()
    v.until_drawn()
    blocks = v.page.locator("details.case")
    if blocks.count() < 2:
        pytest.skip("the page has a single case")
    assert v.page.evaluate("tightlinkReport.drawn < tightlinkReport.expected")
    assert v.page.locator("#case-2 [data-drawn]").count() == 0
    v.page.locator("#case-2 > summary").click()
    v.until_drawn("#case-2 [data-chart]")
    assert v.page.locator("#case-2 [data-drawn]").count() == len(v.data()["cases"][1]["charts"])


def test_hover_says_units(visit):
    v = visit()
    v.until_drawn()
    for chart in v.data()["cases"][0]["charts"]:
        kind = chart["kind"]
        if "no drops" in v.page.locator(f"[data-chart={kind}][data-case='0']").text_content():
            continue  # says so instead of drawing bars
        area = v.plot_area(kind)
        layer = v.page.locator(f"[data-chart={kind}][data-case='0'] .hoverlayer")
        said = ""
        for share in (0.3, 0.42, 0.5, 0.61, 0.7) * 3:  # bars are only under the pointer where there are drops
            v.page.mouse.move(area["x"] + share * area["width"], area["y"] + area["height"] / 2)
            v.page.wait_for_timeout(150)
            said = layer.text_content()
            if said:
                break
        unit = UNITS[kind.partition("-")[0]]
        assert chart["unit"] == unit
        assert re.search(rf"\d {re.escape(unit)}", said), (kind, said)
        assert re.search(r"\d s", said), (kind, said)


RANGES = "[...document.querySelectorAll('[data-drawn][data-case=\"0\"]')].map(e => String(e.layout.xaxis.range))"


def test_zooming_one_chart_zooms_its_neighbours(visit):
    v = visit()
    v.until_drawn()
    whole, before = v.ranges(), v.page.evaluate(f"{RANGES}.join()")
    area = v.plot_area(v.data()["cases"][0]["charts"][0]["kind"])
    y = area["y"] + area["height"] / 2
    v.page.mouse.move(area["x"] + 0.3 * area["width"], y)
    v.page.mouse.down()
    v.page.mouse.move(area["x"] + 0.6 * area["width"], y, steps=6)
    v.page.mouse.up()
    v.until("!document.querySelector('.reset').hidden")
    v.until(f"new Set({RANGES}).size === 1")
    zoomed = v.ranges()
    end = whole[0][1]
    assert len(zoomed) == len(v.data()["cases"][0]["charts"]) > 1
    assert all(r == zoomed[0] for r in zoomed)
    assert zoomed[0] == pytest.approx([0.3 * end, 0.6 * end], rel=0.05)
    v.page.locator(".reset").first.click()
    v.until("document.querySelector('.reset').hidden")
    v.until(f"{RANGES}.join() === {before!r}")
    assert v.ranges() == whole


def test_switching_an_engine_off_hides_it_in_every_chart_of_the_case(visit):
    v = visit()
    v.until_drawn()
    engine = v.data()["cases"][0]["summaries"][-1]["engine"]
    button = v.page.locator(f".legend [data-engine={engine}]").first
    hidden = """[...document.querySelectorAll('[data-drawn][data-case="0"]')]
        .reduce((n, e) => n + e.data.filter(t => t.visible === false).length, 0)"""
    of_engine = sum(t["engine"] == engine for c in v.data()["cases"][0]["charts"] for t in c["traces"])
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert v.page.evaluate(hidden) == of_engine > 0
    button.click()
    assert v.page.evaluate(hidden) == 0


def known_sum(values):
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def table_row(summary: dict) -> list[float | None]:
    """What the table must say about a run, from the run's own numbers."""

    def scaled(value, factor):
        return None if value is None else value * factor

    flows = summary["flows"]
    rtts = [f["rtt_s"]["mean"] for f in flows if f["rtt_s"]]
    return [
        scaled(known_sum([f["goodput_bps"] for f in flows]), 1e-6),
        sum(rtts) / len(rtts) * 1e3 if rtts else None,
        scaled(summary["loss_rate"], 100),
        known_sum([f["retransmits"] for f in flows]),
        scaled(summary["utilization"], 100),
        scaled((summary["queueing_delay_s"] or {}).get("mean"), 1e3),
        scaled((summary["queueing_delay_s"] or {}).get("p95"), 1e3),
    ]


def number_in(text: str) -> float:
    return float(text.replace("\u202f", "").replace("−", "-").rstrip("%"))


def test_the_table_shows_the_numbers_of_the_data(visit):
    v = visit()
    for index, case in enumerate(v.data()["cases"]):
        rows = {s["engine"]: table_row(s) for s in case["summaries"]}
        for engine, expected in rows.items():
            cells = v.page.locator(f"tr[data-case='{index}'][data-engine={engine}] td")
            assert cells.count() == COLUMNS
            for column, value in enumerate(expected):
                text = cells.nth(column).locator("span").inner_text()
                if value is None:
                    assert text == "–"
                    continue
                decimals = len(text.partition(".")[2])
                assert number_in(text) == pytest.approx(value, abs=0.5001 * 10**-decimals)
                small = cells.nth(column).locator("small")
                model = rows.get("model", [None] * COLUMNS)[column]
                if engine == "model" or not model:
                    assert small.count() == 0
                elif "%" in (said := small.inner_text()):
                    assert number_in(said.lstrip("+±")) == pytest.approx((value / model - 1) * 100, abs=0.51)


def test_text_of_a_scenario_stays_text(visit):
    v = visit("#all")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    assert v.page.locator("img").count() == 0
    assert v.page.evaluate("document.getElementById('scenario').children.length") == 0
    if "TIGHTLINK_REPORT" in os.environ:
        return
    for place in ("#scenario", "table.summary", ".verdicts", "#case-2 > summary", "#case-2 .legend"):
        assert HOSTILE in v.page.locator(place).text_content(), place
    assert "{{title}}" in v.page.locator("#scenario").text_content()
    area = v.plot_area("window-sim", 1)
    layer = v.page.locator("[data-chart=window-sim][data-case='1'] .hoverlayer")
    said = set()
    for step in range(40):
        x, y = area["x"] + (0.2 + 0.015 * step) * area["width"], area["y"] + (0.6 + 0.01 * (step % 7)) * area["height"]
        v.page.mouse.move(x, y)
        v.page.wait_for_timeout(60)
        said.add(layer.text_content())
    assert any(f"<b>x</b> {HOSTILE}" in s for s in said), said


def test_paper_shows_every_case(visit):
    v = visit()
    v.until_drawn()
    closed_before = v.page.locator("details.case:not([open])").count()
    v.page.emulate_media(media="print")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    assert v.page.locator("details.case:not([open])").count() == 0
    widest = v.page.evaluate("Math.max(...[...document.querySelectorAll('.main-svg')].map(s => s.clientWidth))")
    assert widest <= 700, "a chart does not fit on A4"
    v.page.emulate_media(media="screen")
    v.until(f"document.querySelectorAll('details.case:not([open])').length === {closed_before}")
    assert len(v.page.pdf(prefer_css_page_size=True)) > 30_000


def test_the_print_style_opens_the_blocks_without_script(visit):
    v = visit(java_script_enabled=False)
    if v.page.locator("details.case").count() < 2:
        pytest.skip("the page has a single case")
    assert not v.page.locator("#case-2 .runs").is_visible()
    v.page.emulate_media(media="print")
    assert v.page.locator("#case-2 .runs").bounding_box()["height"] > 5


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_the_page_fits_the_window(visit, width):
    v = visit(viewport={"width": width, "height": 800})
    v.until_drawn()
    assert v.page.evaluate("document.documentElement.scrollWidth") <= width
    outside = "[...document.querySelectorAll('[data-drawn] .main-svg')].filter(s => s.getBoundingClientRect().right > innerWidth + 1)"
    assert v.page.evaluate(f"{outside}.length") == 0


def test_the_picture_comes_before_the_tables(visit):
    v = visit()
    if len(v.data()["cases"]) < 2:
        pytest.skip("the page has a single case")
    top = "e => e.getBoundingClientRect().top"
    overview = v.page.locator("[data-chart=overview-goodput]").evaluate(top)
    assert overview < v.page.locator("table.summary").first.evaluate(top)
    if v.page.locator(".verdicts").count():
        assert overview < v.page.locator(".verdicts").evaluate(top)
    assert overview < 900
    for flows in v.page.locator("details[open] table.flows").all():
        charts = flows.locator("xpath=ancestor::details").locator(".charts")
        assert charts.evaluate(top) < flows.evaluate(top)


def test_a_few_flows_have_colours_of_their_own_in_panels_and_legend(visit):
    v = visit("#all")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    for index, case in enumerate(v.data()["cases"]):
        if not case["colored_flows"]:
            continue
        for chart in (c for c in case["charts"] if "panel" in c):
            at = f"document.querySelector('[data-chart={chart['kind']}][data-case=\"{index}\"]')"
            colors = v.page.evaluate(f"{at}.data.map(t => t.line.color)")
            flows = [c for c, t in zip(colors, chart["traces"]) if isinstance(t["role"], dict) and t["engine"] == chart["panel"]]
            assert len(set(flows)) == len(flows) == case["colored_flows"], chart["kind"]
        samples = v.page.locator(f"#case-{index + 1} .legend .flow")
        assert samples.count() >= case["colored_flows"]


def test_axes_are_those_of_the_measured_part(visit):
    v = visit("#all")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    beyond = 0
    for index, case in enumerate(v.data()["cases"]):
        for chart in case["charts"]:
            at = f"document.querySelector('[data-chart={chart['kind']}][data-case=\"{index}\"]')"
            assert v.page.evaluate(f"{at}.layout.yaxis.range") == chart["range"]
            later = [y for t in chart["traces"] for x, y in zip(t["x"], t["y"]) if x >= case["warmup_s"] and y is not None]
            if not chart["kind"].startswith("rate") and later and not chart["levels"]:
                assert chart["range"][1] < 1.6 * max(max(later), 1), chart["kind"]
            if "above" not in chart:
                continue
            beyond += 1
            caption = v.page.locator(f"figure:has([data-chart={chart['kind']}][data-case='{index}']) .note").inner_text()
            assert "repaired loss releases" in caption or "beyond the chart" in caption, caption
            marks = f"{at}.layout.shapes.filter(s => s.y0 === 1 && s.y1 > 1).length"
            assert v.page.evaluate(marks) >= 1, chart["kind"]
    assert beyond or "TIGHTLINK_REPORT" in os.environ, "the sample has a repair and a start-up beyond the charts"


def test_axis_titles_keep_clear_of_tick_labels(visit):
    v = visit("#all")
    v.until("tightlinkReport.drawn === tightlinkReport.expected")
    touching = v.page.evaluate(
        """[...document.querySelectorAll('[data-drawn]:not([data-case=""])')].filter(e => {
            const ticks = [...e.querySelectorAll('.ytick text')].map(t => t.getBoundingClientRect().left);
            const titles = [...e.querySelectorAll('.annotation-text-g')].filter(t => t.querySelector('text[transform]') || t.getAttribute('transform')?.includes('-90'))
            return titles.some(t => t.getBoundingClientRect().right > Math.min(...ticks) + 1);
        }).map(e => e.dataset.chart)"""
    )
    assert touching == []


def test_on_a_phone_the_results_scroll_in_their_own_box_beside_the_engines(visit):
    v = visit(viewport={"width": 390, "height": 800})
    box, name = v.page.locator(".scroll").first, v.page.locator(".summary tbody tr:not(.case) th").first
    at = name.bounding_box()["x"]
    box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    assert box.evaluate("box => box.scrollLeft") > 0
    assert name.bounding_box()["x"] == at
    assert v.page.locator(".summary thead th").last.bounding_box()["x"] < 390
    assert v.page.locator(".swipe").is_visible()
    v.page.emulate_media(media="print")
    assert not v.page.locator(".swipe").is_visible()


def test_a_dark_screen_has_a_dark_page_and_paper_stays_light(visit):
    v = visit(color_scheme="dark")
    v.until_drawn()
    page_color = "getComputedStyle(document.documentElement).backgroundColor"
    chart_color = "document.querySelector('[data-drawn]').layout.paper_bgcolor"
    assert v.page.evaluate(page_color) == "rgb(20, 24, 28)"
    assert v.page.evaluate(chart_color) == "#14181c"
    v.page.emulate_media(color_scheme="light")
    v.until(f"{chart_color} === '#fff'")
    v.page.emulate_media(color_scheme="dark", media="print")
    v.until(f"{chart_color} === '#fff'")
    assert v.page.evaluate(page_color) == "rgb(255, 255, 255)"
