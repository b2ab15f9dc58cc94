"""Kernels of AMDGCN assembly for the tests, written around a few instructions, and run on arrays."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess

import numpy as np

from tritium.emulator.amdgcn import launch

CHIPS = ("gfx942", "gfx1100")
#: Of floats of 32 bits: zeros, ones, denormals, the largest, infinities, NaNs, and some others.
SPECIAL_FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-40, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan]
    + [3.14159, -2.71828, 0.1, 255.5, -7.5, 2.5, 1e10, -1e-10, 16777217.0, 1.5],
    np.float32,
)
SPECIAL_INTEGERS = np.array(
    [0, 1, 2, 31, 32, 63, 0x7F, 0x80, 0xFF, 0xFFFF, 0x8000, 0x7FFF, 0xFFFFFF, 0x800000, 0x7FFFFFFF, 0x80000000]
    + [0xFFFFFFFF, 0xFFFFFFFE, 0x12345678, 0xDEADBEEF, 0x00FF00FF, 0xAAAAAAAA],
    np.uint32,
)


def lanes_of(chip: str) -> int:
    return 64 if chip == "gfx942" else 32


def kernel(
    body: str,
    chip: str = "gfx942",
    *,
    arrays: int = 4,
    threads: int | None = None,
    lds: int = 0,
    scratch: int = 0,
    registers: int = 128,
    accumulators: int = 0,
    denormals: int = 3,
    directives: str = "",
) -> str:
    """A kernel `k` of `arrays` pointers in s[8:9], s[10:11], …; v0 is the work-item, s4 the workgroup."""
    wide = chip == "gfx942"
    load = "s_load_dwordx2" if wide else "s_load_b64"
    loads = "\n".join(f"\t{load} s[{8 + 2 * n}:{9 + 2 * n}], s[0:1], {8 * n:#x}" for n in range(arrays))
    rows = "".join(
        f"      - .address_space: global\n        .offset: {8 * n}\n        .size: 8\n        .value_kind: global_buffer\n"
        for n in range(arrays)
    )
    total = registers + accumulators
    return f"""
\t.amdgcn_target "amdgcn-amd-amdhsa--{chip}"
{directives}
\t.text
\t.p2align 8
k:
{loads}
\ts_waitcnt lgkmcnt(0)
{body}
\ts_endpgm
.Lend:
\t.section .rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_group_segment_fixed_size {lds}
\t\t.amdhsa_private_segment_fixed_size {scratch}
\t\t.amdhsa_kernarg_size {8 * arrays}
\t\t.amdhsa_user_sgpr_count 4
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_system_sgpr_workgroup_id_x 1
\t\t.amdhsa_next_free_vgpr {total}
\t\t.amdhsa_next_free_sgpr 100
\t\t{f".amdhsa_accum_offset {registers}" if wide else ".amdhsa_wavefront_size32 1"}
\t\t.amdhsa_float_denorm_mode_32 {denormals}
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
{rows}    .group_segment_fixed_size: {lds}
    .kernarg_segment_align: 8
    .kernarg_segment_size: {8 * arrays}
    .max_flat_workgroup_size: {threads or lanes_of(chip)}
    .name: k
    .private_segment_fixed_size: {scratch}
    .sgpr_count: 100
    .symbol: k.kd
    .vgpr_count: {total}
    .wavefront_size: {lanes_of(chip)}
amdhsa.version:
  - 1
  - 2
...
\t.end_amdgpu_metadata
"""


ASSEMBLE = """
import json, sys
from triton.backends.amd.compiler import assemble_amdgcn
for line in sys.stdin:
    text, chip = json.loads(line)
    try:
        assemble_amdgcn(text, chip, "")
        print(json.dumps(""), flush=True)
    except Exception as error:
        print(json.dumps(str(error) or "refused"), flush=True)
"""


@functools.cache
def assembler() -> subprocess.Popen[str] | None:
    """A process that assembles with Triton's LLVM, where `TRITIUM_TEST_TRITON` names an interpreter that has it."""
    interpreter = os.environ.get("TRITIUM_TEST_TRITON")
    if not interpreter:
        return None
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([interpreter, "-P", "-c", ASSEMBLE], text=True, **pipes)
    atexit.register(process.kill)
    return process


def accepted(text: str, chip: str) -> None:
    """LLVM's assembler, where there is one, takes the text: what we emulate is AMDGCN."""
    process = assembler()
    if process is None:
        return
    text = text.replace(f'\t.amdgcn_target "amdgcn-amd-amdhsa--{chip}"', "")
    process.stdin.write(json.dumps([text, chip]) + "\n")
    process.stdin.flush()
    refused = json.loads(process.stdout.readline())
    assert not refused, refused + text


