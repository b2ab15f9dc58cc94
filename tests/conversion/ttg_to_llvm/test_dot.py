"""Products on GPUs: every instruction and type in the emulator, against NumPy.

Operands are loaded right into the layouts that products take them in, so that nothing but the product is tested here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conversion.test_narrow_floats import value_of
from tests.conversion.ttg_to_llvm.harness import Gpu, from_ttgir
from tritium.ir import PassManager, parse_module, print_op
from tritium.support import UnsupportedOperation

BITS = {"f8E5M2": np.uint8, "f8E4M3FN": np.uint8, "bf16": np.uint16}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32}


def array_type(element: str) -> Any:
    return BITS.get(element) or NUMPY[element]


def numbers(x: np.ndarray, element: str) -> np.ndarray:
    """What an array of an element type holds, as f64."""
    if element == "bf16":
        return (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if element in BITS:
        return np.array([value_of(p, element) for p in range(256)])[x]
    return x.astype(np.float64)


def as_element(x: np.ndarray, element: str) -> np.ndarray:
    """Small whole numbers as bits of an element type."""
    if element == "bf16":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if element in BITS:
        table = {value_of(p, element): p for p in range(255, -1, -1)}
        return np.vectorize(table.__getitem__, otypes=[np.uint8])(x + 0.0)
    return x.astype(NUMPY[element])


def places(name: str, shape: tuple[int, ...], layout: str, element: str) -> list[str]:
    """Lines that make %p<name>, the addresses of a tensor in row-major order at %<name>."""
    rank, lines, total = len(shape), [], ""
    full = "x".join(map(str, shape))
    for d in range(rank):
        kept = [d]
        inner = layout
        for gone in sorted(set(range(rank)) - {d}, reverse=True):
            inner = f"#ttg.slice<{{dim = {gone}, parent = {inner}}}>"
        stride = int(np.prod(shape[d + 1 :]))
        index, ty = f"%{name}{d}", f"tensor<{shape[d]}xi32, {inner}>"
        lines.append(f"{index}r = tt.make_range {{start = 0 : i32, end = {shape[d]} : i32}} : {ty}")
        lines.append(f"{index}s = arith.constant dense<{stride}> : {ty}")
        lines.append(f"{index}_ = arith.muli {index}r, {index}s : {ty}")
        for axis in range(rank):
            if axis == d:
                continue
            kept = sorted([*kept, axis])
            outer = layout
            for gone in sorted(set(range(rank)) - set(kept), reverse=True):
                outer = f"#ttg.slice<{{dim = {gone}, parent = {outer}}}>"
            dims = "x".join(str(shape[k]) if k == d else "1" for k in kept)
            new = f"tensor<{dims}xi32, {outer}>"
            lines.append(
                f"{index}_{axis} = tt.expand_dims {index}_ {{axis = {kept.index(axis)} : i32}} : {ty} -> {new}"
            )
            lines[-1] = lines[-1].replace(f"expand_dims {index}_ ", f"expand_dims {previous(index, d, axis)} ")
            ty = new
        last = previous(index, d, rank)
        wide = f"tensor<{full}xi32, {layout}>"
        lines.append(f"{index}w = tt.broadcast {last} : {ty} -> {wide}")
        if total:
            lines.append(f"{index}t = arith.addi {total}, {index}w : {wide}")
        total = f"{index}t" if total else f"{index}w"
    pointers = f"tensor<{full}x!tt.ptr<{element}>, {layout}>"
    lines.append(f"%{name}b = tt.splat %{name} : !tt.ptr<{element}> -> {pointers}")
    lines.append(f"%p{name} = tt.addptr %{name}b, {total} : {pointers}, tensor<{full}xi32, {layout}>")
    return lines


def previous(index: str, d: int, axis: int) -> str:
    """The name of the index once it has all axes before `axis`."""
    done = [k for k in range(axis) if k != d]
    return f"{index}_{done[-1]}" if done else f"{index}_"


def program(
    types: tuple[str, str, str], shape: tuple[int, ...], result: str, k_width: int, how: str = "", attributes: str = ""
) -> str:
    """A kernel that loads a, b and c into the layouts of a product, and stores a @ b + c."""
    *batch, m, n, k = shape
    width = f", kWidth = {k_width}" if k_width else ""
    layouts = [f"#ttg.dot_op<{{opIdx = {i}, parent = #r{width}}}>" for i in range(2)] + ["#r"]
    shapes = [(*batch, m, k), (*batch, k, n), (*batch, m, n)]
    tensors = [f"tensor<{'x'.join(map(str, s))}x{t}, {at}>" for s, t, at in zip(shapes, types, layouts)]
    lines = []
    for name, s, t, at in zip("abc", shapes, types, layouts):
        lines += places(name, s, at, t)
        lines.append(f"%{name}v = tt.load %p{name} : tensor<{'x'.join(map(str, s))}x!tt.ptr<{t}>, {at}>")
    lines.append(f"%d = tt.dot %av, %bv, %cv{how}{attributes} : {tensors[0]} * {tensors[1]} -> {tensors[2]}")
    lines.append(f"tt.store %pc, %d : tensor<{'x'.join(map(str, shapes[2]))}x!tt.ptr<{types[2]}>, #r>")
    arguments = ", ".join(f"%{name}: !tt.ptr<{t}> {{tt.divisibility = 16 : i32}}" for name, t in zip("abc", types))
    body = "\n    ".join([*lines, "tt.return"])
    head = (
        '"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32'
    )
    return (
        f"#r = {result}\nmodule attributes {{{head}}} {{\n  tt.func public @k({arguments}) {{\n    {body}\n  }}\n}}\n"
    )


def mma(warps: str, tile: str = "16, 8") -> str:
    return f"#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [{warps}], instrShape = [{tile}]}}>"


def random_operands(types: tuple[str, str, str], shape: tuple[int, ...], most: int = 4) -> list[np.ndarray]:
    """Whole numbers that every type can hold, and whose sums are exact."""
    *batch, m, n, k = shape
    rng = np.random.default_rng(sum(shape))
    shapes = [(*batch, m, k), (*batch, k, n), (*batch, m, n)]
    return [as_element(rng.integers(-most, most + 1, s).astype(float), t) for s, t in zip(shapes, types)]


def check(gpu: Gpu, types: tuple[str, str, str], operands: list[np.ndarray]) -> None:
    a, b, c = (numbers(x, t) for x, t in zip(operands, types))
    arrays = [x.copy() for x in operands]
    gpu.launch(1, *arrays)
    np.testing.assert_array_equal(numbers(arrays[2], types[2]), a @ b + c)


FP8 = ("f8E5M2", "f8E4M3FN")
CASES = [  # types, kWidth, capability, instruction, its depth
    (("f16", "f16", "f32"), 2, 80, "m16n8k16.row.col.f32.f16.f16.f32"),
    (("f16", "f16", "f16"), 2, 80, "m16n8k16.row.col.f16.f16.f16.f16"),
    (("bf16", "bf16", "f32"), 2, 80, "m16n8k16.row.col.f32.bf16.bf16.f32"),
    (("f32", "f32", "f32"), 1, 80, "m16n8k8.row.col.f32.tf32.tf32.f32"),
    (("i8", "i8", "i32"), 4, 80, "m16n8k32.row.col.s32.s8.s8.s32"),
    (("f64", "f64", "f64"), 1, 80, "m8n8k4.row.col.f64.f64.f64.f64"),
    (("f64", "f64", "f64"), 1, 90, "(m16n8k16|m8n8k4).row.col.f64.f64.f64.f64"),
    *(((a, b, "f32"), 4, 89, f"m16n8k32.row.col.f32.{a[2:6].lower()}.{b[2:6].lower()}.f32") for a in FP8 for b in FP8),
    ((FP8[0], FP8[1], "f16"), 4, 89, "m16n8k32.row.col.f16.e5m2.e4m3.f16"),
    (("f16", "f16", "f32"), 4, 80, "m16n8k16.row.col.f32.f16.f16.f32"),
    (("f16", "f16", "f32"), 1, 80, "m16n8k16.row.col.f32.f16.f16.f32"),
    (("bf16", "bf16", "f32"), 8, 80, "m16n8k16.row.col.f32.bf16.bf16.f32"),
]


@pytest.mark.parametrize(("types", "k_width", "capability", "name"), CASES, ids=lambda v: str(v))
def test_instructions(types: tuple[str, str, str], k_width: int, capability: int, name: str) -> None:
    """Each instruction, with as many neighbours along K as a narrower type gives, too; K shorter than it needs."""
    how = ", inputPrecision = tf32" if types[0] == "f32" else ""
    attributes = " {maxNumImpreciseAcc = 1073741824 : i32}"
    tile = "8, 8" if types[0] == "f64" else "16, 8"
    for shape, warps in (((32, 16, 64), "2, 2"), ((16, 64, 32), "1, 4"), ((16, 8, 8), "4, 1"), ((8, 4, 16), "2, 2")):
        gpu = from_ttgir(program(types, shape, mma(warps, tile), k_width, how, attributes), capability)
        assert gpu.count(f"mma.sync.aligned.{name}") == gpu.count("mma.sync") > 0
        check(gpu, types, random_operands(types, shape))


@pytest.mark.parametrize(("types", "k_width", "capability", "name"), CASES[:5:2], ids=lambda v: str(v))
def test_batches(types: tuple[str, str, str], k_width: int, capability: int, name: str) -> None:
    for warps in ("4, 1, 1", "2, 1, 2"):
        shape = (4, 16, 16, 32)
        check(
            from_ttgir(program(types, shape, mma(warps, "1, 16, 8"), k_width), capability),
            types,
            random_operands(types, shape),
        )


@pytest.mark.parametrize(("bound", "adds"), [(0, 4), (32, 4), (64, 2), (128, 0), (1 << 30, 0)])
def test_sums_of_fp8_are_bounded(bound: int, adds: int) -> None:
    """As many products as said are summed by the tensor cores, partial sums as f32: 128 along K, 32 an instruction."""
    types, shape = ("f8E4M3FN", "f8E4M3FN", "f32"), (16, 8, 128)
    text = program(types, shape, mma("4, 1"), 4, attributes=f" {{maxNumImpreciseAcc = {bound} : i32}}")
    gpu = from_ttgir(text, 89)
    assert gpu.count("mma.sync") == 4 and gpu.count("add.*f32") == 4 * adds
    check(gpu, types, random_operands(types, shape))


BLOCKED = [
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>",
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>",
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>",
]
FMA = [
    ("f32", "f32", "f32"),
    ("f64", "f64", "f64"),
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "bf16"),
    ("bf16", "bf16", "f32"),
    ("i32", "i32", "i32"),
    ("i8", "i8", "i32"),
    ("i16", "i16", "i32"),
]


@pytest.mark.parametrize("types", FMA, ids=lambda v: "-".join(v))
def test_multiply_and_add(types: tuple[str, str, str]) -> None:
    for layout, shape, capability in zip(BLOCKED, ((16, 16, 8), (4, 2, 16), (1, 1, 4)), (75, 90, 75)):
        gpu = from_ttgir(program(types, shape, layout, 0), capability)
        assert gpu.count("mma.sync") == 0
        check(gpu, types, random_operands(types, shape, 2))


def test_batches_of_blocked_products() -> None:
    layout = "#ttg.blocked<{sizePerThread = [1, 2, 2], threadsPerWarp = [2, 4, 4], warpsPerCTA = [2, 1, 2], order = [2, 1, 0]}>"
    types, shape = ("f32", "f32", "f32"), (4, 8, 8, 4)
    check(from_ttgir(program(types, shape, layout, 0)), types, random_operands(types, shape))


def test_fused_or_not() -> None:
    text = program(("f32", "f32", "f32"), (16, 16, 8), BLOCKED[0], 0)
    assert from_ttgir(text).count("fma.rn.f32") == 8 * 4
    apart = from_ttgir(text, enable_fp_fusion=False)
    assert apart.count("fma") == 0 and apart.count("mul.*f32") == 8 * 4


def test_sums_of_halves_are_rounded_once() -> None:
    """Rounded at every step, 2048 + 1 + 1 would stay 2048."""
    types, shape = ("f16", "f16", "f16"), (16, 16, 16)
    operands = [np.ones((16, 16), np.float16), np.ones((16, 16), np.float16), np.full((16, 16), 2048, np.float16)]
    check(from_ttgir(program(types, shape, BLOCKED[0], 0)), types, operands)


def test_what_is_added_to_products_of_integers_wraps_around() -> None:
    """By instructions for it, and by multiplying and adding. (Triton's products stop at the largest.)"""
    types, shape = ("i8", "i8", "i32"), (16, 8, 32)
    a, b = np.full((16, 32), 127, np.int8), np.full((32, 8), 127, np.int8)
    wanted = -(2**31) + 127 * 127 * 32 - 6
    for result in (mma("4, 1"), BLOCKED[0]):
        c = np.full((16, 8), 2**31 - 6, np.int32)
        widths = 4 if "mma" in result else 0
        program_types = types if widths else ("i32", "i32", "i32")
        operands = [a, b] if widths else [a.astype(np.int32), b.astype(np.int32)]
        from_ttgir(program(program_types, shape, result, widths)).launch(1, *operands, c)
        assert (c == wanted).all()


def test_tf32_takes_the_upper_bits() -> None:
    """An f32 operand counts with 10 bits behind the point."""
    types, shape = ("f32", "f32", "f32"), (16, 8, 8)
    gpu = from_ttgir(program(types, shape, mma("4, 1"), 1, ", inputPrecision = tf32"))
    a = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)
    b, c = np.eye(8, dtype=np.float32), np.zeros((16, 8), np.float32)
    gpu.launch(1, a, b, c)
    assert np.abs(c - a).max() <= np.abs(a).max() * 2.0**-10


