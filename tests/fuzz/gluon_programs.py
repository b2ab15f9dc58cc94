"""Random programs in Gluon: layouts drawn at random for arithmetic, conversions, reductions, scans and shared memory.

    python -m tests.fuzz.gluon_programs --seed 1 --count 100

Each program is computed by NumPy, on an emulated H100 (which checks accesses, barriers and races), on the CPU and by the
interpreter; integers wrap around alike, so that all results are equal to the bit. With `--triton` the `ttgir` of each
program is compared with Triton's, and the emulator executes Triton's PTX. With `--arch gfx942` or `gfx1100` programs have
layouts, matrix instructions and buffer operations of that GPU, and run on it, emulated, alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.conformance.gluon_tutorials import comparable
from tritium.compiler import GPUTarget, compile
from tritium.compiler.gluon_source import GluonASTSource
from tritium.emulator import EmulationError, amdgcn, launch
from tritium.ir import parse_module, print_op
from tritium.ir.passes import PassManager
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.emulated_hip import EmulatedHIPDriver
from tritium.support import settings

__all__ = ["MACHINES", "Program", "check"]

MACHINES = ("emulated", "cpu", "interpreted")
LANES = {"": 32, "gfx942": 64, "gfx1100": 32}
"""The threads of a warp by architecture; "" is the H100."""
HEAD = """from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import mma_v2
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma, warpgroup_mma_wait


@gluon.jit
def add(a, b):
    return a + b


@gluon.jit
def kernel(x, y):
"""
Step = Callable[["Program"], None]


def _split(r: Random, total: int, parts: int) -> list[int]:
    """`total`, a power of two, as a product of `parts` powers of two."""
    out = [1] * parts
    for _ in range(total.bit_length() - 1):
        out[r.randrange(parts)] *= 2
    return out


def _bits(shape: tuple[int, ...]) -> list[list[int]]:
    """The basis vectors of a tensor's coordinates."""
    return [
        [1 << k if e == d else 0 for e in range(len(shape))]
        for d, n in enumerate(shape)
        for k in range(n.bit_length() - 1)
    ]


