"""The profiler on this machine's CPU: a tree whose sums can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
import tritium.profiler as proton
from tritium.profiler import viewer
from tritium.support import OptionError
from tritium.support.settings import runtime


def _said(grid: Any, kernel: Any, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"{kernel.name} of {args['n']}", "flops32": args["n"]}


@tritium.jit(launch_metadata=_said)
def double(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def _launch(n: int) -> None:
    x = np.ones(64, np.float32)
    double[(1,)](x, n, BLOCK=64)
    assert x.sum() == 64 + n


def test_kernels_stand_in_their_scopes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run"
    session = proton.start(str(path), hook="triton")
    with proton.scope("outer", {"bytes": 100}):
        for _ in range(3):
            _launch(8)
        with proton.scope("inner"):
            _launch(5)
    proton.deactivate(session)
    _launch(8)
    proton.activate(session)
    with proton.scope("other"):
        pass
    proton.finalize()
    root = json.loads(path.with_suffix(".hatchet").read_text())[0]
    outer, other = root["children"]
    assert [outer["frame"]["name"], other["frame"]["name"]] == ["outer", "other"]
    assert outer["metrics"] == {"bytes": 100.0}  # its time is that of its kernels
    assert other["metrics"]["count"] == 1
    kernel, inner = outer["children"]
    assert kernel["frame"] == {"name": "double of 8", "type": "kernel"}
    assert kernel["metrics"]["count"] == 3
    assert kernel["metrics"]["flops32"] == 24
    assert inner["children"][0]["metrics"]["flops32"] == 5
    tree, metrics = viewer.parse(["time/us", "count", "gflop32/s"], path.with_suffix(".hatchet"))
    assert tree["sums"]["flops32"] == 29
    assert tree["sums"]["count"] == 5
    viewer.print_tree(tree, metrics)
    shown = capsys.readouterr().out
    assert "double of 8" in shown
    assert "5.000" in shown
    assert not runtime.launch_enter_hook.calls, "a profile that has ended costs launches nothing"


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="data='trace' is not supported"):
        proton.start("x", data="trace")
    proton.start(str(tmp_path / "empty"))
    proton.finalize()
    with pytest.raises(OptionError, match="no metric 'bytes'"):
        viewer.parse(["bytes"], tmp_path / "empty.hatchet")


def test_functions_are_scopes_and_sessions(tmp_path: Path) -> None:
    @proton.scope("all of it")
    def work() -> int:
        _launch(3)
        return 7

    assert proton.profile(name=str(tmp_path / "f"))(work)() == 7
    viewer.main(["-l", str(tmp_path / "f.hatchet")])
    root, _ = viewer.parse(["time/ns"], tmp_path / "f.hatchet")
    assert root["children"][0]["frame"]["name"] == "all of it"