@pytest.mark.parametrize(
    ("types", "capability", "how", "why"),
    [
        (("f16", "bf16", "f32"), 80, "", "of f16 and bf16 with accumulator type f32 has no mma.sync instruction"),
        (("bf16", "bf16", "bf16"), 80, "", "with accumulator type bf16 has no mma.sync instruction"),
        (("f8E5M2", "f8E5M2", "f32"), 80, "", "needs sm_89 or later; this is compiled for sm_80"),
        (("f16", "f16", "f32"), 75, "", "needs sm_80 or later; this is compiled for sm_75"),
        (("i16", "i16", "i32"), 80, "", "of i16 and i16"),
    ],
)
def test_products_without_an_instruction_are_refused(
    types: tuple[str, str, str], capability: int, how: str, why: str
) -> None:
    with pytest.raises(UnsupportedOperation, match=why):
        from_ttgir(program(types, (16, 16, 32), mma("2, 2"), 4, how), capability)


def test_bytes_in_a_blocked_product_are_refused() -> None:
    """accelerate-matmul widens them; text may come without."""
    with pytest.raises(UnsupportedOperation, match="f8E5M2 and f8E5M2"):
        from_ttgir(program(("f8E5M2", "f8E5M2", "f32"), (16, 16, 32), BLOCKED[0], 0))


