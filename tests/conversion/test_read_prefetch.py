"""Loops that read long runs of memory ask for lines ahead: where, how many, and with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, poisoned
from tritium.backends.cpu import named_target
from tritium.dialects import arith, scf, tt, ttc

COMBINE = """({{
  ^bb0(%p: {ty}, %q: {ty}):
{op}
    tt.reduce.return %s : {ty}
}}) : (tensor<{n}x{ty}>) -> {ty}"""


OPERATIONS = {
    "add": "%s = arith.addf %p, %q : {ty}",
    "maxnum": "%s = arith.maxnumf %p, %q : {ty}",
    "minnum": "%s = arith.minnumf %p, %q : {ty}",
    "max of negatives": """%m = arith.negf %p : {ty}
    %n = arith.negf %q : {ty}
    %l = arith.minimumf %m, %n : {ty}
    %s = arith.negf %l : {ty}""",
}


def row_total(n: int, ty: str = "f32", op: str = "add", masked: bool = True, twice: bool = False) -> str:
    """o[row] = op over x[row, :columns] (0 beyond), n elements a program; `twice`: what is left of the total, too."""
    mask = ", %mask, %zeros" if masked else ""
    total = COMBINE.format(ty=ty, op=OPERATIONS[op].format(ty=ty), n=n)
    rest = f"""
      %ts = tt.splat %t : {ty} -> tensor<{n}x{ty}>
      %d = arith.subf %a, %ts : tensor<{n}x{ty}>
      %u = "tt.reduce"(%d) <{{axis = 0 : i32}}> {total}"""
    return f"""
    tt.func public @k(%x: !tt.ptr<{ty}>, %o: !tt.ptr<{ty}>, %columns: i32) {{
      %row = tt.get_program_id x : i32
      %start = arith.muli %row, %columns : i32
      %at = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
      %ns = tt.splat %columns : i32 -> tensor<{n}xi32>
      %mask = arith.cmpi slt, %at, %ns : tensor<{n}xi32>
      %zeros = arith.constant dense<0.0> : tensor<{n}x{ty}>
      %first = tt.addptr %x, %start : !tt.ptr<{ty}>, i32
      %xs = tt.splat %first : !tt.ptr<{ty}> -> tensor<{n}x!tt.ptr<{ty}>>
      %xp = tt.addptr %xs, %at : tensor<{n}x!tt.ptr<{ty}>>, tensor<{n}xi32>
      %a = tt.load %xp{mask} : tensor<{n}x!tt.ptr<{ty}>>
      %t = "tt.reduce"(%a) <{{axis = 0 : i32}}> {total}
      {rest if twice else ""}
      %op = tt.addptr %o, %row : !tt.ptr<{ty}>, i32
      tt.store %op, {"%u" if twice else "%t"} : !tt.ptr<{ty}>
      tt.return
    }}"""


def loops(kernel: Kernel) -> list[tuple[int, list[int]]]:
    """Of each loop over vectors: the bytes of memory an iteration reads, and how many bytes ahead it asks for lines."""
    found = []
    for op in kernel.ttcir.walk():
        if isinstance(op, scf.For):
            loads = [inner for inner in op.body if isinstance(inner, ttc.Load)]
            asked = [inner for inner in op.body if isinstance(inner, ttc.Prefetch)]
            assert all(hint.to_read for hint in asked)
            found.append((sum(_bytes(load) for load in loads), [_ahead(hint, loads[0]) for hint in asked]))
    return found


def _bytes(load: ttc.Load) -> int:
    return load.result.type.numel * load.result.type.element.width // 8


def _ahead(hint: ttc.Prefetch, first: ttc.Load) -> int:
    address = hint.ptr.defining_op
    assert isinstance(address, tt.AddPtr) and address.ptr is first.ptr
    offset = address.offset.defining_op
    assert isinstance(offset, arith.Constant)
    return offset.splat_value() * (first.result.type.element.width // 8)


@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "x86-64-v4", "neoverse-n1"])
@pytest.mark.parametrize("ty", ["f16", "f32", "f64"])
def test_one_line_in_four_is_asked_for(target: str, ty: str) -> None:
    """Whatever the width of vectors and elements; and by the loop without masks alone."""
    whole, rest = loops(Kernel(row_total(8192, ty), target=named_target(target)))
    assert whole == (256, [16384])
    assert rest[0] < 256 and rest[1] == []


def test_without_masks() -> None:
    assert loops(Kernel(row_total(8192, masked=False), target=named_target("x86-64-v4"))) == [(256, [16384])]


def test_short_runs_are_not() -> None:
    """Rows of 2 KiB: what follows lies somewhere else."""
    assert all(asked == [] for _, asked in loops(Kernel(row_total(512), target=named_target("x86-64-v4"))))


def test_what_is_in_a_cache_is_not() -> None:
    """A second loop over the same tile reads what the first one brought."""
    first, _, second, _ = loops(Kernel(row_total(8192, twice=True), target=named_target("x86-64-v4")))
    assert first[1] == [16384] and second[1] == []


def test_checked_loads_are_not() -> None:
    kernel = Kernel(row_total(8192), sanitize=True, target=named_target("x86-64-v4"))
    assert not any(isinstance(op, ttc.Prefetch) for op in kernel.ttcir.walk())


def test_hints_in_llvm_text() -> None:
    """For reading, into the second cache: `prefetcht1`, `prfm pldl2keep`."""
    text = Kernel(row_total(8192), target=named_target("x86-64-v4")).lowered.text
    assert "i32 0, i32 2, i32 1)" in text and "i32 1, i32 3, i32 1)" not in text


@pytest.mark.parametrize("target", ["host", "x86-64", "x86-64-v3"])
@pytest.mark.parametrize("ty", ["f16", "f32", "f64"])
@pytest.mark.parametrize("op", ["add", "maxnum", "max of negatives"])
def test_results(target: str, ty: str, op: str) -> None:
    """Hints go beyond the end of the array; the last operation has no value known to change nothing."""
    if named_target(target).arch != named_target("host").arch:
        pytest.skip("another kind of processor")
    if target == "x86-64" and ty == "f16":
        pytest.skip("it has no instruction for these")
    rows, dtype = 3, {"f16": np.float16, "f32": np.float32, "f64": np.float64}[ty]
    kernel = Kernel(row_total(8192, ty, op), target=named_target(target))
    for columns in (8192, 8191, 8000, 255, 1, 0):
        x = np.random.default_rng(columns).integers(-1, 2, (rows, columns)).astype(dtype)
        x[:, -2:] *= 5
        out = poisoned(rows, dtype)
        kernel((rows,), x, out, columns)
        padded = np.pad(x.astype(np.float64), ((0, 0), (0, 8192 - columns)))
        np.testing.assert_array_equal(out, padded.sum(1) if op == "add" else padded.max(1))
