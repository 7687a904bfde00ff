"use strict";
// Draws the curves of a figure: a number against a swept key. All numbers come from #report-data, in the reader's
// units; here it is only decided how they look.
(() => {
  const [page, looks] = ["data", "looks"].map((of) => JSON.parse(document.getElementById(`report-${of}`).textContent));
  // Colours are those of report.css, on a dark screen as well; paper is always light.
  let INK, MUTED, HAIR, LEVEL, PAPER, FONT, LOOKS;
  const dark = matchMedia("screen and (prefers-color-scheme: dark)");
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    [INK, MUTED, HAIR, LEVEL, PAPER] = ["ink", "muted", "grid", "level", "paper"].map(of);
    FONT = { family: getComputedStyle(document.body).fontFamily, size: 12, color: MUTED };
    // The marker tells curves apart without colour.
    LOOKS = looks.curves.map(([color, symbol]) => [of(color), symbol]);
  }
  const PRINT_WIDTH = 690; // A4 less its margins, in CSS pixels
  const containers = [...document.querySelectorAll("[data-chart]")];
  let printing = false;
  window.tightlinkReport = { drawn: 0, expected: containers.length };

  // Plotly reads markup in text.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const named = (axis) => plain(axis.unit ? `${axis.label}, ${axis.unit}` : axis.label);
  const widthOf = (el) => (printing ? PRINT_WIDTH : Math.max(280, el.clientWidth));

  // A logarithmic axis has a foot, where zero and what is less stand.
  const onAxis = (chart) => (y) => (chart.foot ? Math.max(y, chart.foot) : y);
  const short = (v) => Number(v.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  function footed(chart, marks) {
    const ys = chart.curves.flatMap((c) => c.points.map((p) => onAxis(chart)(p.y)));
    const ticks = marks.filter((v) => v >= chart.foot * 0.99 && v <= Math.max(...ys) * 1.3 && /^[1]/.test(v.toExponential()));
    const top = Math.log10(Math.max(...ys, chart.foot * 10)), bottom = Math.log10(chart.foot);
    return {
      type: "log", range: [bottom - 0.1, top + 0.25], tickvals: ticks,
      ticktext: ticks.map((v) => (v <= chart.foot * 1.01 ? `≤ ${v}` : `${v}`)),
    };
  }

  function scaled(chart, marks) {
    if (chart.foot) return footed(chart, marks);
    return chart.y_range ? { range: [...chart.y_range] } : { rangemode: "tozero" };
  }

  function figure(chart, width) {
    const narrow = width < 640;
    const xs = chart.curves.flatMap((c) => c.points.map((p) => p.x));
    const [least, most] = [Math.min(...xs), Math.max(...xs)];
    const log = chart.x_log;
    // One result against another: the swept values stand at the points of the first curve.
    const names = chart.names.map(plain);
    const labels = (curve, i) => (chart.along && !i && !narrow ? curve.points.map((p) => plain(p.at || "")) : undefined);
    const data = chart.curves.map((curve, i) => {
      const [color, symbol] = LOOKS[i % LOOKS.length];
      const above = (p) => (p.extent ? p.extent[1] - p.y : p.half_width || 0);
      const below = (p) => (p.extent ? p.y - p.extent[0] : p.half_width || 0);
      const known = curve.points.some((p) => p.half_width !== null || p.extent !== null);
      return {
        type: "scatter", mode: labels(curve, i) ? "lines+markers+text" : "lines+markers", name: plain(curve.name),
        text: labels(curve, i), textposition: "bottom right", textfont: { ...FONT, size: 11 },
        customdata: curve.points.map((p) => plain(p.at ? (chart.along ? `${chart.along} = ${p.at}` : p.at) : "")),
        x: curve.points.map((p) => p.x), y: curve.points.map((p) => onAxis(chart)(p.y)),
        error_y: known ? { type: "data", symmetric: false, array: curve.points.map(above), arrayminus: curve.points.map(below), color, thickness: 1, width: 3 } : undefined,
        line: { color, width: 1.6 }, marker: { symbol, size: 7, color },
        hovertemplate: `%{y:,.4~g} ${plain(chart.y.unit)} at ${names.length ? "%{customdata}" : `%{x:,.4~g} ${plain(chart.x.unit)}`}${chart.along ? "<br>%{customdata}" : ""}<extra>${plain(curve.name)}</extra>`,
      };
    });
    const several = chart.curves.length > 1;
    const decades = Array.from({ length: 19 }, (_, i) => 10 ** (i - 9));
    const marks = decades.flatMap((d) => [1, 2, 5].map((m) => Number((m * d).toPrecision(1))));
    const decimal = log ? marks.filter((v) => v >= least * 0.99 && v <= most * 1.01) : undefined;
    // A swept key has a tick at each of its values, if they are few and stand apart.
    const values = chart.values, scale = (v) => (log ? Math.log(v) : v);
    const gap = Math.min(...values.slice(1).map((v, i) => scale(v) - scale(values[i]))) / (scale(most) - scale(least));
    const ticks = names.length || (values.length > 1 && gap * (width - 100) > 34) ? values : decimal;
    // Limits of which a page speaks: vertical lines with their names.
    const lines = chart.marks.filter((m) => m.x > 0);
    const near = lines.length > 1 && Math.abs(scale(lines[1].x) - scale(lines[0].x)) / (scale(most) - scale(least)) * (width - 100) < 150;
    const shapes = lines.map((m) => ({ type: "line", xref: "x", yref: "paper", x0: m.x, x1: m.x, y0: 0, y1: 1, line: { color: LEVEL, width: 1, dash: "dot" } }));
    const annotations = lines.map((m, i) => ({
      xref: "x", yref: "paper", x: log ? Math.log10(m.x) : m.x, y: near && i ? 0.92 : 1, yanchor: "top", showarrow: false,
      xanchor: scale(m.x) > (scale(least) + scale(most)) / 2 ? "right" : "left", text: `${plain(m.label)} ${short(m.x)}`, font: { ...FONT, size: 11 }, bgcolor: PAPER,
    }));
    return {
      data,
      layout: {
        shapes, annotations,
        width, height: printing ? 300 : narrow ? 300 : 400, margin: { l: narrow ? 46 : 64, r: 16, t: several ? 34 : 12, b: 48 },
        font: FONT, showlegend: several, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { ...FONT, color: INK } },
        paper_bgcolor: PAPER, plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", dragmode: false,
        hoverlabel: { bgcolor: PAPER, bordercolor: LEVEL, font: { ...FONT, color: INK }, namelength: 60 },
        xaxis: { type: log ? "log" : "linear", title: { text: named(chart.x), standoff: 8 }, tickvals: ticks, ticktext: names.length ? names : undefined, automargin: names.length > 0, fixedrange: true, gridcolor: HAIR, zeroline: false, separatethousands: true },
        yaxis: { ...scaled(chart, marks), automargin: true, title: { text: narrow ? "" : named(chart.y), standoff: 8 }, fixedrange: true, gridcolor: HAIR, zerolinecolor: LEVEL, separatethousands: true },
      },
    };
  }

  function draw(el) {
    const { data, layout } = figure(page.charts[Number(el.dataset.chart)], widthOf(el));
    Plotly.react(el, data, layout, { displayModeBar: false, displaylogo: false, responsive: false, showTips: false });
    if (!el.dataset.drawn) window.tightlinkReport.drawn += 1;
    el.dataset.drawn = "true";
    el.dataset.traces = el.data.length;
  }
  function recolor() { readColors(); containers.forEach(draw); }
  const print = (on) => { if (printing !== on) { printing = on; recolor(); } };

  // A saved chart has the colours of paper.
  for (const button of document.querySelectorAll("button.save")) {
    button.addEventListener("click", () => {
      const el = button.closest("figure").querySelector(".chart"), index = Number(el.dataset.chart);
      document.documentElement.classList.add("paper");
      readColors();
      const { data, layout } = figure(page.charts[index], widthOf(el));
      document.documentElement.classList.remove("paper");
      readColors();
      Plotly.downloadImage({ data, layout }, { format: "svg", filename: `tightlink-figure-${index + 1}`, width: layout.width, height: layout.height });
    });
  }
  addEventListener("resize", () => { if (!printing) containers.forEach(draw); });
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", (e) => print(e.matches));
  dark.addEventListener("change", () => { if (!printing) recolor(); });
  recolor();
})();