# Buffers of 32 along K that a loop carries: words in capitals stand for types and lines.
LOOP = """
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#r = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #r, kWidth = 2}>
#dot_b = #ttg.dot_op<{opIdx = 1, parent = #r, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {HEAD} {
  tt.func public @k(%a: !tt.ptr<f16> {EVEN}, %b: !tt.ptr<f16> {EVEN}, %c: !tt.ptr<f32> {EVEN}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    PLACES
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #r>
    %step = arith.constant dense<1024> : tensor<32x32xi32, #blocked>
    %step2 = arith.constant dense<2048> : tensor<32x64xi32, #blocked>
    %a0 = tt.load %pa : APTR
    %a1 = ttg.local_alloc %a0 : (tensor<32x32xf16, #blocked>) -> ABUF
    %b0 = tt.load %pb : BPTR
    %b1 = ttg.local_alloc %b0 : (tensor<32x64xf16, #blocked>) -> BBUF
    %d:5 = scf.for %i = %c0 to %n step %c1
        iter_args(%abuf = %a1, %bbuf = %b1, %acc = %zero, %qa = %pa, %qb = %pb)
        -> (ABUF, BBUF, tensor<32x64xf32, #r>, APTR, BPTR) : i32 {
      %x = ttg.local_load %abuf : ABUF -> tensor<32x32xf16, #dot_a>
      %minus = arith.negf %x : tensor<32x32xf16, #dot_a>
      %y = ttg.local_load %bbuf : BBUF -> tensor<32x64xf16, #dot_b>
      %r = tt.dot LEFT, %y, %acc : TENSORS -> tensor<32x64xf32, #r>
      %ra = tt.addptr %qa, %step : APTR, tensor<32x32xi32, #blocked>
      %rb = tt.addptr %qb, %step2 : BPTR, tensor<32x64xi32, #blocked>
      %a2 = tt.load %ra : APTR
      %a3 = ttg.local_alloc %a2 : (tensor<32x32xf16, #blocked>) -> ABUF
      %b2 = tt.load %rb : BPTR
      %b3 = ttg.local_alloc %b2 : (tensor<32x64xf16, #blocked>) -> BBUF
      scf.yield %a3, %b3, %r, %ra, %rb : ABUF, BBUF, tensor<32x64xf32, #r>, APTR, BPTR
    }
    tt.store %pc, %d#2 : tensor<32x64x!tt.ptr<f32>, #r>
    tt.return
  }
}
"""

