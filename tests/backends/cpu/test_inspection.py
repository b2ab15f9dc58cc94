"""What is told of a kernel's machine code on CPUs."""

from __future__ import annotations

import inspect
import json
import linecache
import re
from pathlib import Path
from typing import Any

import pytest

import tritium as triton
import tritium.language as tl
from tests.compiler.test_key import load
from tritium.backends.cpu.machine_code import loops_of, read_assembly, stack_of, vector_bits
from tritium.compiler import ASTSource, GPUTarget, compile

TYPES = {"x": "*fp32", "y": "*fp32", "n": "i32"}


@triton.jit
def twice(v):
    return v * 2.0


@triton.jit
def blocks(x, y, n, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    mask = offsets < n
    tl.store(y + offsets, twice(tl.exp(tl.load(x + offsets, mask=mask))), mask=mask)


@triton.jit
def numbers(x, y, n, N: tl.constexpr):
    total = 0.0
    for i in range(n):
        total = total * tl.load(x + i) + 1.0
    tl.store(y, total)


def compiled(fn: Any, target: str = "x86-64-v4", **options: Any) -> Any:
    return compile(ASTSource(fn, TYPES, {"N": 256}), target=GPUTarget("cpu", target, 1), options=options)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"])
def test_vectors_and_loops(target: str) -> None:
    found = compiled(blocks, target).inspect()
    assert found.widths[found.vector_bits] > 5 and found.instructions == sum(found.widths.values())
    assert any(loop.bits == found.vector_bits for loop in found.loops)
    assert [f.kind for f in found.findings if f.kind == "scalar-loop"] == []
    json.dumps(found.as_json())


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v4", "aarch64"])
def test_a_loop_over_numbers_is_found(target: str) -> None:
    found = compiled(numbers, target).inspect()
    (slow,) = [f for f in found.findings if f.kind == "scalar-loop"]
    assert slow.source.startswith(("total = total", "for i in")) and slow.place.startswith("test_inspection.py:")


@pytest.mark.parametrize("fn", [blocks, numbers])
@pytest.mark.parametrize("target", ["x86-64-v4", "aarch64"])
def test_lines_change_no_instruction(fn: Any, target: str) -> None:
    """The code that is inspected is the code that runs."""

    def instructions(text: str) -> list[str]:
        kept = (re.sub(r"\s*(#|//).*", "", line).strip() for line in text.splitlines())
        skipped = (".file", ".loc", ".cfi", ".Ltmp", ".Lfunc", ".Linfo", ".ident", ".section", ".size")
        return [line for line in kept if line and not line.startswith(skipped) and "debug" not in line]

    plain, located = compiled(fn, target), compiled(fn, target, line_info=True)
    assert instructions(located.asm["asm"])[:-1] == instructions(plain.asm["asm"])[:-1]
    assert ".loc" in located.asm["asm"] and ".loc" not in plain.asm["asm"]


def test_the_listing_says_from_where_functions_are_called() -> None:
    text = compiled(blocks).listing()
    assert re.search(r"test_inspection\.py:\d+  return v \* 2\.0    \(called from test_inspection\.py:\d+\)", text)
    assert "vmulps" in text or "vaddps" in text
    assert "\n.LBB0_" in text and ".Ltmp" not in text


ASSEMBLY = """
	.file	"<string>"
	.file	1 "/f" "k.py"
other:
	ret
kernel:
	subq	$192, %rsp
	.loc	1 3 9
	vmovaps	%zmm3, 64(%rsp)                 # 64-byte Spill
.LBB0_1:
	callq	expf@PLT
.LBB0_2:                                # =>This Inner Loop Header: Depth=2
	.loc	1 7 9 is_stmt 1
	vaddps	64(%rsp), %zmm1, %zmm1          # 64-byte Folded Reload
	vaddss	%xmm2, %xmm1, %xmm1
	jne	.LBB0_2
	jmp	.LBB0_1
"""


def test_reading_assembly() -> None:
    code = read_assembly(ASSEMBLY, "kernel")
    inside, loops = loops_of(code)
    assert [c.operation for c in code] == ["subq", "vmovaps", "callq", "vaddps", "vaddss", "jne", "jmp"]
    assert inside == [False, False, True, True, True, True, True] and [tuple(s) for s in loops] == [(3, 6)]
    assert [(c.stored, c.loaded) for c in code[1:4]] == [(64, 0), (0, 0), (0, 64)] and stack_of(code) == 192
    assert [vector_bits(c) for c in code] == [0, 512, 0, 512, 0, 0, 0] and code[4].scalar_float
    assert code[2].called == "expf" and (code[3].file, code[3].line) == ("/f/k.py", 7)
    assert len(read_assembly(ASSEMBLY)) == 8


def test_a_kernel_that_moved_is_inspected_where_it_is(tmp_path: Path) -> None:
    """The same text in another file is not found in the cache with the lines of a file that is gone."""
    for folder in (tmp_path / "here", tmp_path / "there"):
        text = "import tritium as triton\nimport tritium.language as tl\n\n" + inspect.getsource(numbers.fn)
        kernel = load(folder, text=text).numbers
        (slow,) = [f for f in compiled(kernel).inspect().findings if f.kind == "scalar-loop"]
        assert slow.place.startswith("keyed.py:") and slow.source
        (folder / "keyed.py").unlink()
        linecache.clearcache()
