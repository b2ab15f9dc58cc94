"""The check of a launch: what agrees agrees at every step, and what is planted is found by pass, operation, element."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
from tests.tools.check.kernels import (
    by_descriptors,
    counted,
    distance,
    masked_sums,
    of_the_library,
    product,
    row_max,
    summed,
    through_a_table,
)
from tests.tools.check.wrong_rules import from_zero, reversed_difference, unmasked
from tritium.backends.cpu import stages
from tritium.dialects import tt as tile
from tritium.ir import RuleTable, rule
from tritium.runtime import TensorDescriptor
from tritium.tools.check.command import CheckRequest, main
from tritium.tools.check.oracle import CheckError
from tritium.tools.check.report import render
from tritium.tools.request import Request, parse_target

CANONICALIZE = importlib.import_module("tritium.transforms.canonicalize")
TARGETS = {
    "cpu": None,
    "cuda:80": parse_target("cuda:80"),
    "cuda:90": parse_target("cuda:90"),
    "hip:gfx942": parse_target("hip:gfx942"),
}


@pytest.fixture(params=TARGETS)
def target(request: Any) -> Any:
    return TARGETS[request.param]


def vectors(n: int = 300) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    return [rng.random(n, np.float32), rng.random(n, np.float32), np.zeros(n, np.float32)]


def plant(monkeypatch: pytest.MonkeyPatch, *rules: Any) -> None:
    """Have canonicalize apply these rules, too."""
    table = RuleTable([*CANONICALIZE.CANONICAL_RULES, *rules])
    monkeypatch.setattr(CANONICALIZE, "_table", lambda: table)


def steps_of(report: Any) -> dict[str, str]:
    return {v.step.partition("(")[2].rstrip(")") or v.step: v.verdict for v in report.verdicts}


# -- what is right ----------------------------------------------------------------------------------------------------


@pytest.mark.shows("tritium.check")
def test_all_steps_agree(target: Any) -> None:
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,), target=target)
    assert report, render(report)
    assert report.poisoned == ["o"]
    assert steps_of(report)["canonicalize"] == "same"
    assert {v.verdict for v in report.verdicts} <= {"same", "within tolerance"}, "every step is run"


def test_lanes_masked_off_without_other_are_zero_at_every_step(target: Any) -> None:
    x, out = np.arange(1, 10, dtype=np.float32).reshape(3, 3), np.zeros(3, np.float32)
    report = tritium.check(masked_sums, x, out, 3, B=4, grid=(3,), target=target)
    assert report, render(report)


def test_products_agree_up_to_rounding(target: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 64), (64, 32)))
    report = tritium.check(product, a, b, np.zeros((32, 32), np.float32), 64, N=32, BK=16, grid=1, target=target)
    assert report, render(report)


@pytest.mark.parametrize("specialize", [False, True])
def test_pipelines_and_warps_of_their_own_are_evaluated(specialize: bool) -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal((64, k)).astype(np.float16) for k in (128, 128, 64))
    maps = [TensorDescriptor(x, list(x.shape), [x.shape[1], 1], [64, k]) for x, k in ((a, 32), (b, 32), (c, 64))]
    options = {"N": 64, "BK": 32, "SPECIALIZE": specialize, "num_stages": 3}
    report = tritium.check(by_descriptors, *maps, 128, grid=1, target=TARGETS["cuda:90"], **options)
    assert report, render(report)
    last = [v for v in report.verdicts if "llir" in v.step]
    assert last and all(v.verdict == "same" for v in last), render(report, verbose=True)


def test_what_is_read_as_well_keeps_its_contents(target: Any) -> None:
    x = np.arange(16, dtype=np.int32)
    report = tritium.check(counted, x, 11, grid=1, target=target)
    assert report, render(report)
    assert report.poisoned == [] and (x == np.arange(16)).all()


def test_atomic_sums_agree(target: Any) -> None:
    x = np.random.default_rng(3).standard_normal(64).astype(np.float32)
    report = tritium.check(summed, x, np.zeros(1, np.float32), grid=3, target=target)
    assert report, render(report)


def test_library_functions_are_evaluated(target: Any) -> None:
    x = np.random.default_rng(6).random(64, np.float32)
    report = tritium.check(of_the_library, x, np.zeros(64, np.float32), B=64, grid=1, target=target)
    assert report, render(report)
    assert {v.verdict for v in report.verdicts} <= {"same", "within tolerance"}, "every step is run"


def test_what_is_reached_through_memory_is_left_alone() -> None:
    x = np.zeros(1, np.float32)
    table = np.array([x.ctypes.data], np.int64)
    with pytest.raises(CheckError, match="loads pointers from memory"):
        tritium.check(through_a_table, table, grid=1)
    assert x[0] == 0


def test_a_cpu_program_of_too_many_operations_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritium.tools.check.oracle.VECTOR_LIMIT", 100)
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,))
    assert report and steps_of(report)["convert-tt-to-ttc"] == "not run", render(report)
    assert report.verdicts[-2].detail == "it takes more than 100 operations"
    assert report.verdicts[-1].verdict in ("same", "within tolerance")


# -- what is planted --------------------------------------------------------------------------------------------------


def test_a_wrong_rule_is_found(target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, reversed_difference())
    x, y, o = vectors()
    report = tritium.check(distance, x, y, o, 300, B=128, grid=(3,), target=target)
    found = report.finding
    assert "(canonicalize)" in found.step
    assert found.difference.element == "o[0]" and found.difference.count == 300
    assert found.rewrite.rule == "reversed_difference" and "x - y = y - x" in found.rewrite.change
    assert "arith.subf %b" in found.suspect.operation and "arith.subf %a" in found.suspect.before
    assert found.suspect.place[:2] == (__file__.replace("test_oracle", "kernels"), 16)
    assert f"element [0] is {y[0] - x[0]}, expected {x[0] - y[0]}" == found.suspect.element
    assert "c = tl.exp(a - b) + a * 2.0" in render(report)


def test_a_wrong_conversion_to_vectors_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    convert = stages.convert_tt_to_ttc

    def reversing(*args: Any) -> Any:
        made = convert(*args)
        op = next(op for op in made.walk() if op.name == "arith.subf")
        op.set_operands(op.operands[::-1])
        return made

    monkeypatch.setattr(stages, "convert_tt_to_ttc", reversing)
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,))
    found = report.finding
    assert "(convert-tt-to-ttc)" in found.step
    assert found.difference.element == "o[0]" and "arith.subf %a" in found.suspect.operation


def test_a_reduction_from_the_wrong_start_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, from_zero)
    x = -1 - np.random.default_rng(4).random((3, 20), np.float32)
    report = tritium.check(row_max, x, np.zeros(3, np.float32), 20, B=32, grid=3, target=TARGETS["cuda:90"])
    found = report.finding
    assert "(canonicalize)" in found.step and found.rewrite.rule == "from_zero"
    assert found.difference.element == "o[0]" and found.difference.found == 0
    assert "tt.load" in found.suspect.operation and found.suspect.element.startswith(
        "element [20] is 0.0, expected -inf"
    )


def test_a_store_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    @rule(tile.Store)
    def forgotten(op: Any) -> Any:
        """store(p, x) = nothing"""
        return []

    plant(monkeypatch, forgotten)
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,), target=TARGETS["cuda:80"])
    assert report.finding.rewrite.rule == "forgotten" and "(canonicalize)" in report.finding.step
    assert report.finding.difference.count == 300, "the store's place holds what it was filled with"


def test_a_pass_that_reaches_too_far_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, unmasked)
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,), target=TARGETS["cuda:80"])
    found = report.finding
    assert "(canonicalize)" in found.step and "is in no array" in found.message and found.rewrite.rule == "unmasked"


def test_check_of_a_file_that_is_no_script(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(CheckRequest(Request("kernel.ttir"))) == 2
    assert "kernel.ttir is a file of IR, and check runs Python scripts\nhint: " in capsys.readouterr().err
    script = tmp_path / "script.py"
    script.write_text("")
    assert main(CheckRequest(Request(str(script)))) == 2
    assert "no kernel was launched\nhint: the script must launch a kernel" in capsys.readouterr().err
