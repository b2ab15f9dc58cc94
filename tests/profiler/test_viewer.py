"""The viewer on a profile whose figures can be worked out by hand; the trees are what Triton 3.9's viewer prints of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tritium.profiler as proton
from tests.profiler.example_profile import launch, profile
from tritium.profiler import viewer
from tritium.profiler.graph_frame import GraphFrame
from tritium.profiler.specs import max_bps, max_flops
from tritium.support import TritiumError

TREES = {
    "-m time/ms,tflop16/s": """\
3.500 200.000 ROOT
├─ 2.500 160.000 /home/me/net/model.py:10@forward
│  ├─ 2.000 200.000 matmul
│  └─ 0.500 nan softmax
└─ 1.000 300.000 /home/me/net/model.py:20@backward
   └─ 1.000 300.000 matmul
""",
    "-m util,gbyte/s": """\
nan 657.143 ROOT
├─ nan 720.000 /home/me/net/model.py:10@forward
│  ├─ 0.202 500.000 matmul
│  └─ 0.477 1600.000 softmax
└─ nan 500.000 /home/me/net/model.py:20@backward
   └─ 0.304 500.000 matmul
""",
    "-m avg_time/us,Count": """\
500.000 7.000 ROOT
├─ 416.667 6.000 /home/me/net/model.py:10@forward
│  ├─ 500.000 4.000 matmul
│  └─ 250.000 2.000 softmax
└─ 1000.000 1.000 /home/me/net/model.py:20@backward
   └─ 1000.000 1.000 matmul
""",
    "-m time/%,bytes/%": """\
100.000 100.000 ROOT
├─ 71.429 78.261 /home/me/net/model.py:10@forward
│  ├─ 57.143 43.478 matmul
│  └─ 14.286 34.783 softmax
└─ 28.571 21.739 /home/me/net/model.py:20@backward
   └─ 28.571 21.739 matmul
""",
    "-m cpu_time/us": """\
nan ROOT
├─ nan /home/me/net/model.py:10@forward
│  ├─ nan matmul
│  └─ nan softmax
└─ 9.000 /home/me/net/model.py:20@backward
   └─ nan matmul
""",
    "-m time/us -f file_function": """\
3500.000 ROOT@ROOT
├─ 2500.000 model.py@forward
│  ├─ 2000.000 matmul@matmul
│  └─ 500.000 softmax@softmax
└─ 1000.000 model.py@backward
   └─ 1000.000 matmul@matmul
""",
    "-m time/us -f function_line": """\
3500.000 ROOT
├─ 2500.000 10@forward
│  ├─ 2000.000 matmul
│  └─ 500.000 softmax
└─ 1000.000 20@backward
   └─ 1000.000 matmul
""",
    "-m time/us -i .*forward": """\
3500.000 ROOT
└─ 2500.000 /home/me/net/model.py:10@forward
   ├─ 2000.000 matmul
   └─ 500.000 softmax
""",
    "-m time/us -e mat": """\
3500.000 ROOT
├─ 2500.000 /home/me/net/model.py:10@forward
│  └─ 500.000 softmax
└─ 1000.000 /home/me/net/model.py:20@backward
""",
    "-m time/us -t 600": """\
3500.000 ROOT
├─ 2500.000 /home/me/net/model.py:10@forward
│  └─ 2000.000 matmul
└─ 1000.000 /home/me/net/model.py:20@backward
   └─ 1000.000 matmul
""",
    "-m count,time/us -e mat": """\
2.000 3500.000 ROOT
├─ 2.000 2500.000 /home/me/net/model.py:10@forward
│  └─ 2.000 500.000 softmax
└─ nan 1000.000 /home/me/net/model.py:20@backward
""",
    "-m flops16,gbyte/s -t 1e11 -diff OTHER": """\
0.000 82.143 ROOT
├─ 0.000 120.000 /home/me/net/model.py:10@forward
│  └─ 0.000 100.000 matmul
└─ 0.000 0.000 /home/me/net/model.py:20@backward
   └─ 0.000 0.000 matmul
""",
    "-m count -d 2": """\
7.000 ROOT
├─ 6.000 /home/me/net/model.py:10@forward
└─ 1.000 /home/me/net/model.py:20@backward
""",
    "-m time/us,count -diff OTHER": """\