WORDS = {
    "HEAD": '"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32',
    "EVEN": "tt.divisibility = 16 : i32",
    "ABUF": "!ttg.memdesc<32x32xf16, #shared, #smem>",
    "BBUF": "!ttg.memdesc<32x64xf16, #shared1, #smem>",
    "APTR": "tensor<32x32x!tt.ptr<f16>, #blocked>",
    "BPTR": "tensor<32x64x!tt.ptr<f16>, #blocked>",
    "TENSORS": "tensor<32x32xf16, #dot_a> * tensor<32x64xf16, #dot_b>",
}


@pytest.mark.parametrize("left", ["%x", "%minus"])
def test_prefetched_loops_compute_the_same(left: str) -> None:
    """Operands read an iteration ahead, also where they are changed on the way."""
    lines = [*places("a", (32, 32), "#blocked", "f16"), *places("b", (32, 64), "#blocked", "f16")]
    lines += places("c", (32, 64), "#r", "f32")
    text = LOOP
    for word, meaning in {**WORDS, "PLACES": "\n    ".join(lines), "LEFT": left}.items():
        text = text.replace(word, meaning)
    module = parse_module(text)
    PassManager("canonicalize,prefetch,canonicalize").run(module)
    gpu = from_ttgir(print_op(module))
    assert gpu.ttgir.count("ttg.memdesc_subslice") == 6
    rng = np.random.default_rng(2)
    steps = 3
    a = rng.integers(-4, 5, (steps + 1, 32, 32)).astype(np.float16)
    b = rng.integers(-4, 5, (steps + 1, 32, 64)).astype(np.float16)
    for n in (0, 1, steps):
        c = np.full((32, 64), 113, np.float32)
        gpu.launch(1, a, b, c, n)
        wanted = sum((a[i].astype(float) @ b[i].astype(float) for i in range(n)), np.zeros((32, 64)))
        np.testing.assert_array_equal(c, -wanted if left == "%minus" else wanted)
