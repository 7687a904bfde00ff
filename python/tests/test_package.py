"""The package `tightlink`: its questions, its errors, its interrupts."""

from __future__ import annotations

import datetime
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from package import ROOT, tl

FIRST = """
title = "One flow"
duration = "20s"
warmup = "2s"

[link]
rate = "20Mbit/s"
delay = "10ms"
queue = { limit = "0.5 bdp" }

[[flow]]
name = "target"
control = "reno"
rtt = "40ms"
"""


DATA = {
    "title": "One flow",
    "flow": [{"rtt": "0.04s", "control": "reno", "name": "target"}],
    "link": {"queue": {"limit": "0.5bdp"}, "delay": "10000us", "rate": "20000kbit/s"},
    "warmup": "2s",
    "duration": "20s",
}


@pytest.fixture
def first() -> tl.Scenario:
    return tl.Scenario.parse(FIRST)


def test_every_line_of_the_example_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("first.toml").write_text(FIRST)
    s = tl.Scenario.read("first.toml")
    assert tl.Scenario.parse(FIRST) == s
    assert tl.Scenario.preset("first").title.startswith("A 20 Mbit/s path")
    assert tl.Scenario.figure("sobas:fig1-4").title
    s = s.set({"link.queue.limit": "1 bdp"}, seed=7)
    r = s.run("sim")
    assert 0.9 < r["utilization"] <= 1
    assert 15e6 < r["flows.target.goodput_bps"] < 20e6
    assert r.summary["seed"] == 7 and r.summary["flows"][0]["goodput_bps"] == r["flows.target.goodput_bps"]
    assert isinstance(r.notes, list)
    flows = r.series("flows")
    assert flows.columns[:5] == ["t_s", "flow", "rate_bps", "rtt_s", "window_bytes"] and len(flows) > 100
    assert r.series("link").columns == ["t_s", "backlog_bytes", "drops"]
    assert r.series("queue").columns == ["packets", "time_share", "at_least"]
    c = s.compare(["model", "sim"])
    assert c.frame["engine"] == ["model", "sim"] and c.verdicts == [] and c.absent == []
    assert c.report().startswith("<!doctype html>") or c.report().startswith("<!DOCTYPE html>")
    f = s.sweep({"link.queue.limit": ["0.1 bdp", "1 bdp"], "seed": range(8)}, store="results")
    assert len(f) == 16 and f["seed"] == list(range(8)) * 2
    assert len(list(Path("results/points/sim").glob("*.json"))) == 16
    (table,) = Path("results").glob("*.csv")
    assert table.read_text() == f.to_csv()
    v = s.search("link.queue.limit", "utilization>=99%")
    assert v["value"].endswith("packets") and v["room"]["packets"] > 10 and v["summary"]["utilization"] > 0.9
    z = tl.size(rate="1Gbit/s", rtt="20ms..80ms", flows=300, engine="model")
    assert 0 < z["least"]["packets"] <= z["recommended"]["packets"]
    assert json.loads(json.dumps(dict(z)))["engine"] == "model"


