"""Kernels of PTX text for the tests, written around a few instructions, and run on arrays."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from tests.emulator import hardware
from tritium.emulator import launch

PTXAS = shutil.which("ptxas")
REGISTERS = """
  .reg .pred %p<16>;
  .reg .b8 %b<8>;
  .reg .b16 %h<32>;
  .reg .b32 %r<64>;
  .reg .b64 %d<32>;
"""


def kernel(
    body: str, *, arrays: int = 4, threads: int = 32, target: str = "sm_90", version: str = "8.6", head: str = ""
) -> str:
    """A kernel `k` of `arrays` pointers, in %d0 … (a0 … an are the parameters), with %r0 = %tid.x."""
    parameters = ", ".join(f".param .u64 .ptr .global .align 16 a{n}" for n in range(arrays))
    loads = "\n".join(f"  ld.param.u64 %d{n}, [a{n}];" for n in range(arrays))
    return f"""
.version {version}
.target {target}
.address_size 64
{head}
.visible .entry k({parameters})
.reqntid {threads}
{{
{REGISTERS}
{loads}
  mov.u32 %r0, %tid.x;
{body}
  ret;
}}
"""


def accepted(ptx: str, target: str = "sm_90") -> None:
    """ptxas, where it is installed, takes the text: what we emulate is PTX."""
    if PTXAS is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.ptx"
        path.write_text(ptx)
        command = [PTXAS, "-arch", target, str(path), "-o", str(Path(folder) / "k.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + ptx


def run(
    body: str,
    *arrays,
    threads: int = 32,
    grid=1,
    target: str = "sm_90",
    check: bool = True,
    head: str = "",
    gpu: bool = True,
    nan: str = "",
    names=None,
    version: str = "8.6",
    **options,
):
    """Run a kernel of `body` on the arrays; returns the report.

    Where GPUs are tested (see `hardware`) one must give the same, unless `gpu` is False or the kernel is no plain one.
    """
    ptx = kernel(body, arrays=len(arrays), threads=threads, target=target, version=version, head=head)
    if check:
        accepted(ptx, target)
    before = [a.copy() for a in arrays]
    report = launch(ptx, grid, arrays, **options)
    if hardware.wanted() and gpu and check and set(options) <= {"shared_bytes"}:
        real = hardware.run(ptx, "k", grid, threads, before, options.get("shared_bytes", 0))
        hardware.compare(arrays, real, names or [f"array {n}" for n in range(len(arrays))], nan)
    return report


#: Types of an operand: (suffix for loads and stores, registers, bytes).
REGISTER_OF = {8: "%h", 16: "%h", 32: "%r", 64: "%d"}


def load(register: str, array: int, bits: int, offset: str = "") -> str:
    """Instructions that load element %tid.x of an array into a register."""
    return f"""
  mul.wide.u32 %d31, %r0, {bits // 8};
  add.u64 %d31, %d31, %d{array};
  ld.global.b{bits} {register}, [%d31{offset}];"""


def store(register: str, array: int, bits: int, offset: str = "") -> str:
    """Instructions that store a register to element %tid.x of an array."""
    return f"""
  mul.wide.u32 %d31, %r0, {bits // 8};
  add.u64 %d31, %d31, %d{array};
  st.global.b{bits} [%d31{offset}], {register};"""


def elementwise(
    instructions: dict[str, tuple[str, list[int], int]], inputs: list[np.ndarray], **options
) -> dict[str, np.ndarray]:
    """Several instructions on the same inputs, in one kernel.

    `instructions`: name -> (text with {d}, {a}, {b}, {c} for registers, bits of the operands, bits of the result).
    Each input has one element a thread; returns the result of each instruction as unsigned integers.
    """
    results: dict[str, np.ndarray] = {}
    items = list(instructions.items())
    for first in range(0, len(items), PER_KERNEL):
        results.update(one_kernel(dict(items[first : first + PER_KERNEL]), inputs, **options))
    return results


PER_KERNEL = 14


def one_kernel(instructions, inputs, **options) -> dict[str, np.ndarray]:
    threads = len(inputs[0])
    results = {name: np.zeros(threads, f"u{out // 8}") for name, (_, _, out) in instructions.items()}
    body = []
    names = "abc"
    for number, (text, widths, out) in enumerate(instructions.values()):
        registers = {}
        for n, bits in enumerate(widths):
            registers[names[n]] = f"{REGISTER_OF[bits]}{20 + n}"
            body.append(load(registers[names[n]], n, bits))
        registers["d"] = f"{REGISTER_OF[out]}{25}"
        body.append("  " + text.format(**registers) + ";")
        body.append(store(registers["d"], len(inputs) + number, out))
    names = [*("input" for _ in inputs), *instructions]
    run("\n".join(body), *inputs, *results.values(), threads=threads, names=names, **options)
    return results