def run(
    body: str,
    *arrays: np.ndarray,
    chip: str = "gfx942",
    grid: int = 1,
    check_races: bool = True,
    assemble: bool = True,
    **options,
):
    """Run a kernel of `body` on the arrays; returns the report."""
    text = kernel(body, chip, arrays=len(arrays), **options)
    if assemble:
        accepted(text, chip)
    return launch(text, grid, arrays, check_races=check_races)


def dword(chip: str, count: int = 1) -> str:
    """The suffix of an access of `count` dwords."""
    if chip == "gfx942":
        return "dword" if count == 1 else f"dwordx{count}"
    return f"b{32 * count}"


def vector(instruction: str, *inputs: np.ndarray, chip: str = "gfx942", words: int = 1, setup: str = "", **options):
    """Execute vector instructions, an element a lane: inputs in v10, v14, v18, …, the result in v40, as 32-bit words.

    Inputs of 64 bits take two registers. Returns an array of `words` words an element.
    """
    count = len(inputs[0])
    threads = -(-count // lanes_of(chip)) * lanes_of(chip)
    assert threads <= 1024
    lines, arrays = [], []
    for n, values in enumerate(inputs):
        raw = np.ascontiguousarray(values)
        size = raw.dtype.itemsize // 4
        padded = np.zeros(threads * size, np.uint32)
        padded[: count * size] = raw.view(np.uint32)
        arrays.append(padded)
        first = 10 + 4 * n
        register = f"v{first}" if size == 1 else f"v[{first}:{first + size - 1}]"
        lines.append(f"\tv_mul_u32_u24_e32 v1, {4 * size}, v0")
        lines.append(f"\tglobal_load_{dword(chip, size)} {register}, v1, s[{8 + 2 * n}:{9 + 2 * n}]")
    out = np.full(threads * words, 0xDEADBEEF, np.uint32)
    arrays.append(out)
    result = "v40" if words == 1 else f"v[40:{39 + words}]"
    n = len(inputs)
    body = "\n".join(
        [
            *lines,
            "\ts_waitcnt vmcnt(0)",
            "\tv_mov_b32_e32 v40, 0x12345678",
            setup,
            f"\t{instruction}",
            f"\tv_mul_u32_u24_e32 v1, {4 * words}, v0",
            f"\tglobal_store_{dword(chip, words)} v1, {result}, s[{8 + 2 * n}:{9 + 2 * n}]",
        ]
    )
    run(body, *arrays, chip=chip, threads=threads, **options)
    return out[: count * words].reshape(count, words) if words > 1 else out[:count]


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of values."""
    a, b = np.meshgrid(values, values)
    return a.ravel().copy(), b.ravel().copy()


def scalar(instruction: str, *inputs: np.ndarray, chip: str = "gfx942", words: int = 1, scc: bool = False):
    """Execute a scalar instruction, an element a workgroup: inputs in s20, s24, s28, the result in s40 and SCC in s42."""
    load = {1: "s_load_dword", 2: "s_load_dwordx2"} if chip == "gfx942" else {1: "s_load_b32", 2: "s_load_b64"}
    lines, arrays = [], []
    for n, values in enumerate(inputs):
        raw = np.ascontiguousarray(values)
        size = raw.dtype.itemsize // 4
        arrays.append(raw.view(np.uint32))
        register = f"s{20 + 4 * n}" if size == 1 else f"s[{20 + 4 * n}:{21 + 4 * n}]"
        lines += [f"\ts_mul_i32 s60, s4, {4 * size}", f"\t{load[size]} {register}, s[{8 + 2 * n}:{9 + 2 * n}], s60"]
    count = len(inputs[0])
    out = np.full((count, 4), 0xDEADBEEF, np.uint32)
    arrays.append(out)
    n = len(inputs)
    lines += ["\ts_waitcnt lgkmcnt(0)", "\ts_cmp_eq_u32 s4, s4" if scc else "\ts_cmp_lg_u32 s4, s4"]
    lines += ["\ts_mov_b32 s41, 0", f"\t{instruction}", "\ts_cselect_b32 s42, 1, 0"]
    lines += [
        "\tv_mov_b32_e32 v2, s40",
        "\tv_mov_b32_e32 v3, s41",
        "\tv_mov_b32_e32 v4, s42",
        "\ts_lshl_b32 s60, s4, 4",
    ]
    lines += ["\tv_mov_b32_e32 v1, s60"]
    lines += [f"\tglobal_store_{dword(chip, 3)} v1, v[2:4], s[{8 + 2 * n}:{9 + 2 * n}]"]
    run("\n".join(lines), *arrays, chip=chip, grid=count)
    value = out[:, 0] if words == 1 else np.ascontiguousarray(out[:, :2]).view(np.uint64)[:, 0]
    return value, out[:, 2].astype(bool)