-500.000 0.000 ROOT
├─ -500.000 0.000 /home/me/net/model.py:10@forward
│  ├─ nan nan layernorm ▶\x20
│  ├─ -500.000 0.000 matmul
│  └─ 500.000 2.000 softmax ◀\x20
└─ 0.000 0.000 /home/me/net/model.py:20@backward
   └─ 0.000 0.000 matmul
""",
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "profile.hatchet"
    path.write_text(json.dumps(profile()))
    (tmp_path / "other.hatchet").write_text(json.dumps(profile(2_500_000, "layernorm")))
    return str(path)


@pytest.mark.parametrize("flags", list(TREES))
def test_tree_is_that_of_tritons_viewer(flags: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    viewer.main([*flags.replace("OTHER", file.replace("profile.", "other.")).split(), file])
    assert capsys.readouterr().out == TREES[flags] + "\n"


def test_sorted_frames_follow_the_tree(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    viewer.main(["-m", "time/ms", "--print-sorted", file])
    tree, _, below = capsys.readouterr().out.partition("Sorted kernels by metric time/ms (inc)\n")
    assert tree.startswith("3.500 ROOT")
    assert [line.split() for line in below.splitlines()] == [
        ["/home/me/net/model.py:10@forward", "2.5"],
        ["matmul", "2.0"],
        ["/home/me/net/model.py:20@backward", "1.0"],
        ["matmul", "1.0"],
        ["softmax", "0.5"],
    ]


def test_list_names_the_metrics_that_can_be_shown(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    viewer.main(["--list", file])
    assert capsys.readouterr().out.split("\n") == [
        "Available inclusive metrics:", "- count", "- time", "- flops16", "- bytes",
        "Available exclusive metrics:", "- cpu_time", "",
    ]  # fmt: skip


def test_every_frame_of_an_own_profile_has_its_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proton.start("p", hook="triton")
    with proton.scope("outer"):
        launch(8)
        with proton.scope("inner"):
            launch(5)
    proton.finalize()
    viewer.main(["-m", "count,flops32,time/ns", str(tmp_path / "p.hatchet")])
    shown = capsys.readouterr().out
    assert "nan" not in shown
    counts = {line.split()[-1]: line.strip("│├└─ ").split()[:2] for line in shown.splitlines() if line}
    assert counts["ROOT"] == counts["outer"] == ["2.000", "13.000"]
    assert counts["inner"] == counts["double_5"] == ["1.000", "5.000"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-m", "watts"], "Metric watts is not found. Use the --list flag"),
        (["-m", "time/days"], "Unsupported unit days of 'time/days'"),
        (["-m", "device_id"], "the metric 'device_id' has no numbers to show"),
        (["-m", "time", "-i", "nothing"], "no frame of the profile is left"),
        (["-m", "time", "-i", "("], "'(' is no regular expression"),
        (["-i", "a", "-e", "b"], "Cannot specify both include and exclude"),
        (["-m", "time", "--bogus"], "unrecognized arguments: --bogus"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        viewer.main([*arguments, file])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", '[{"frame": {"name": "x"}, "metrics": {}, "children": []}]'])
def test_file_that_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.hatchet"
    path.write_text(text)
    with pytest.raises(TritiumError, match=r"p\.hatchet"):
        viewer.read(path)
    with pytest.raises(TritiumError, match="cannot be read"):
        viewer.read(tmp_path / "missing")


def test_peaks_are_those_of_the_data_sheets() -> None:
    assert max_flops("CUDA", "80", 16, 108, 1410000) == 312e12  # A100, dense f16
    assert max_flops("CUDA", "90", 16, 114, 1755000) == pytest.approx(756.5e12)  # H100 PCIe
    assert max_flops("HIP", "gfx942", 16, 304, 2100000) == pytest.approx(1307e12, rel=1e-3)  # MI300X
    assert max_bps("CUDA", "90", 5120, 2619000) == pytest.approx(3.352e12, rel=1e-3)  # H100 SXM
    with pytest.raises(TritiumError, match="'70' are not known"):
        max_flops("CUDA", "70", 16, 80, 1)
    with pytest.raises(TritiumError, match="'CPU'"):
        max_bps("CPU", "x86", 64, 0)


# what hatchet 2026.2 keeps, too
QUERIES: list[tuple[Any, list[str]]] = [
    ("MATCH ('*', c) WHERE c.'name' =~ 'mat.*' AND c IS LEAF", ["matmul"]),  # the two are one
    ('MATCH ("*")->(".", p)->("*") WHERE p."name" =~ ".*forward"', ["ROOT", "model.py:10@forward", "matmul", "softmax"]),
    ('MATCH (p) WHERE p."time (ns)" >= 1000000 AND NOT p."name" = "ROOT"', ["matmul"]),
    ("MATCH (p) WHERE p.'name' STARTS WITH 'mat' OR p.'name' ENDS WITH 'max'", ["matmul", "softmax"]),
    ("MATCH (p) WHERE p.'name' CONTAINS 'ward' AND p IS NOT LEAF", ["model.py:10@forward", "model.py:20@backward"]),
    ("MATCH (p) WHERE p.'flops16' IS NAN AND p.'depth' = 2", ["softmax"]),
    ("MATCH (2, p) WHERE p.'depth' >= 1", ["model.py:10@forward", "matmul", "softmax", "model.py:20@backward", "matmul"]),
    ("MATCH ('+', p)->(l) WHERE p.'name' =~ '.*backward' AND l IS LEAF", ["model.py:20@backward", "matmul"]),
    (["*", {"time (ns)": "> 1500000"}], ["ROOT", "model.py:10@forward", "matmul"]),
    ([{"name": "soft.*"}], ["softmax"]),
    ([(1, {"count": 1})], ["matmul"]),
    (lambda cells: cells["name"] == "softmax", ["softmax"]),
]  # fmt: skip


@pytest.mark.parametrize("query, names", QUERIES, ids=range(len(QUERIES)))
def test_queries_keep_the_frames_on_matching_paths(query: Any, names: list[str], file: str) -> None:
    found = viewer.read(file)[0].filter(query)
    assert [name.rpartition("/")[2] for name in found.column("name")] == names


@pytest.mark.parametrize(
    "query",
    ["", "MATCH", "MATCH (p", "MATCH ('?', p)", "MATCH (p) WHERE", "MATCH (p) WHERE q IS LEAF", "MATCH (p) p", ["?"],
     "MATCH (p) WHERE p.'name' =~ 3", "MATCH (p) WHERE p.'name' IS ODD", "MATCH (p) # x", [{"count": "> many"}]],
)  # fmt: skip
def test_wrong_queries_are_refused(query: Any, file: str) -> None:
    with pytest.raises(TritiumError, match="quer|no number"):
        viewer.read(file)[0].filter(query)


def test_siblings_that_a_filter_makes_alike_are_one(file: str) -> None:
    kept = viewer.read(file)[0].filter([{"name": "matmul|softmax|ROOT"}])
    assert kept.column("name") == ["ROOT", "matmul", "softmax"]
    assert kept.column("time (ns)")[1:] == [3_000_000, 500_000]


def test_dataframe_is_the_profile(file: str) -> None:
    pandas = pytest.importorskip("pandas")
    found, inclusive, exclusive, devices = viewer.read(file)
    assert isinstance(found.dataframe, pandas.DataFrame)
    leaves = found.filter("MATCH ('*', c) WHERE c.'name' =~ '.*mat' AND c IS LEAF").dataframe
    assert (leaves["flops16"].sum(), leaves["time (ns)"].sum()) == (7e11, 3_000_000)
    found.dataframe["twice"] = found.dataframe["time (ns)"] * 2
    assert "1000000.000 softmax" in found.tree("twice")
    seconds = viewer.get_min_time_bytes(found.dataframe, devices)
    assert seconds[found.dataframe["name"] == "softmax"]["min_time"].item() == pytest.approx(8e8 / 3.352e12, rel=1e-3)
    columns = viewer.derive_metrics(found, ["time/ms"], inclusive, exclusive, devices)
    assert found.dataframe.sort_values(by=columns, ascending=False).iloc[0]["name"] == "ROOT"


def test_missing_pandas_is_named(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(TritiumError, match="pip install pandas"):
        _ = viewer.read(file)[0].dataframe


def test_long_names_may_be_shortened() -> None:
    literal = {"frame": {"name": "k" * 50}, "metrics": {"count": 1}, "children": []}
    found = GraphFrame.from_literal([literal])
    assert found.tree("count", expand_name=False) == f"1.000 {'k' * 18}...{'k' * 18}\n"
