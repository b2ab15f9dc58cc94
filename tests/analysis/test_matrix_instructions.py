"""The table of AMD's matrix instructions, against what LLVM selects for their intrinsics."""

from __future__ import annotations

import re

import pytest

from tritium.analysis.matrix_instructions import (
    MFMA,
    WMMA,
    MatrixInstruction,
    mfma_for,
    wmma_for,
)
from tritium.backends import llvm
from tritium.hardware.amd import amd_gpu


def kernel(index: int, instruction: MatrixInstruction, lanes: int) -> tuple[str, str]:
    """A kernel that executes one instruction, and the declaration of its intrinsic."""
    kind = {"f": "float", "i": "i32", "d": "double"}[
        "d" if ".f64." in instruction.intrinsic else instruction.intrinsic[5]
    ]
    result = f"<{instruction.m * instruction.n // lanes} x {kind}>"
    operand = instruction.operand
    types, values = [operand, operand, result], ["%a", "%b", "%c"]
    if ".iu8." in instruction.intrinsic:
        types, values = ["i1", operand, "i1", operand, result, "i1"], ["true", "%a", "true", "%b", "%c", "false"]
    if instruction.intrinsic.startswith("mfma"):
        types, values = [*types, *["i32"] * 3], [*values, *["0"] * 3]
    called = ", ".join(f"{t} {v}" for t, v in zip(types, values))
    name = f"@llvm.amdgcn.{instruction.intrinsic}"
    body = f"""define amdgpu_kernel void @k{index}(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(1) %r) {{
  %a = load {operand}, ptr addrspace(1) %p
  %b = load {operand}, ptr addrspace(1) %q
  %c = load {result}, ptr addrspace(1) %r
  %d = call {result} {name}({called})
  store {result} %d, ptr addrspace(1) %r
  ret void
}}"""
    return body, f"declare {result} {name}({', '.join(types)})"


def assembly(arch: str, instructions: list[MatrixInstruction], lanes: int) -> str:
    parts = [kernel(i, instruction, lanes) for i, instruction in enumerate(instructions)]
    text = "\n".join([*dict.fromkeys(declared for _, declared in parts), *(body for body, _ in parts)])
    module = llvm.library().parse_assembly(text)
    module.verify()
    target = llvm.library().Target.from_triple("amdgcn-amd-amdhsa")
    machine = target.create_target_machine(cpu=arch, opt=1, reloc="pic", codemodel="default")
    return str(machine.emit_assembly(module))


@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_each_intrinsic_is_one_instruction_of_its_shape(arch: str) -> None:
    if version := amd_gpu(arch).mfma_version:
        chosen, lanes = [i for several in MFMA[version].values() for i in several], 64
    else:
        chosen, lanes = list(WMMA[amd_gpu(arch).wmma_version].values()), 32
    chosen = list(dict.fromkeys(chosen))
    found = re.findall(r"^\s*v_(?:mfma|wmma)_\w+?_(\d+)x(\d+)x(\d+)", assembly(arch, chosen, lanes), re.M)
    assert [tuple(map(int, shape)) for shape in found] == [i[:3] for i in chosen]


def test_longest_k_that_the_dot_fills_is_chosen() -> None:
    f16 = ("f16", "f16")
    assert [mfma_for(4, f16, 32, depth).k for depth in (64, 16, 8)] == [16, 16, 8]  # type: ignore[union-attr]
    assert mfma_for(3, ("i16", "i16"), 32, 64) is None
    assert mfma_for(3, ("f64", "f64"), 32, 64) is None
    assert wmma_for(1, ("f8E4M3FN", "f8E4M3FN")) is None
    assert [amd_gpu(a).mfma_version or amd_gpu(a).wmma_version for a in ("gfx1030", "gfx1150", "gfx1250")] == [0, 1, 0]