def test_a_run_and_a_sweep_without_a_store_write_nothing(first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first.run("sim")
    first.sweep({"seed": range(2)})
    first.compare(["model", "sim"])
    assert list(tmp_path.iterdir()) == []


def test_the_numbers_are_those_of_the_command(first, tmp_path):
    (tmp_path / "first.toml").write_text(FIRST)
    program = os.environ["TIGHTLINK_PROGRAM"]
    words = [program, "sweep", "first.toml", "--json", "--set", 'sweep."seed"=[1, 2, 18446744073709551615]']
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [json.loads(line)["summary"] for line in ended.stdout.splitlines()]
    scenario = tl.Scenario.read(tmp_path / "first.toml")
    seeds = [1, 2, 2**64 - 1]
    runs = [scenario.set(seed=seed).run("sim").summary for seed in seeds]
    for line, run in zip(lines, runs, strict=True):
        for own in ("wall_s", "peak_rss_bytes"):
            line.pop(own, None)
            run.pop(own, None)
        assert line == run
    swept = scenario.sweep({"seed": seeds}, store=tmp_path / "by-python")
    (written,) = (tmp_path / "by-python").glob("*.csv")
    (by_command,) = (tmp_path / "results").glob("*.csv")
    assert swept.to_csv() == written.read_text() == by_command.read_text()


def test_scenarios_are_equal_by_content(first):
    otherwise = tl.Scenario.from_dict(DATA)
    assert otherwise == first and hash(otherwise) == hash(first) and otherwise.hash == first.hash
    assert first.set(seed=9) != first and first != FIRST
    assert first.set(seed=9).set(seed=1) == first


def test_a_pickle_keeps_what_was_set(first):
    changed = first.set({"link.queue.limit": "1 bdp"}, seed=7)
    assert pickle.loads(pickle.dumps(changed)) == changed
    run = changed.run("sim")
    again = pickle.loads(pickle.dumps(run))
    assert again.summary == run.summary and again.series("flows").to_dict() == run.series("flows").to_dict()
    frame = run.to_frame()
    assert pickle.loads(pickle.dumps(frame)).to_csv() == frame.to_csv()


def test_a_run_is_a_mapping_of_its_numbers(first):
    run = first.run("sim")
    assert "utilization" in run and len(run) == len(list(run)) > 40
    assert dict(run)["loss_rate"] == run["loss_rate"]
    assert run.get("no.such") is None
    model = first.run("model")
    assert model.engine == "model" and model["utilization"] > 0.9


def test_a_published_figure_brings_its_claims():
    compared = tl.Scenario.figure("madison:spacing").compare(["sim"])
    assert compared.verdicts and all(verdict["held"] or verdict["disagrees"] for verdict in compared.verdicts)


def test_notebooks_see_tables_and_reports(first):
    run = first.run("sim")
    assert "<table>" in run._repr_html_() and "utilization %" in run._repr_html_()
    assert "link.queue.limit" in first.sweep({"link.queue.limit": ["1 bdp"]})._repr_html_()
    assert "20Mbit/s" in first._repr_html_()
    for one in (first, run, run.to_frame(), first.compare()):
        assert len(repr(one)) < 200


def test_a_comparison_in_a_notebook_is_the_report_without_a_network(first, browser, tmp_path):
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><body>{first.compare()._repr_html_()}</body>")
    opened = browser.new_page()
    asked, said = [], []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(page.as_uri())
    frame = opened.frames[1]
    frame.wait_for_selector("svg.main-svg", state="attached", timeout=20_000)
    assert "utilization" in frame.inner_text("body")
    assert said == [] and all(url.startswith(("file:", "about:", "data:", "blob:")) for url in asked)
    opened.close()


# Bad input: the place, what was found, what is accepted, and the help, as data and in the text.


def fault(caught, kind=None) -> tl.Fault:
    error = caught.value
    assert kind is None or type(error) is kind
    assert error.faults[0].found
    assert error.faults[0].found in str(error) or error.faults[0].found in repr(error)
    if error.faults[0].help:
        assert any(error.faults[0].help in note for note in error.__notes__)
    return error.faults[0]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(tl.ScenarioError) as caught:
        tl.Scenario.read(tmp_path / "nothing.toml")
    assert "No such file" in fault(caught).found and "path of a scenario file" in fault(caught).help
    assert "nothing.toml" in str(caught.value)


def test_a_file_of_17_mb_is_refused(tmp_path):
    (tmp_path / "large.toml").write_bytes(b"#" * (17 << 20))
    with pytest.raises(tl.ScenarioError) as caught:
        tl.Scenario.read(tmp_path / "large.toml")
    assert "too large" in fault(caught).found and "16 MB" in fault(caught).accepted


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'\ntitle = "caf\xe9"')
    with pytest.raises(tl.ScenarioError) as caught:
        tl.Scenario.read(tmp_path / "latin.toml")
    assert "UTF-8" in fault(caught).found and "UTF-8" in fault(caught).accepted and ":2" in str(caught.value)


def test_an_error_of_a_file_has_line_and_column_and_the_commands_text(tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text(FIRST.replace('"20Mbit/s"', '"20Mbits"'))
    with pytest.raises(tl.ScenarioError) as caught:
        tl.Scenario.read(file)
    found = fault(caught)
    assert (found.key, found.line, found.column) == ("link.rate", 7, 11) and found.file == str(file)
    program = os.environ["TIGHTLINK_PROGRAM"]
    ended = subprocess.run([program, "run", file], capture_output=True, text=True)
    told = str(caught.value).splitlines() + [f"  {note}" for note in caught.value.__notes__]
    assert sorted(ended.stderr.removeprefix("error: ").splitlines()) == sorted(told)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.set({"link.queue.limt": "1 bdp"}),
        lambda s: tl.Scenario.from_dict({**DATA, "record": {"evry": "1s"}}),
        lambda s: s.sweep({"link.queue.limt": ["1 bdp"]}),
    ],
)
def test_an_unknown_key_gets_the_nearest_one(first, ask):
    with pytest.raises(tl.ScenarioError) as caught:
        ask(first)
    assert fault(caught).help in ('did you mean "limit"?', 'did you mean "every"?')


