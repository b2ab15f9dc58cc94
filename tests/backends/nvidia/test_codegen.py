"""LLVM text to PTX."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.backends.nvidia.texts import add
from tritium.backends.compiler import UserText
from tritium.backends.errors import BackendError
from tritium.backends.llvm import gpu_library, target_machine
from tritium.backends.nvidia import codegen
from tritium.backends.nvidia.asm_constraints import asm_is_plain
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize
from tritium.backends.nvidia.simplify import extends_counters

HOPPER = NVPTXTarget(90, 84)
KNOWN = sorted(codegen._MIN_VERSIONS)
NEWEST = pytest.mark.skipif(gpu_library().llvm_version_info[0] < 22, reason="an older LLVM, which knows fewer chips")

ASM = """define ptx_kernel void @k(ptr addrspace(1) %x) {{
  %v = load {ty}, ptr addrspace(1) %x
  %r = call {ty} asm sideeffect "mov.b32 $0, $1;", "={c},{c}"({ty} %v)
  store {ty} %r, ptr addrspace(1) %x
  ret void
}}"""


def ptx(text: str, chip: NVPTXTarget = HOPPER, **options: bool) -> str:
    return emit_ptx(optimize(text, chip), chip, **options)


def test_a_kernel() -> None:
    text = ptx(add())
    assert re.search(r"^\.version 8\.4\n\.target sm_90a\n\.address_size 64$", text, re.M)
    assert ".visible .entry add(" in text and ".reqntid 128" in text
    assert "debug" not in text


def test_products_and_sums_fuse_where_the_text_says_so() -> None:
    assert "fma.rn.f32" in ptx(add())
    apart = ptx(add(contract=False))
    assert "fma" not in apart and "mul" in apart and "add" in apart


def test_pointers_to_shared_memory_have_32_bits() -> None:
    assert "p3:32:32" in str(target_machine(HOPPER.machine()).target_data)


def test_optimized_text_gives_the_same_code_as_the_module_it_is_of() -> None:
    module = optimize(add(), HOPPER)
    text = str(module)
    first, second = emit_ptx(module, HOPPER), emit_ptx(module, HOPPER)  # the second reads the text again
    assert first == second == emit_ptx(text, HOPPER)


@NEWEST
@pytest.mark.parametrize("capability", KNOWN)
def test_every_chip(capability: int) -> None:
    """LLVM says nothing on standard error (what it does not know it ignores, and takes another)."""
    code = (
        "from tests.backends.nvidia.texts import add\n"
        "from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize\n"
        f"chip = NVPTXTarget.of({capability}, None)\n"
        "print(emit_ptx(optimize(add(), chip), chip))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert f".target {NVPTXTarget.of(capability, None).name}\n" in done.stdout


@NEWEST
@pytest.mark.parametrize("version", [80, 84, 87, 88, 90, 91, 94])
def test_the_version_is_what_is_read(version: int) -> None:
    chip = NVPTXTarget(90, version)
    assert f".version {version // 10}.{version % 10}\n" in ptx(add(), chip)
    assert int(re.search(r"ptx(\d+)", chip.machine().features)[1]) <= version


@pytest.mark.parametrize(
    ("capability", "version", "message"),
    [
        (70, 84, "unsupported target sm_70; supported targets: sm_75, sm_80"),
        (130, 90, "unsupported target sm_130"),
        (100, 80, r"sm_100 needs PTX 8\.6.*supports only 8\.0"),
        (121, 87, r"sm_121 needs PTX 8\.8"),
    ],
)
def test_chips_that_cannot_be(capability: int, version: int, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        NVPTXTarget(capability, version)


def test_an_older_llvm_says_which_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_library(), "llvm_version_info", (20, 1, 0))
    assert NVPTXTarget(90, 90).machine().features == "+ptx87"
    with pytest.raises(BackendError, match=r"LLVM 20 does not know sm_121: llvmlite with LLVM 21"):
        NVPTXTarget(121, 90).machine()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define ptx_kernel void @k( {", "expected type"),
        ("define ptx_kernel void @k() {\n  ret i32 0\n}", "function result type"),
    ],
)
@pytest.mark.parametrize("wrap", [str, UserText])
def test_bad_text_is_an_exception(text: str, message: str, wrap: type) -> None:
    with pytest.raises(BackendError, match=message):
        ptx(wrap(text))


def test_a_persons_text_is_compiled_elsewhere() -> None:
    found = optimize(UserText(add()), HOPPER)
    assert isinstance(found, UserText)
    assert emit_ptx(found, HOPPER) == ptx(add())


LOOP = """define ptx_kernel void @k(ptr addrspace(1) %x, i64 %stride, i32 %n) {
entry:
  %count = lshr i32 %n, 7
  %some = icmp sgt i32 %count, 0
  br i1 %some, label %body, label %end
body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %at = mul i32 %i, 64
  %wide = sext i32 %at to i64
  %row = mul i64 %stride, 3
  %place = add i64 %row, %wide
  %p = getelementptr float, ptr addrspace(1) %x, i64 %place
  call void asm sideeffect "st.global.b32 [$0], 0;", "l"(ptr addrspace(1) %p)
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %body, label %end
end:
  ret void
}"""


def test_counters_that_addresses_extend_are_made_wide() -> None:
    assert extends_counters(LOOP)
    llir = str(optimize(LOOP, HOPPER))
    assert re.search(r"phi i64 \[ (?:%indvars|0)", llir) and not re.search(
        "[sz]ext(?: nneg)? i32 %(?!count|n|wide.trip)", llir
    )
    assert not extends_counters(llir)
    alone = LOOP.replace("sext i32 %at", "sext i32 %n")
    assert not extends_counters(alone)


# ---- inline assembly -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "constraints", "operands", "plain"),
    [
        ("i32", "=r,r", "i32 %x", True),
        ("float", "=f,f,~{memory}", "float %x", True),
        ("{ i32, i32 }", "=r,=r,l", "ptr addrspace(1) %x", True),
        ("<2 x half>", "=r,r,b", "<2 x half> %x, i1 %b", True),
        ("i32", "=r,0,n", "i32 %x, i32 7", True),
        ("i64", "=r,r", "i32 %x", False),
        ("i32", "=r,r", "i64 %x", False),
        ("i32", "=r,r,r", "i32 %x", False),
        ("i32", "=r,1", "i32 %x", False),
        ("i32", "=Q,r", "i32 %x", False),
        ("void", "=r,r", "i32 %x", False),
    ],
)
def test_constraints_that_surely_fit(result: str, constraints: str, operands: str, plain: bool) -> None:
    text = f'  %1 = call {result} asm sideeffect "add.u32 \\22a\\22;", "{constraints}"({operands}) #1, !dbg !3'
    assert asm_is_plain(f"  %0 = add i32 1, 2\n{text}\n") is plain


def test_llvm_ending_its_process_over_inline_assembly_is_an_exception() -> None:
    assert "mov.b32" in ptx(ASM.format(ty="i32", c="r"))
    with pytest.raises(BackendError, match="LLVM failed"):
        ptx(ASM.format(ty="<4 x i64>", c="r"))


def test_instructions_ordered_for_registers() -> None:
    assert ".visible .entry add(" in ptx(add(), fewer_registers=True)