class Program:
    """The program of a seed: `source`, the input `x` and the result `want`; `arch` as in LANES."""

    def __init__(self, seed: int, arch: str = "") -> None:
        self.r = r = Random(seed)
        self.arch, self.lanes = arch, LANES[arch]
        self.hopper = seed % 4 == 3 and not arch  # may use wgmma, which runs on the emulated GPU alone
        self.seed = seed
        self.warps = r.choice([1, 2, 4, 8])
        self.shape: tuple[int, ...] = (r.choice([8, 16, 32, 64]), r.choice([8, 16, 32, 64]))
        if self.hopper:
            self.warps, self.shape = 4, (64, self.shape[1])
        self.dtype = r.choice([np.int32, np.int16, np.int8])
        self.lines: list[str] = []
        self.count = 0
        self.x = np.random.default_rng(seed).integers(-100, 100, self.shape).astype(self.dtype)
        self.value: np.ndarray = self.x.copy()
        self.layout = self.register_layout()
        buffers = bool(arch) and r.random() < 0.7
        self.line(
            f"v = gl.amd.cdna3.buffer_load(x, {self.addresses()})"
            if buffers
            else f"v = gl.load(x + {self.addresses()})"
        )
        for _ in range(r.randint(2, 7)):
            r.choice(STEPS)(self)
        if self.hopper:
            _wgmma(self)
        store = (
            f"gl.amd.cdna3.buffer_store(v, y, {self.addresses()})"
            if buffers
            else f"gl.store(y + {self.addresses()}, v)"
        )
        self.line(store)
        self.want = self.value
        self.source = HEAD + "".join(f"    {line}\n" for line in self.lines)

    # -- drawing --------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """A line of the kernel."""
        self.lines.append(text)

    def name(self, value: str) -> str:
        """A compile-time value under a new name."""
        self.count += 1
        self.line(f"c{self.count}: gl.constexpr = {value}")
        return f"c{self.count}"

    def register_layout(self) -> str:
        """A layout of tensors of the current shape."""
        r, rank = self.r, len(self.shape)
        kind = r.choice(["blocked", "blocked", "linear", "mma"])
        if kind == "mma" and rank == 2:
            return self.matrix_layout()
        if kind == "linear":
            bits = _bits(self.shape)
            r.shuffle(bits)
            zero = [0] * rank
            lanes, warps = self.lanes.bit_length() - 1, self.warps.bit_length() - 1
            bits += [zero] * max(0, lanes + warps - len(bits))
            r.shuffle(lead := bits[: lanes + warps])
            rest = bits[lanes + warps :]
            return self.name(
                f"gl.DistributedLinearLayout({rest}, {lead[:lanes]}, {lead[lanes:]}, [], {list(self.shape)})"
            )
        sizes = [min(n, 1 << r.randrange(4)) for n in self.shape]
        order = list(range(rank))
        r.shuffle(order)
        threads, warps = _split(r, self.lanes, rank), _split(r, self.warps, rank)
        return self.name(f"gl.BlockedLayout({sizes}, {threads}, {warps}, {order})")

    def matrix_layout(self) -> str:
        """A layout of the results of matrix instructions."""
        warps = _split(self.r, self.warps, 2)
        if not self.arch:
            return self.name(f"gl.NVMMADistributedLayout([2, 0], {warps}, [16, 8])")
        transposed = self.r.random() < 0.5
        if self.arch == "gfx942":
            shape = self.r.choice([[16, 16, 16], [32, 32, 8]])
            return self.name(f"gl.amd.AMDMFMALayout(3, {shape}, {transposed}, {warps})")
        bits = _bits((warps[0], warps[1]))
        self.r.shuffle(bits)
        return self.name(f"gl.amd.AMDWMMALayout(1, {transposed}, {bits})")

    def shared_layout(self, shape: tuple[int, ...]) -> str:
        """A layout of buffers of this shape."""
        r = self.r
        kind = r.choice(["swizzled", "swizzled", "nvmma", "linear", "padded"])
        order = r.choice([[0, 1], [1, 0]])
        row = shape[order[0]]
        if kind == "linear":
            bits = _bits(shape)
            r.shuffle(bits)
            return self.name(f"gl.SharedLinearLayout({bits})")
        if kind == "padded":
            interval = 1 << r.randrange(4, 7)
            return self.name(
                f"gl.PaddedSharedLayout.with_identity_for([[{interval}, {1 << r.randrange(1, 4)}]], {list(shape)}, {order})"
            )
        width = 8 * np.dtype(self.dtype).itemsize
        if kind == "nvmma" and not self.arch and shape[1] * width // 8 >= 32 and shape[0] >= 8:
            widths = [w for w in (32, 64, 128) if shape[1] * width // 8 >= w]
            return self.name(f"gl.NVMMASharedLayout({r.choice(widths)}, {width}, 2)")
        vec = 1 << r.randrange(min(4, row.bit_length() - 1) + 1)
        return self.name(
            f"gl.SwizzledSharedLayout({vec}, {1 << r.randrange(3)}, {1 << r.randrange((row // vec).bit_length())}, {order})"
        )

    def along(self, axis: int) -> str:
        """The coordinate along a dimension, in the current layout."""
        index = "[:, None]" if axis == 0 else "[None, :]"
        return f"gl.arange(0, {self.shape[axis]}, gl.SliceLayout({1 - axis}, {self.layout})){index}"

    def addresses(self) -> str:
        """Row-major offsets of the elements."""
        return f"{self.along(0)} * {self.shape[1]} + {self.along(1)}"

    def buffer(self, shape: tuple[int, ...], value: str = "") -> str:
        """A new buffer under a new name."""
        layout = self.shared_layout(shape)
        self.count += 1
        self.line(
            f"b{self.count} = gl.allocate_shared_memory(v.dtype, {list(shape)}, {layout}{', ' * bool(value)}{value})"
        )
        return f"b{self.count}"

    def wrapped(self, value: np.ndarray) -> None:
        """The new value, in the type of the elements."""
        self.value = value.astype(self.dtype)


# -- steps ------------------------------------------------------------------------------------------------------------


def _arithmetic(p: Program) -> None:
    k = p.r.randint(-5, 5)
    kind = p.r.choice(["mul", "max", "where", "coordinate"])
    wide = p.value.astype(np.int64)
    if kind == "mul":
        p.line(f"v = (v * {k} + {k + 1}).to(v.dtype)")
        p.wrapped(wide * k + k + 1)
    elif kind == "max":
        p.line(f"v = gl.maximum(v, gl.full({list(p.shape)}, {k}, v.dtype, {p.layout}))")
        p.wrapped(np.maximum(wide, k))
    elif kind == "where":
        p.line(f"v = gl.where(v > {k}, v, -v)")
        p.wrapped(np.where(wide > k, wide, -wide))
    else:
        axis = p.r.randrange(2)
        p.line(f"v = (v + {p.along(axis)}).to(v.dtype)")
        p.wrapped(wide + np.arange(p.shape[axis]).reshape((-1, 1) if axis == 0 else (1, -1)))


def _convert(p: Program) -> None:
    p.layout = p.register_layout()
    p.line(f"v = gl.convert_layout(v, {p.layout})")


def _reduce(p: Program) -> None:
    axis = p.r.randrange(2)
    kind = p.r.choice(["sum", "max", "min"])
    p.line(f"s = gl.{kind}(v, axis={axis}).to(v.dtype)")
    p.line(f"v = (v - s{'[None, :]' if axis == 0 else '[:, None]'}).to(v.dtype)")
    reduced = getattr(np, kind)(p.value.astype(np.int64), axis=axis, keepdims=True).astype(p.dtype)
    p.wrapped(p.value.astype(np.int64) - reduced)


def _scan(p: Program) -> None:
    axis, back = p.r.randrange(2), p.r.random() < 0.5
    p.line(f"v = gl.associative_scan(v, {axis}, add, reverse={back})")
    value = p.value.astype(np.int64)
    value = np.flip(value, axis) if back else value
    value = np.cumsum(value, axis)
    p.wrapped(np.flip(value, axis) if back else value)


def _round_trip(p: Program) -> None:
    b = p.buffer(p.shape, "v")
    if p.r.random() < 0.5:
        p.value, p.shape = np.ascontiguousarray(p.value.T), p.shape[::-1]
        b = f"{b}.permute([1, 0])"
    p.layout = p.register_layout()
    p.line(f"v = {b}.load({p.layout})")


def _index(p: Program) -> None:
    layout = p.shared_layout(p.shape)
    if "Padded" in p.lines[-1] or "SharedLinear" in p.lines[-1]:
        return
    p.count += 1
    b, first = f"b{p.count}", p.r.randrange(3)
    p.line(f"{b} = gl.allocate_shared_memory(v.dtype, [3, {p.shape[0]}, {p.shape[1]}], {layout})")
    p.line(f"{b}.index({first}).store(v)")
    p.line(f"{b}.index({(first + 1) % 3}).store(v + 1)")
    p.layout = p.register_layout()
    p.line(f"v = {b}.index({first}).load({p.layout}) + {b}.index({(first + 1) % 3}).load({p.layout})")
    p.wrapped(2 * p.value.astype(np.int64) + 1)


def _gather(p: Program) -> None:
    axis, n = (a := p.r.randrange(2)), p.shape[a]
    b = p.buffer(p.shape, "v")
    scatter = p.r.random() < 0.5
    mask = p.r.randrange(n)
    p.line(f"i = ({p.along(axis)} ^ {mask}) + gl.zeros({list(p.shape)}, gl.int32, {p.layout})")
    if scatter:
        p.line("gl.barrier()")
        p.line(f"{b}.scatter(v + 3, i, {axis})")
        p.line(f"v = {b}.load({p.layout})")
        p.wrapped(p.value.astype(np.int64) + 3)
    else:
        p.line(f"v = {b}.gather(i, {axis})")
    p.value = np.take(p.value, np.arange(n) ^ mask, axis)


def _tensor_gather(p: Program) -> None:
    axis = p.r.randrange(2)
    mask = p.r.randrange(p.shape[axis])
    p.line(f"i = ({p.along(axis)} ^ {mask}) + gl.zeros({list(p.shape)}, gl.int32, {p.layout})")
    p.line(f"v = gl.gather(v, i, {axis})")
    p.value = np.take(p.value, np.arange(p.shape[axis]) ^ mask, axis)


def _matmul(p: Program) -> None:
    """v & 7 times its transpose, by mma.sync, MFMA or WMMA."""
    rows, columns = p.shape
    if rows < 16 or columns < 16:
        return
    mma = p.matrix_layout()
    width, function = {"": (2, "mma_v2"), "gfx942": (4, "gl.amd.cdna3.mfma"), "gfx1100": (16, "gl.amd.rdna3.wmma")}[
        p.arch
    ]
    p.line("w = (v & 7).to(gl.float16)")
    p.line(f"left = gl.convert_layout(w, gl.DotOperandLayout(0, {mma}, {width}))")
    p.line(f"right = gl.convert_layout(gl.permute(w, [1, 0]), gl.DotOperandLayout(1, {mma}, {width}))")
    p.line(f"acc = {function}(left, right, gl.zeros([{rows}, {rows}], gl.float32, {mma}))")
    _accumulated(p, mma)


def _accumulated(p: Program, mma: str) -> None:
    p.line("v = acc.to(gl.int32).to(v.dtype)")
    few = (p.value & 7).astype(np.int64)
    p.layout, p.shape = mma, (p.shape[0],) * 2
    p.wrapped(few @ few.T)


def _wgmma(p: Program) -> None:
    """The same by wgmma: the right operand in shared memory, the left one there or in registers."""
    rows, columns = p.shape
    if rows != 64 or columns < 16 or p.warps != 4 or not p.hopper:
        return
    mma = p.name(f"gl.NVMMADistributedLayout([3, 0], [4, 1], [16, {p.r.choice([8, 16, 32, 64])}, 16])")
    width = p.r.choice([w for w in (32, 64, 128) if w <= 2 * columns])
    shared = p.name(f"gl.NVMMASharedLayout({width}, 16, 2)")
    p.count += 1
    left = b = f"b{p.count}"
    p.line("w = (v & 7).to(gl.float16)")
    p.line(f"{b} = gl.allocate_shared_memory(gl.float16, {list(p.shape)}, {shared}, w)")
    p.line("fence_async_shared()")
    if p.r.random() < 0.5:
        left = f"gl.convert_layout(w, gl.DotOperandLayout(0, {mma}, 2))"
    waits = p.r.random() < 0.5
    zeros = f"gl.zeros([64, 64], gl.float32, {mma})"
    p.line(f"acc = warpgroup_mma({left}, {b}.permute([1, 0]), {zeros}, is_async={waits})")
    if waits:
        p.line("acc = warpgroup_mma_wait(0, (acc,))")
    _accumulated(p, mma)


STEPS: list[Step] = [
    _arithmetic,
    _convert,
    _convert,
    _reduce,
    _scan,
    _round_trip,
    _round_trip,
    _index,
    _gather,
    _tensor_gather,
    _matmul,
    _wgmma,
]


# -- running ----------------------------------------------------------------------------------------------------------


def _kernel(program: Program, folder: str) -> Any:
    path = Path(folder) / f"gluon_{program.seed}.py"
    path.write_text(program.source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def check(seed: int, machines: tuple[str, ...] = MACHINES, arch: str = "") -> None:
    """Run the program of a seed on each machine. AssertionError with the source where a result differs."""
    program = Program(seed, arch)
    with tempfile.TemporaryDirectory() as folder:
        kernel = _kernel(program, folder)
        for machine in ("emulated",) if program.hopper or arch else machines:
            y = np.full(program.want.shape, 77, program.dtype)
            interpret = settings.runtime.interpret
            if machine == "emulated":
                driver.set_active(EmulatedHIPDriver(arch) if arch else EmulatedCUDADriver(90))
            settings.runtime.interpret = machine == "interpreted"
            try:
                kernel[(1,)](program.x, y, num_warps=program.warps)
            except Exception as error:
                raise AssertionError(f"seed {seed} on {machine}: {error}\n{program.source}") from error
            finally:
                settings.runtime.interpret = interpret
                if machine == "emulated":
                    driver.reset_active()
            wrong = np.count_nonzero(y != program.want)
            assert not wrong, f"seed {seed} on {machine}: {wrong} of {y.size} elements differ\n{program.source}"


_COMPILE_BY_TRITON = """
import importlib.util, json, sys
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource

target, jobs = json.load(sys.stdin)
for path, ty, warps in jobs:
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = GluonASTSource(module.kernel, {"x": ty, "y": ty}, {}, {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]})
    try:
        made = compile(source, target=GPUTarget(*target), options={"num_warps": warps})
        print(json.dumps([made.asm["ptx" if target[0] == "cuda" else "amdgcn"], made.metadata.shared, made.asm["ttgir"], ""]), flush=True)
    except Exception as error:
        print(json.dumps(["", 0, "", str(error)[:400]]), flush=True)
"""


def _target(arch: str) -> GPUTarget:
    return GPUTarget("hip", arch, LANES[arch]) if arch else GPUTarget("cuda", 90, 32)


def check_triton(seeds: list[int], interpreter: str, arch: str = "") -> list[str]:
    """Compare the `ttgir` that Triton compiles from the programs of the seeds with ours, without names and places, and
    execute its code on the emulator; what is wrong."""
    programs = [Program(seed, arch) for seed in seeds]
    target = _target(arch)
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for program in programs:
            path = Path(folder) / f"gluon_{program.seed}.py"
            path.write_text(program.source.replace("tritium.", "triton."))
            jobs.append((str(path), f"*i{8 * np.dtype(program.dtype).itemsize}", program.warps))
        environment = {**os.environ, "TRITON_CACHE_DIR": f"{folder}/cache"}
        command = [interpreter, "-c", _COMPILE_BY_TRITON]
        done = subprocess.run(
            command,
            input=json.dumps([[target.backend, target.arch, target.warp_size], jobs]),
            capture_output=True,
            text=True,
            env=environment,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(answers) == len(programs), done.stderr[-2000:]
    return [wrong for program, answer in zip(programs, answers) if (wrong := _judged(program, *answer))]


def _ttgir(program: Program) -> str:
    """The `ttgir` of a program by this compiler."""
    ty = f"*i{8 * np.dtype(program.dtype).itemsize}"
    aligned: Any = {(i,): [["tt.divisibility", 16]] for i in (0, 1)}
    with tempfile.TemporaryDirectory() as folder:
        source = GluonASTSource(_kernel(program, folder), {"x": ty, "y": ty}, {}, aligned)
        made = compile(source, target=_target(program.arch), options={"num_warps": program.warps}, until="ttgir")
        return str(made.asm["ttgir"])


_TOTAL_WARPS = re.compile(r', "ttg.total-num-warps" = \d+ : i32')  # which Triton counts in this stage on AMD GPUs


def _simplified(ttgir: str) -> str:
    """Triton's `ttgir` by this compiler's canonicalizer, which folds more arithmetic."""
    module = parse_module(ttgir)
    PassManager("canonicalize{keep-layouts=true},cse,canonicalize{keep-layouts=true}").run(module)
    return print_op(module)


def _judged(program: Program, code: str, shared: int, ttgir: str, error: str) -> str:
    ttgir = _TOTAL_WARPS.sub("", ttgir)
    if not error and comparable(_ttgir(program)) not in (comparable(ttgir), comparable(_simplified(ttgir))):
        return f"seed {program.seed}: its ttgir is not Triton's"
    if error and "associative_scan" in program.source:
        return ""  # Triton 3.9 scans tensors in blocked layouts only
    if error:
        return f"seed {program.seed}: Triton refuses: {error}"
    y = np.full(program.want.shape, 77, program.dtype)
    try:
        run = amdgcn.launch if program.arch else launch
        run(code, 1, [program.x, y], shared_bytes=shared)
    except EmulationError as found:
        if "PaddedSharedLayout" in program.source and "which is not a multiple of" in str(found):
            return ""  # Triton 3.9 accesses vectors across paddings that do not align them
        return f"seed {program.seed} by Triton: {found}"
    return "" if np.array_equal(y, program.want) else f"seed {program.seed} by Triton: elements differ"


def main() -> int:
    """The command line; returns the number of programs that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--machines", nargs="+", default=list(MACHINES), choices=MACHINES)
    parser.add_argument("--arch", choices=[name for name in LANES if name], default="", help="an AMD GPU instead")
    parser.add_argument("--triton", metavar="PYTHON", help="compare with this interpreter's Triton 3.9 instead")
    args = parser.parse_args()
    failed = 0
    if args.triton:
        wrong = check_triton(list(range(args.seed, args.seed + args.count)), args.triton, args.arch)
        print(*wrong, f"{args.count} programs by Triton, {len(wrong)} failed", sep="\n")
        return len(wrong)
    for seed in range(args.seed, args.seed + args.count):
        try:
            check(seed, tuple(args.machines), args.arch)
        except AssertionError as error:
            failed += 1
            print(error, flush=True)
    print(f"{args.count} programs, {failed} failed", flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
