"""Kernels for operations in which threads talk to each other, run on the emulator; every thread's results are looked at.

A tile is read from memory in row-major order, an operation is applied, and what each register of each thread holds
afterwards is written out: threads that hold copies of an element must agree on it, to the bit. Where GPUs are tested
(see `tests.emulator.hardware`), the kernel runs on one, too, and must give the same.
"""

from __future__ import annotations

import contextlib
import random
from types import SimpleNamespace

import numpy as np

import tritium.dialects.all  # noqa: F401
from tests import sampling
from tests.backends.nvidia.texts import missing
from tests.emulator import hardware
from tritium.analysis import scratch_reduce  # noqa: F401
from tritium.analysis.scratch import scratch_bytes
from tritium.backends.nvidia.assembler import Assembler, assembler_options
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize
from tritium.conversion.ttg_to_llvm import ttg_to_llvm
from tritium.conversion.ttg_to_llvm.context import LOWERINGS
from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
from tritium.dialects import tt
from tritium.dialects.ttg_maps import linear_layout_of
from tritium.emulator import launch
from tritium.ir import IntegerAttr, TensorType, i32, parse_module, parse_type, verify

NUMPY = {
    "i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
POISON = 0xFB


def lower(text: str, capability: int = 90, **options) -> tuple[str, int]:
    """The PTX of a module and the bytes of shared memory it wants: each operation has scratch of its own."""
    module = parse_module(text)
    verify(module)
    top = 0
    for op in module.walk():
        size = scratch_bytes(op)
        if size:
            op.attributes["allocation.offset"] = IntegerAttr(top, i32)
            top += -(-size // 128) * 128
    wanted = SimpleNamespace(**{"enable_fp_fusion": True, "maxnreg": None, "num_warps": 4, **options})
    lowered = ttg_to_llvm(module, NVIDIATarget(capability), wanted)
    chip = NVPTXTarget.of(capability, None)
    return emit_ptx(optimize(lowered.text, chip), chip), top


@contextlib.contextmanager
def stores_of_everyone():
    """While this lasts, `tt.store` writes all registers of all threads: register r of thread t at t * registers + r."""

    def store(e, op):
        parts, ty = e(op.value), op.value.type
        if not isinstance(ty, TensorType) or getattr(op, "mask", None) is not None:
            usual(e, op)
            return
        from tritium.conversion.ttg_to_llvm.types import byte_width, llvm_type

        thread = e.op(f"or i32 {e.op(f'shl i32 {e.warp}, 5')}, {e.lane}")
        thread = e.op(f"add i32 {thread}, {e.op(f'mul i32 {e.block_id}, {32 * e.module.num_warps}')}")
        kind, size = llvm_type(ty), byte_width(ty)
        for r, part in enumerate(parts):
            if kind == "i1":
                part = e.op(f"zext i1 {part} to i8")
            at = e.op(f"add i32 {e.op(f'mul i32 {thread}, {len(parts)}')}, {r}")
            address = e.op(f"getelementptr i{8 * size}, ptr addrspace(1) {e(op.ptr)[0]}, i32 {at}")
            e.stmt(f"store {'i8' if kind == 'i1' else kind} {part}, ptr addrspace(1) {address}, align {size}")

    usual = LOWERINGS.find(tt.Store)
    LOWERINGS[tt.Store] = store
    try:
        yield
    finally:
        LOWERINGS[tt.Store] = usual


def module_text(body: str, warps: int, ctas: int = 1) -> str:
    return f"""module attributes {{"ttg.num-ctas" = {ctas} : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "cuda:90",
    "ttg.threads-per-warp" = 32 : i32}} {{
{body}
}}
"""


def tile(name: str, pointer: str, shape: tuple[int, ...], element: str, layout: str) -> str:
    """Operations that load the tile `%name` of row-major elements behind `%pointer`."""
    dims = "x".join(map(str, shape))
    offset, lines, stride = None, [], 1
    for d in reversed(range(len(shape))):
        of = layout
        removed = [k for k in range(len(shape)) if k != d]
        layouts = []
        for k in reversed(removed):
            layouts.append((k, of))
            of = f"#ttg.slice<{{dim = {k}, parent = {of}}}>"
        v, n = f"%{name}r{d}", shape[d]
        size = [n]
        lines.append(f"{v} = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, {of}>")
        for k, parent in reversed(layouts):
            before = f"tensor<{'x'.join(map(str, size))}xi32, #ttg.slice<{{dim = {k}, parent = {parent}}}>>"
            size.insert(k, 1)
            lines.append(f"{v}e{k} = tt.expand_dims {v} {{axis = {k} : i32}} : {before} -> "
                         f"tensor<{'x'.join(map(str, size))}xi32, {parent}>")  # fmt: skip
            v = f"{v}e{k}"
        ty = f"tensor<{dims}xi32, {layout}>"
        if tuple(size) != shape:
            small = f"tensor<{'x'.join(map(str, size))}xi32, {layout}>"
            lines.append(f"{v}b = tt.broadcast {v} : {small} -> {ty}")
            v += "b"
        lines.append(f"%{name}c{d} = arith.constant dense<{stride}> : {ty}")
        lines.append(f"%{name}m{d} = arith.muli {v}, %{name}c{d} : {ty}")
        if offset is not None:
            lines.append(f"%{name}s{d} = arith.addi {offset}, %{name}m{d} : {ty}")
        offset = f"%{name}m{d}" if offset is None else f"%{name}s{d}"
        stride *= n
    ptrs = f"tensor<{dims}x!tt.ptr<{element}>, {layout}>"
    lines += [
        f"%{name}p = tt.splat %{pointer} : !tt.ptr<{element}> -> {ptrs}",
        f"%{name}a = tt.addptr %{name}p, {offset} : {ptrs}, tensor<{dims}xi32, {layout}>",
        f"%{name} = tt.load %{name}a : {ptrs}",
    ]
    return "\n".join(lines)


def result(name: str, pointer: str, shape: tuple[int, ...], element: str, layout: str) -> str:
    """Operations that write what every thread holds of `%name`."""
    if not shape:
        shape, layout = (
            (1,),
            "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [WARPS], order = [0]CGA}>",
        )
        dims = "1"
        head = f"%{name}t = tt.splat %{name} : {element} -> tensor<1x{element}, {layout}>\n"
        name += "t"
    else:
        dims, head = "x".join(map(str, shape)), ""
    ptrs = f"tensor<{dims}x!tt.ptr<{element}>, {layout}>"
    return f"""{head}%{name}o = tt.splat %{pointer} : !tt.ptr<{element}> -> {ptrs}
tt.store %{name}o, %{name} : {ptrs}"""


class Run:
    """One kernel: tiles in, results out; `ptx` is what it became."""

    def __init__(self, warps: int, capability: int = 90, ctas: int = 1) -> None:
        self.warps, self.capability, self.ctas = warps, capability, ctas
        self.params: list[str] = []
        self.arrays: list[np.ndarray] = []
        self.head: list[str] = []
        self.tail: list[str] = []
        self.body = ""
        self.outs: list[tuple[np.ndarray, tuple[int, ...], str, str]] = []

    def take(self, name: str, array: np.ndarray, element: str, layout: str) -> None:
        """A tile `%name` that holds `array`."""
        pointer = self.pointer(array, element)
        self.head.append(tile(name, pointer, array.shape, element, layout))

    def pointer(self, array: np.ndarray, element: str) -> str:
        """An argument, the address of a copy-free array."""
        self.params.append(f"%arg{len(self.params)}: !tt.ptr<{element}>")
        self.arrays.append(array)
        return f"arg{len(self.params) - 1}"

    def give(self, name: str, shape: tuple[int, ...], element: str, layout: str) -> None:
        """All holders of `%name` are looked at."""
        registers = 1
        if shape:
            ty = parse_type(f"tensor<{'x'.join(map(str, shape))}x{element}, {layout}>")
            registers = linear_layout_of(ty).ins["register"]
        array = np.full((32 * self.warps * self.ctas, registers), POISON, np.uint8).astype(NUMPY[element])
        pointer = self.pointer(array, element)
        cga = f", CGALayout = {[[0]] * (self.ctas.bit_length() - 1)}" if self.ctas > 1 else ""
        self.tail.append(
            result(name, pointer, shape, element, layout).replace("WARPS", str(self.warps)).replace("CGA", cga)
        )
        self.outs.append((array, shape, element, layout))

    def text(self) -> str:
        body = "\n".join([*self.head, self.body, *self.tail])
        return module_text(
            f"tt.func public @k({', '.join(self.params)}) {{\n{body}\ntt.return\n}}", self.warps, self.ctas
        )

    def __call__(self, assemble: bool = False, **options) -> list[np.ndarray]:
        """Run; the results as tensors, after a check that all holders agree.

        With `assemble` NVIDIA's assembler must take the PTX, if there is one; in a sample, that of one call in three.
        """
        with stores_of_everyone():
            self.ptx, shared = lower(self.text(), self.capability)
        if assemble and missing("ptxas") is None and sampling.one_in(3, self.ptx):
            chip = NVPTXTarget.of(self.capability, None)
            Assembler(assembler_options(chip.name)).finish(self.ptx, "k")
        if self.ctas > 1:
            options["cluster"] = self.ctas
        given = [a.copy() for a in self.arrays]
        launch(self.ptx, (self.ctas,), list(self.arrays), shared_bytes=shared, check_uninitialized=True, **options)
        if hardware.wanted() and self.capability <= 90:
            given += [np.zeros(16, np.uint8)] * 2  # scratch in global memory, of the compiler and of profilers
            real = hardware.run(self.ptx, "k", self.ctas, 32 * self.warps, given, shared)
            hardware.compare(self.arrays, real[: len(self.arrays)], self.params)
        return [agreed(*out, self.warps) for out in self.outs]


def agreed(array: np.ndarray, shape: tuple[int, ...], element: str, layout: str, warps: int) -> np.ndarray:
    """The tensor that all threads together hold."""
    if not shape:
        assert len(np.unique(array.view(np.uint8).reshape(array.shape[0], -1), axis=0)) == 1, "threads disagree"
        return array[0, 0]
    ty = parse_type(f"tensor<{'x'.join(map(str, shape))}x{element}, {layout}>")
    linear = linear_layout_of(ty)
    out = np.zeros(shape, array.dtype)
    seen = np.zeros(shape, bool)
    for (t, r), value in np.ndenumerate(array):
        at = tuple(linear.apply(register=r, lane=t % 32, warp=t // 32 % warps, block=t // 32 // warps).values())
        if seen[at]:
            assert out[at].tobytes() == value.tobytes(), f"thread {t} register {r} has {value} at {at}, not {out[at]}"
        out[at], seen[at] = value, True
    assert seen.all()
    return out


def random_layout(rng: random.Random, shape: tuple[int, ...], warps: int, ctas: int = 1) -> str:
    """A `#ttg.linear` whose bases are the bits of the dimensions in any order."""
    units = [tuple(1 << i if k == d else 0 for k in range(len(shape)))
             for d, n in enumerate(shape) for i in range(n.bit_length() - 1)]  # fmt: skip
    if rng.random() < 0.7:
        rng.shuffle(units)
    threads = 5 + warps.bit_length() + ctas.bit_length() - 2
    registers = max(0, len(units) - threads + rng.randrange(2))
    zero = (0,) * len(shape)
    slots = units + [zero] * (registers + threads - len(units))
    if rng.random() < 0.6:
        rng.shuffle(slots)
    blocks = len(slots) - (ctas.bit_length() - 1)
    ends = {"register": (0, registers), "lane": (registers, registers + 5), "warp": (registers + 5, blocks)}
    parts = {name: slots[a:b] for name, (a, b) in {**ends, "block": (blocks, len(slots))}.items()}
    inner = ", ".join(f"{k} = {[list(v) for v in vs]}" for k, vs in parts.items())
    return f"#ttg.linear<{{{inner}}}>"


def named_layouts(warps: int) -> list[str]:
    """Layouts of two dimensions as the compiler makes them."""
    w = warps
    half = max(1, w // 2)
    mma = f"#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [{w // half}, {half}], instrShape = [16, 8]}}>"
    blocked = [
        ([1, 4], [4, 8], [w, 1], [1, 0]), ([1, 4], [1, 32], [1, w], [1, 0]), ([2, 2], [8, 4], [1, w], [0, 1]),
        ([4, 1], [32, 1], [w, 1], [0, 1]), ([1, 1], [2, 16], [half, w // half], [1, 0]),
    ]  # fmt: skip
    out = [
        f"#ttg.blocked<{{sizePerThread = {s}, threadsPerWarp = {t}, warpsPerCTA = {p}, order = {o}}}>"
        for s, t, p, o in blocked
    ]
    out += [
        mma,
        f"#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = 2}}>",
        f"#ttg.dot_op<{{opIdx = 1, parent = {mma}, kWidth = 2}}>",
    ]
    out.append(f"#ttg.dot_op<{{opIdx = 0, parent = {out[0]}}}>")
    return out
