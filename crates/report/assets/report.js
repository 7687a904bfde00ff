"use strict";
// Draws the charts of a tightlink report. All numbers come from #report-data, thinned and in the reader's units;
// here it is only decided how they look and what the pointer does.
(() => {
  const [page, looks] = ["data", "looks"].map((of) => JSON.parse(document.getElementById(`report-${of}`).textContent));
  // Colours are those of report.css, on a dark screen as well; paper is always light.
  let INK, MUTED, HAIR, LEVEL, PAPER, SHADE, FONT, ENGINES, FLOWS;
  const dark = matchMedia("screen and (prefers-color-scheme: dark)");
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    [INK, MUTED, HAIR, LEVEL, PAPER, SHADE] = ["ink", "muted", "grid", "level", "paper", "shade"].map(of);
    FONT = { family: getComputedStyle(document.body).fontFamily, size: 12, color: MUTED };
    // Dash or marker tell engines apart without colour.
    const dash = (lengths) => lengths.map((length) => `${length}px`).join(",") || "solid";
    ENGINES = Object.fromEntries(Object.entries(looks.engines).map(([name, look]) => [name, { ...look, color: of(name), dash: dash(look.dash) }]));
    FLOWS = [1, 2, 3, 4, 5, 6].map((n) => of(`flow-${n}`));
  }
  const FLOW_SYMBOLS = looks.flow_symbols;
  const CONFIG = { displayModeBar: false, displaylogo: false, doubleClick: "reset", responsive: false, showTips: false };
  const LETTER = 7; // width of a letter, pixels, on the wide side
  const PRINT_WIDTH = 690; // A4 less its margins, in CSS pixels
  const containers = [...document.querySelectorAll("[data-chart]")];
  let printing = false;
  window.tightlinkReport = { drawn: 0, expected: containers.length };

  // The library reads markup in texts: names from a scenario must stay letters.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const roleKey = (role) => (role === null ? null : typeof role === "object" ? String(role.flow) : role);
  const paperWidth = (el) => (el.closest(".pair") ? (PRINT_WIDTH - 32) / 2 : PRINT_WIDTH);
  const widthOf = (el) => (printing ? paperWidth(el) : Math.max(280, el.clientWidth));

  // Flows of one engine: the engine's colour, ever lighter; the sum in full.
  function shade(hex, flow) {
    const mix = Math.min(0.5, 0.1 * flow);
    const part = (i) => Math.round(parseInt(hex.slice(i, i + 2), 16) * (1 - mix) + 255 * mix);
    return `rgb(${part(1)},${part(3)},${part(5)})`;
  }

  function curve(chart, t, flows, colored) {
    const look = ENGINES[t.engine];
    const flow = typeof t.role === "object" && t.role ? t.role.flow : null;
    // Among coloured flows a sum is in ink, a mean pale and wide behind them.
    const mean = chart.panel && t.role === "all" && t.engine !== "model" && !chart.kind.startsWith("rate");
    const color = colored && flow !== null ? FLOWS[flow % 6] : mean ? LEVEL : chart.panel ? INK : flow === null ? look.color : shade(look.color, flow);
    const several = flows > 1, crowd = flows > 4;
    // Signs tell live from sim; among a few flows also one flow from the next. A crowd is pale behind its sum.
    const marked = mean ? false : t.engine === "live" ? flow === null || !crowd : t.engine === "sim" && several && !crowd && flow !== null;
    const symbol = several && flow ? FLOW_SYMBOLS[flow % 6] + (t.engine === "live" ? "-open" : "") : look.symbol;
    let { x, y } = t;
    if (t.engine === "model" && x.length === 2) { // so that the pointer finds it anywhere
      x = Array.from({ length: 201 }, (_, i) => t.x[0] + ((t.x[1] - t.x[0]) * i) / 200);
      y = x.map((_, i) => t.y[0] + ((t.y[1] - t.y[0]) * i) / 200);
    }
    return {
      type: "scatter", mode: marked ? "lines+markers" : "lines", x, y, name: plain(t.name),
      opacity: mean || (crowd && flow !== null && !colored) ? 0.45 : 1,
      line: { color, dash: t.role === "others" ? "2px,2px" : look.dash, width: mean ? 4 : t.role === "all" ? 2.2 : colored && flow !== null ? 1.4 : several ? 1 : look.width },
      marker: { symbol, size: 7, color, maxdisplayed: several ? 8 : 24, line: { width: 1.3, color } },
      hovertemplate: `%{y:,.${chart.decimals}f} ${chart.unit}`,
    };
  }

  // What the link offered, behind the curves of what was used of it.
  function area(chart) {
    return {
      type: "scatter", mode: "lines", x: chart.area.x, y: chart.area.y, name: plain(chart.area.name), fill: "tozeroy", fillcolor: SHADE,
      line: { color: LEVEL, width: 0.6 }, hovertemplate: `%{y:,.${chart.decimals}f} ${chart.unit}`,
    };
  }

  function bars(chart, t) {
    const color = t.role ? FLOWS[t.role.flow % 6] : ENGINES[t.engine].color;
    const hollow = t.role ? t.role.flow > 0 : t.engine === "live";
    return {
      type: "bar", x: t.x, y: t.y, name: plain(t.name),
      marker: { color: hollow ? PAPER : color, line: { color, width: t.y.map((v) => (hollow && v > 0 ? 1 : 0)) } },
      hovertemplate: `%{y:,d} ${chart.unit}`,
    };
  }

  // Names of levels stand at the right edge, pushed apart where they would touch; on a narrow page in two lines.
  function levelNames(chart, height, narrow) {
    const [low, high] = chart.range;
    const pixel = (v) => (height * (high - v)) / (high - low);
    const names = chart.levels
      .map((l) => ({ ...l, at: l.off_scale ? 0 : pixel(l.value) }))
      .sort((a, b) => a.at - b.at);
    const step = narrow ? 27 : 15;
    let floor = narrow ? 8 : -2;
    for (const n of names) { n.y = Math.max(n.at, floor); floor = n.y + step; }
    let ceiling = height;
    for (const n of [...names].reverse()) { n.y = Math.min(n.y, ceiling); ceiling = n.y - step; }
    // "capacity 100 Mbit/s" breaks before its number.
    const text = (n) => (n.off_scale ? "↑ " : "") + (narrow ? plain(n.text).replace(/ (?=[\d.]+\s\S+$)/, "<br>") : plain(n.text));
    return names.map((n) => ({
      text: text(n), showarrow: false, align: "left", font: { size: narrow ? 11 : 12, color: n.model ? INK : MUTED },
      xref: "paper", x: 1, xanchor: "left", xshift: 7, yref: "paper", y: 1 - n.y / height, yanchor: "middle", borderpad: 0,
    }));
  }

  // A tick at the upper edge wherever a curve leaves the chart.
  function beyond(chart) {
    const times = chart.traces.flatMap((t) => t.x.filter((_, i) => t.y[i] > chart.range[1]));
    const step = Math.max(1, Math.ceil(times.length / 60));
    return times.filter((_, i) => i % step === 0).map((x) => ({
      type: "line", x0: x, x1: x, yref: "paper", y0: 1, y1: 1.03, line: { color: INK, width: 1.5 },
    }));
  }

  function timeFigure(caseData, chart, width) {
    const narrow = width < 640, flows = 1 + Math.max(...chart.traces.map((t) => (typeof t.role === "object" && t.role ? t.role.flow : 0)));
    const first = chart === caseData.charts[0];
    // All charts of a case have the same margin, so that their times stand above each other; it has room for the widest number.
    const letters = Math.max(...caseData.charts.map((c) => {
      const whole = Math.round(c.range[1]).toLocaleString("en").length, [low, high] = c.range;
      return high >= 10 ? whole : whole + 2 + Math.max(0, Math.ceil(-Math.log10((high - low) / 5)) - 1);
    }));
    const left = 22 + LETTER * letters + (narrow ? 0 : 18);
    // The names of the levels stand to the right of all charts.
    const names = 24 + LETTER * Math.max(14, ...caseData.charts.flatMap((c) => c.levels.map((l) => l.text.length + (l.off_scale ? 2 : 0))));
    const margin = { l: Math.max(narrow ? 46 : 58, left), r: narrow ? 104 : names, t: first ? 16 : 10, b: 28 };
    const height = (chart.kind === "drops" ? 130 : chart.panel ? 170 : first ? 230 : 190) * (printing ? 0.71 : 1);
    const line = (l) => ({
      type: "line", layer: "below", xref: "paper", x0: 0, x1: 1, y0: l.value, y1: l.value, line: { color: LEVEL, width: 1 },
    });
    const shapes = [];
    if (caseData.warmup_s > 0 && !chart.end_s) {
      shapes.push({ type: "rect", layer: "below", x0: 0, x1: caseData.warmup_s, yref: "paper", y0: 0, y1: 1, fillcolor: SHADE, line: { width: 0 } });
    }
    shapes.push(...chart.levels.filter((l) => !l.model && !l.off_scale).map(line));
    if (chart.above) shapes.push(...beyond(chart));
    const data = chart.traces.map((t) => (t.bar_s > 0 ? bars(chart, t) : curve(chart, t, flows, caseData.colored_flows > 0)));
    if (chart.area) data.unshift(area(chart));
    const crowded = data.length > 8; // too many for one box: the nearest curve says its name
    if (crowded) for (const t of data) t.hovertemplate = `<b>%{fullData.name}</b><br>${t.hovertemplate} at %{x}<extra></extra>`;
    const annotations = levelNames(chart, height - margin.t - margin.b, narrow);
    if (!narrow) annotations.push({ text: chart.unit, showarrow: false, textangle: -90, xref: "paper", x: 0, xshift: 12 - margin.l, yref: "paper", y: 0.5 });
    if (first && caseData.warmup_s > 0.09 * caseData.end_s) {
      annotations.push({ text: "warm-up", showarrow: false, x: 0, xanchor: "left", yref: "paper", y: 1, yanchor: "bottom", font: { size: 11, color: MUTED } });
    }
    if (chart.kind === "drops" && chart.traces.every((t) => t.y.every((v) => v === 0))) {
      annotations.push({ text: "no drops", showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5, font: { size: 13, color: MUTED } });
    }
    return {
      data,
      layout: {
        width, height, margin, shapes, annotations, showlegend: false, font: FONT, bargap: 0.15, bargroupgap: 0,
        paper_bgcolor: PAPER, plot_bgcolor: "rgba(0,0,0,0)", hovermode: crowded ? "closest" : "x unified", hoverdistance: 40,
        hoverlabel: { bgcolor: PAPER, bordercolor: LEVEL, font: { ...FONT, color: INK }, namelength: 40 },
        dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
        xaxis: { range: [0, chart.end_s || caseData.end_s], ticksuffix: " s", ticks: "outside", ticklen: 4, tickcolor: PAPER, hoverformat: ".2f", gridcolor: HAIR, zeroline: false, showspikes: false, nticks: narrow ? 5 : 12 },
        yaxis: { range: chart.range, fixedrange: true, ticks: "outside", ticklen: 4, tickcolor: PAPER, gridcolor: HAIR, zerolinecolor: LEVEL, nticks: chart.kind === "drops" ? 4 : 6, separatethousands: true, exponentformat: "none" },
      },
    };
  }

  const caseLabels = (letters) =>
    page.cases.map((c) => c.own.map((l) => (l.length > letters ? `${l.slice(0, letters - 1)}…` : l)));

  // A row per case, a sign per engine, the theory's bound as a tall mark.
  function overviewFigure(kind, width) {
    const goodput = kind === "overview-goodput", unit = goodput ? "Mbit/s" : "ms";
    const mean = (xs) => (xs.length ? xs.reduce((a, b) => a + b, 0) / xs.length : null);
    const value = goodput
      ? (s) => (s.flows.length ? s.flows.reduce((sum, f) => sum + f.goodput_bps, 0) / 1e6 : null)
      : (s) => { const m = mean(s.flows.filter((f) => f.rtt_s).map((f) => f.rtt_s.mean)); return m === null ? null : m * 1e3; };
    const labels = caseLabels(Math.floor((Math.min(width * 0.46, 260) - 34) / LETTER));
    const names = labels.map((lines, i) => `<b>${i + 1}</b>  ${lines.map(plain).join("<br>")}`);
    const rows = Math.max(...names.map((n) => n.split("<br>").length));
    const row = Math.max(34, 14 * rows + 12);
    const data = [{
      name: goodput ? "available bandwidth" : "base RTT", x: page.cases.map((c) => (goodput ? c.available_mbps : c.base_rtt_ms)), y: page.cases.map((_, i) => i),
      mode: "markers", marker: { symbol: "line-ns-open", size: row * 0.72, color: LEVEL, line: { width: 2, color: LEVEL } },
    }];
    for (const [engine, shift] of [["model", -0.2], ["sim", 0], ["live", 0.2]]) {
      const points = page.cases.flatMap((c, i) => c.summaries.filter((s) => s.engine === engine).map((s) => [value(s), i + shift]));
      if (!points.length) continue;
      const { color, symbol } = ENGINES[engine];
      data.push({ name: engine, x: points.map((p) => p[0]), y: points.map((p) => p[1]), mode: "markers", marker: { symbol, size: 9, color, line: { width: 1.7, color } } });
    }
    for (const t of data) t.hovertemplate = `${t.name} %{x:,.4~g} ${unit}<extra></extra>`;
    const longest = Math.max(...labels.flat().map((l) => l.length));
    return {
      data,
      layout: {
        width, height: 40 + row * page.cases.length, margin: { l: 34 + LETTER * longest, r: 22, t: 6, b: 30 }, font: FONT,
        showlegend: false, hovermode: "closest", dragmode: false, paper_bgcolor: PAPER, plot_bgcolor: "rgba(0,0,0,0)",
        hoverlabel: { bgcolor: PAPER, bordercolor: LEVEL, font: { ...FONT, color: INK } },
        xaxis: { rangemode: "tozero", fixedrange: true, ticksuffix: ` ${unit}`, showticksuffix: width < 420 ? "none" : "last", tickangle: 0, nticks: 5, gridcolor: HAIR, zerolinecolor: LEVEL, separatethousands: true },
        yaxis: { range: [page.cases.length - 0.5, -0.5], fixedrange: true, tickvals: page.cases.map((_, i) => i), ticktext: names, gridcolor: HAIR, zeroline: false, tickfont: { color: INK } },
      },
    };
  }

  const caseOf = (el) => page.cases[Number(el.dataset.case)];
  function figureOf(el) {
    if (el.dataset.case === "") return overviewFigure(el.dataset.chart, widthOf(el));
    const c = caseOf(el);
    return timeFigure(c, c.charts.find((chart) => chart.kind === el.dataset.chart), widthOf(el));
  }

  function draw(el) {
    if (el.dataset.drawn) return;
    const { data, layout } = figureOf(el);
    Plotly.newPlot(el, data, layout, CONFIG);
    el.dataset.drawn = "true";
    el.dataset.traces = el.data.length;
    window.tightlinkReport.drawn += 1;
    if (el.dataset.case !== "" && onTime(el)) { linkZoom(el); linkCursor(el); }
  }

  // Charts on the case's time axis: some have a time of their own.
  const onTime = (el) => !caseOf(el).charts.find((chart) => chart.kind === el.dataset.chart).end_s;
  const siblings = (el) => [...el.closest(".charts").querySelectorAll("[data-drawn]")].filter(onTime);

  // A sequence only grows: of a part of the time its own height is shown, or its curves would be one line.
  function fitHeight(el, [from, to]) {
    if (el.dataset.chart !== "sequence") return;
    const values = el.data.flatMap((t) => t.y.filter((v, i) => v !== null && t.x[i] >= from && t.x[i] <= to));
    const whole = from === 0 && to === caseOf(el).end_s;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const range = whole || !(high > low) ? caseOf(el).charts.find((c) => c.kind === "sequence").range : [low, high + 0.03 * (high - low)];
    Plotly.relayout(el, { "yaxis.range": [...range] });
  }

  // One time axis per case: what one chart shows, all show.
  function linkZoom(el) {
    el.on("plotly_relayout", (change) => {
      if (el.following || !("xaxis.range[0]" in change || "xaxis.range" in change)) return;
      const range = [...el.layout.xaxis.range];
      for (const other of siblings(el).filter((o) => o !== el)) {
        other.following = true;
        Plotly.relayout(other, { "xaxis.range": range }).then(() => { other.following = false; });
        fitHeight(other, range);
      }
      fitHeight(el, range);
      const whole = range[0] === 0 && range[1] === caseOf(el).end_s;
      el.closest(".charts").parentElement.querySelector(".reset").hidden = whole;
    });
  }

  // A line at the pointer's time through all charts of the case.
  function linkCursor(el) {
    const stack = el.closest(".charts");
    let line = stack.querySelector(".cursor");
    if (!line) { line = document.createElement("div"); line.className = "cursor"; line.hidden = true; stack.append(line); }
    el.on("plotly_hover", (e) => {
      const axis = el._fullLayout.xaxis;
      line.style.left = `${axis._offset + axis.d2p(e.points[0].x)}px`;
      line.hidden = false;
    });
    el.on("plotly_unhover", () => { line.hidden = true; });
  }

  // Engine and flow switches of one case.
  function applySwitches(legend) {
    const off = (key) => new Set([...legend.querySelectorAll(`[data-${key}][aria-pressed=false]`)].map((b) => b.dataset[key]));
    const engines = off("engine"), roles = off("role");
    for (const el of legend.parentElement.querySelectorAll(".charts [data-drawn]")) {
      const chart = caseOf(el).charts.find((chart) => chart.kind === el.dataset.chart);
      const shown = chart.traces.map((t) => !engines.has(t.engine) && !roles.has(roleKey(t.role)));
      Plotly.restyle(el, { visible: chart.area ? [true, ...shown] : shown });
    }
  }

  function resize(el) {
    if (el.dataset.drawn && Math.abs(el.layout.width - widthOf(el)) >= 2) redraw(el);
  }
  function redraw(el) {
    if (!el.dataset.drawn) return;
    const { data, layout } = figureOf(el);
    if (el.dataset.case !== "") layout.xaxis.range = el.layout.xaxis.range;
    data.forEach((trace, i) => { trace.visible = el.data[i].visible; });
    Plotly.react(el, data, layout, CONFIG);
  }
  function recolor() { readColors(); containers.forEach(redraw); }

  const visible = (el) => { const d = el.closest("details"); return !d || d.open; };
  // One chart at a time, so that the page answers in between.
  function drawVisible() {
    const next = containers.find((el) => !el.dataset.drawn && visible(el));
    if (next) { draw(next); setTimeout(drawVisible); }
  }

  const blocks = [...document.querySelectorAll("details")];
  function openAll() { for (const d of blocks) d.open = true; }
  let closedBefore = [];
  function toPaper() {
    if (printing) return;
    closedBefore = blocks.filter((d) => !d.open);
    openAll();
    printing = true;
    containers.forEach(draw);
    recolor();
  }
  function fromPaper() {
    if (!printing) return;
    printing = false;
    for (const d of closedBefore) d.open = false;
    recolor();
  }

  for (const d of blocks) d.addEventListener("toggle", () => { if (d.open) { drawVisible(); containers.filter(visible).forEach(resize); } });
  for (const button of document.querySelectorAll(".legend [aria-pressed]")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      applySwitches(button.parentElement);
    });
  }
  for (const button of document.querySelectorAll(".reset")) {
    button.addEventListener("click", () => {
      const el = [...button.closest(".legend").parentElement.querySelectorAll(".charts [data-drawn]")].find(onTime);
      Plotly.relayout(el, { "xaxis.range": [0, caseOf(el).end_s] });
    });
  }
  // A saved chart has the colours of paper, and shows what the screen shows: its curves, and its part of the time.
  for (const button of document.querySelectorAll("button.save")) {
    button.addEventListener("click", () => {
      const el = button.closest("figure").querySelector(".chart");
      const filename = ["tightlink", el.dataset.case && `case-${Number(el.dataset.case) + 1}`, el.dataset.chart].filter(Boolean).join("-");
      document.documentElement.classList.add("paper");
      readColors();
      const { data, layout } = figureOf(el);
      document.documentElement.classList.remove("paper");
      readColors();
      data.forEach((trace, i) => { trace.visible = el.data[i].visible; });
      for (const axis of ["xaxis", "yaxis"]) layout[axis].range = [...el.layout[axis].range];
      Plotly.downloadImage({ data, layout }, { format: "svg", filename, width: layout.width, height: layout.height });
    });
  }
  function follow() { // "#case-3" opens that block, "#all" or "?all" opens every one
    if (location.hash === "#all" || location.search === "?all") openAll();
    const target = /^#case-\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (target && "open" in target) target.open = true;
  }
  addEventListener("hashchange", follow);
  addEventListener("resize", () => { if (!printing) containers.filter(visible).forEach(resize); });
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", fromPaper);
  matchMedia("print").addEventListener("change", (e) => (e.matches ? toPaper() : fromPaper()));
  dark.addEventListener("change", () => { if (!printing) recolor(); });
  readColors();
  follow();
  drawVisible();
})();