def test_values_without_a_counterpart_in_toml_are_refused_at_their_key():
    circle: list[object] = []
    circle.append(circle)
    for value in (float("nan"), float("inf"), datetime.date(2026, 1, 1), circle, None, b"x", {1: "x"}):
        with pytest.raises(tl.ScenarioError) as caught:
            tl.Scenario.from_dict({"link": {"rate": value}})
        assert fault(caught).key.startswith("link.rate") and fault(caught).accepted, value


def test_a_key_that_the_sweep_has_already_is_refused():
    swept = tl.Scenario.parse(FIRST + '\n[sweep]\n"link.queue.limit" = ["1 bdp", "2 bdp"]\n')
    with pytest.raises(tl.ScenarioError) as caught:
        swept.sweep({"link.queue.limit": ["1 bdp"]})
    assert "link.queue.limit" in str(caught.value) and fault(caught).help
    assert len(swept.sweep({"seed": [1, 2]})) == 4
    for ask in (lambda: swept.run(), lambda: swept.search("link.queue.limit", "utilization>=99%")):
        with pytest.raises(tl.ScenarioError) as caught:
            ask()
        assert "sweep" in str(caught.value) and "set" in fault(caught).help and fault(caught).accepted


def test_one_value_is_not_a_list_of_values(first):
    for values in ("1 bdp", 7):
        with pytest.raises(tl.ScenarioError) as caught:
            first.sweep({"link.queue.limit": values})
        assert fault(caught).key == "link.queue.limit" and "list" in fault(caught).accepted and fault(caught).help


def test_an_engine_that_cannot_answer_says_why(first):
    two_way = tl.Scenario.preset("two-way").set({"flow.socket_buffer": {"sizer": "sobas"}})
    for ask in (lambda: two_way.run("sim"), lambda: two_way.sweep({"seed": [1, 2]})):
        with pytest.raises(tl.CannotAnswer) as caught:
            ask()
        found = fault(caught, tl.CannotAnswer)
        assert found.key.endswith("socket_buffer") and found.accepted and found.help
    with pytest.raises(tl.ScenarioError) as caught:
        first.run("simulation")
    assert "sim" in fault(caught).accepted


def test_an_unknown_metric_gets_the_nearest_one(first):
    run = first.run("sim")
    with pytest.raises(KeyError) as caught:
        run["no.such.metric"]
    assert fault(caught).help and "no.such.metric" in str(caught.value)
    with pytest.raises(KeyError) as caught:
        run["utilisation"]
    assert "utilization" in caught.value.__notes__[0]
    with pytest.raises(KeyError) as caught:
        run.series("flow")
    assert "flows" in "".join([str(caught.value), *caught.value.__notes__])
    with pytest.raises(KeyError):
        run.to_frame()["no.such.column"]


def test_a_word_for_a_number_of_flows_is_refused():
    with pytest.raises(tl.ScenarioError) as caught:
        tl.size(rate="1Gbit/s", flows="many")
    assert "flows" in fault(caught).key and fault(caught).accepted
    with pytest.raises(tl.ScenarioError) as caught:
        tl.size(rate="fast")
    assert "rate" in fault(caught).key and fault(caught).accepted


def write_trace(file: Path) -> Path:
    """A trace of 4 s: for 2 s an opportunity every 4 ms, which are 3 Mbit/s, and for 2 s one every 20 ms."""
    times = [*range(0, 2000, 4), *range(2000, 4001, 20)]
    file.write_text("".join(f"{at}\n" for at in times))
    return file


def test_a_trace_is_sized_as_the_command_does_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = write_trace(tmp_path / "lte.down")
    program = os.environ["TIGHTLINK_PROGRAM"]
    asked = ["--rtt", "40ms", "--flows", "2", "--queue", "drop-tail", "--control", "cubic", "--packet", "1000B"]
    words = [program, "size", "--trace", "lte.down", *asked, "--target-utilization", "95%", "--json", "--out", "none"]
    by_command = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    wished = {"rtt": "40ms", "flows": 2, "queue": "drop-tail", "control": "cubic", "packet": "1000B"}
    sizing = tl.size(trace="lte.down", target_utilization="95%", **wished)
    assert dict(sizing) == by_command
    # 500 opportunities and 101 more, of which each carries a packet of 1500 bytes.
    assert sizing["asked"]["rate_bps"] == 601 * 1500 * 8 / 4 and sizing["preferred"]["queue"]
    assert "lte.down" in sizing.report()
    # A file elsewhere, by its path.
    monkeypatch.chdir(ROOT)
    elsewhere = tl.size(trace=trace, target_utilization="95%", **wished)
    assert elsewhere["recommended"] == sizing["recommended"]


def test_a_trace_that_cannot_be_sized_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_trace(tmp_path / "lte.down")
    (tmp_path / "back.down").write_text("5\n3\n")
    for key, found, arguments in [
        ("trace", "none.down: No such file", {"trace": "none.down"}),
        ("trace", "3 after 5: the time goes back", {"trace": "back.down"}),
        ("trace", "a rate as well", {"trace": "lte.down", "rate": "1Mbit/s"}),
        ("rate", "neither a rate nor a trace", {}),
        ("engine", "theory describes links that stay as they are", {"trace": "lte.down", "engine": "model"}),
        ("max_delay", "0s", {"trace": "lte.down", "max_delay": "0s"}),
    ]:
        with pytest.raises(tl.ScenarioError) as caught:
            tl.size(**arguments)
        assert fault(caught).key == key and found in fault(caught).found and fault(caught).accepted, arguments
        assert "--" not in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])]), arguments
    with pytest.raises(tl.ScenarioError) as caught:
        tl.size(rate="lte.down")
    assert fault(caught).key == "rate" and fault(caught).help == 'write trace="lte.down"'


def test_a_store_that_cannot_be_written_is_named(first, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tl.MachineError) as caught:
        first.sweep({"seed": [1]}, store=tmp_path / "file")
    assert str(tmp_path / "file") in str(caught.value) and fault(caught).help


def test_a_store_that_is_full_is_named(tmp_path):
    """On a file system of its own, in a namespace."""
    child = f"""
import subprocess, sys
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", {str(tmp_path)!r}]).returncode:
    sys.exit(77)
import warnings; warnings.simplefilter("ignore")
import tightlink as tl
try:
    tl.Scenario.parse({FIRST!r}).sweep({{"seed": range(300)}}, store={str(tmp_path)!r})
except tl.MachineError as error:
    print(error, *error.__notes__)
"""
    ended = subprocess.run(["unshare", "-m", sys.executable, "-c", child], capture_output=True, text=True)
    if ended.returncode == 77 or "unshare" in ended.stderr:
        pytest.skip("no right to mount a small file system")
    # A build with the kernel's part looks for room before the first run.
    said = [words in ended.stdout for words in ("No space left", "too little room")]
    assert any(said) and "free some" in ended.stdout, ended.stderr
    assert str(tmp_path) in ended.stdout


def test_a_pickle_of_another_build_is_refused(first):
    data = pickle.dumps(first)
    build = tl.__build__.encode()
    assert build in data
    with pytest.raises(tl.ScenarioError) as caught:
        pickle.loads(data.replace(build, b"0" * len(build)))
    assert "build" in fault(caught).found and tl.__build__ in fault(caught).accepted and fault(caught).help


def test_an_import_of_a_debug_build_warns():
    from tightlink import _native

    ended = subprocess.run([sys.executable, "-W", "always", "-c", "import tightlink"], capture_output=True, text=True)
    assert ended.returncode == 0 and ("debug build" in ended.stderr) == _native.DEBUG


def test_files_beside_a_scenario_are_found_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "far").mkdir()
    rows = "".join(f"{at / 10},1000\n" for at in range(100))
    (tmp_path / "far/packets.csv").write_text("time_s,size_bytes\n" + rows)
    traffic = '\n[[traffic]]\nname = "recorded"\nkind = "replay"\nfile = "packets.csv"\n'
    (tmp_path / "far/traced.toml").write_text(FIRST + traffic)
    monkeypatch.chdir(ROOT)
    scenario = tl.Scenario.read(tmp_path / "far/traced.toml")
    assert scenario.run("sim")["traffic.recorded.packets"] > 10
    monkeypatch.chdir("/")
    assert pickle.loads(pickle.dumps(scenario)).run("sim")["traffic.recorded.packets"] > 10
