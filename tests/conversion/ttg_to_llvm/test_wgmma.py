"""Products by warp groups: every way their matrices may stand in shared memory, or in registers, and all types.

A kernel loads two matrices, stores them to buffers of given layouts, and multiplies; the emulator runs it, NumPy's f64
knows what comes out.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import Gpu, from_ttgir
from tests.conversion.ttg_to_llvm.test_matmul import numbers, random_array
from tritium.support import UnsupportedOperation

TYPES = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "i8": "i8", "fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN"}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "i8": 8, "f8E5M2": 8, "f8E4M3FN": 8}
Shape = tuple[int, int]


def places(name: str, shape: Shape, element: str, layout: str) -> str:
    """`%<name>_at`: the addresses of a row-major matrix that begins at `%<name>`."""
    m, n = shape
    rows, columns = (f"#ttg.slice<{{dim = {d}, parent = {layout}}}>" for d in (1, 0))
    whole, down, across = (f"tensor<{s}xi32, {layout}>" for s in (f"{m}x{n}", f"{m}x1", f"1x{n}"))
    at = f"tensor<{m}x{n}x!tt.ptr<{element}>, {layout}>"
    return f"""
    %{name}0 = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32, {rows}>
    %{name}1 = tt.expand_dims %{name}0 {{axis = 1 : i32}} : tensor<{m}xi32, {rows}> -> {down}
    %{name}2 = arith.constant dense<{n}> : {down}
    %{name}3 = arith.muli %{name}1, %{name}2 : {down}
    %{name}4 = tt.broadcast %{name}3 : {down} -> {whole}
    %{name}5 = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, {columns}>
    %{name}6 = tt.expand_dims %{name}5 {{axis = 0 : i32}} : tensor<{n}xi32, {columns}> -> {across}
    %{name}7 = tt.broadcast %{name}6 : {across} -> {whole}
    %{name}8 = arith.addi %{name}4, %{name}7 : {whole}
    %{name}9 = tt.splat %{name} : !tt.ptr<{element}> -> {at}
    %{name}_at = tt.addptr %{name}9, %{name}8 : {at}, {whole}"""


def buffer(width: int, turned: bool, bits: int) -> str:
    flags = f"swizzlingByteWidth = {width}, transposed = {str(turned).lower()}, elementBitWidth = {bits}"
    return f"#ttg.nvmma_shared<{{{flags}}}>"


class Product:
    """The text of a kernel for `shape` (M, N, K); `a` and `b` are layouts of buffers, `a` may be None: registers.

    `dot` is what stands between the operands %x, %y of types X, Y, the sums %z of type Z, and the result %d.
    """

    DOT = "%d = ttng.warp_group_dot %x, %y, %z {PRECISION} : X * Y -> Z"

    def __init__(
        self, dtypes: tuple[str, str, str], shape: tuple[int, int, int], a: str | None, b: str, dot: str = DOT,
        warps: tuple[int, int] = (4, 1), columns: int = 0, precision: int = 0, imprecise: int = 1 << 30,
    ) -> None:  # fmt: skip
        self.dtypes, self.shape, (m, n, k) = dtypes, shape, shape
        x, y, z = (TYPES.get(t, t) for t in dtypes)
        z = {"i32": "i32"}.get(z, z)
        number = warps[0] * warps[1]
        blocked = f"#ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [{number}, 1], order = [1, 0]}}>"
        shape_of = f"[16, {columns or min(n // warps[1], 256)}, {256 // BITS[x]}]"
        mma = f"#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = {list(warps)}, instrShape = {shape_of}}}>"
        in_registers = f"#ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = {32 // BITS[x]}}}>"
        held = f"tensor<{m}x{k}x{x}, {in_registers}>"
        kinds = {"X": held if a is None else f"!ttg.memdesc<{m}x{k}x{x}, #sa, #smem>"}
        kinds |= {"Y": f"!ttg.memdesc<{k}x{n}x{y}, #sb, #smem>", "Z": f"tensor<{m}x{n}x{z}, #mma>"}
        attributes = f"inputPrecision = {precision} : i32, maxNumImpreciseAcc = {imprecise} : i32"
        dot = dot.replace("PRECISION", attributes)
        dot = re.sub(r"\b[XYZ]\b", lambda name: kinds[name[0]], dot)
        loaded = {
            n: f"tensor<{s[0]}x{s[1]}x{e}, #rows>" for n, s, e in (("a", (m, k), x), ("b", (k, n), y), ("c", (m, n), z))
        }
        operand = (
            f"ttg.convert_layout %a_ : {loaded['a']} -> {held}"
            if a is None
            else f"ttg.local_alloc %a_ : ({loaded['a']}) -> {kinds['X']}"
        )
        aliases = [f"#rows = {blocked}", f"#mma = {mma}", f"#sb = {b}", "#smem = #ttg.shared_memory"]
        aliases += [] if a is None else [f"#sa = {a}"]
        loads = "".join(
            places(n, s, e, "#rows") + f"\n    %{n}_ = tt.load %{n}_at : tensor<{s[0]}x{s[1]}x!tt.ptr<{e}>, #rows>"
            for n, s, e in (("a", (m, k), x), ("b", (k, n), y), ("c", (m, n), z))
        )
        head = f'"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {number} : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32'
        pointers = ", ".join(f"%{n}: !tt.ptr<{e}>" for n, e in (("a", x), ("b", y), ("c", z)))
        lines = "\n".join(aliases)
        self.text = f"""{lines}
module attributes {{{head}}} {{
  tt.func public @k({pointers}, %use: i32) attributes {{noinline = false}} {{{loads}
    %zero = arith.constant 0 : i32
    %used = arith.cmpi ne, %use, %zero : i32
    %x = {operand}
    %y = ttg.local_alloc %b_ : ({loaded["b"]}) -> {kinds["Y"]}
    %z = ttg.convert_layout %c_ : {loaded["c"]} -> {kinds["Z"]}
    ttng.fence_async_shared {{bCluster = false}}
    {dot}
    %r = ttg.convert_layout %d : {kinds["Z"]} -> {loaded["c"]}
    tt.store %c_at, %r : tensor<{m}x{n}x!tt.ptr<{z}>, #rows>
    tt.return
  }}
}}
"""

    def run(self, use: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, Gpu]:
        """What the kernel leaves, a @ b, the sums it was given, the kernel."""
        m, n, k = self.shape
        rng = np.random.default_rng(m + n + k)
        a, b = random_array(rng, (m, k), self.dtypes[0]), random_array(rng, (k, n), self.dtypes[1])
        kind = {"f32": "fp32", "f16": "fp16", "i32": "i32"}[self.dtypes[2]]
        c = random_array(rng, (m, n), kind)
        given = c.astype(np.float64)
        gpu = from_ttgir(self.text, 90)
        gpu.launch(1, a, b, c, use)
        return c.astype(np.float64), numbers(a, self.dtypes[0]) @ numbers(b, self.dtypes[1]), given, gpu

    def check(self, error: float = 1e-4, **options: Any) -> Gpu:
        found, product, given, gpu = self.run(**options)
        assert np.abs(found - (product + given)).max() <= error * max(1, np.abs(product).max())
        return gpu


#: (bytes of a swizzled row, whether it is a column, rows or columns, length along K in halves), all there are.
MATRICES = [
    (width, turned, size, k)
    for turned in (False, True)
    for width in (32, 64, 128)
    for size, k in ((64, 16), (64, 64), (128, 128))
    if (size if turned else k) * 2 >= width
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("width", "turned", "rows", "k"), MATRICES)
def test_first_operand(width: int, turned: bool, rows: int, k: int) -> None:
    gpu = Product(("fp16", "fp16", "f32"), (rows, 16, k), buffer(width, turned, 16), buffer(32, False, 16)).check()
    assert gpu.count("wgmma.mma_async") == rows // 64 * k // 16 and gpu.count("wgmma.wait_group") == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize(("width", "turned", "columns", "k"), MATRICES)
def test_second_operand(width: int, turned: bool, columns: int, k: int) -> None:
    """Of this one, a column lies along K."""
    shape = (64, columns, k)
    Product(("bf16", "bf16", "f32"), shape, buffer(32, False, 16), buffer(width, not turned, 16)).check()


@pytest.mark.parametrize("n", [8, 16, 32, 64, 128, 256])
@pytest.mark.parametrize("turned", [False, True])
def test_columns(n: int, turned: bool) -> None:
    """8 columns of halves are 16 bytes, which are not swizzled."""
    width = 128 if turned else next(w for w in (128, 64, 32, 0) if n * 2 % max(w, 16) == 0 and w <= n * 2)
    gpu = Product(("fp16", "fp16", "f32"), (64, n, 64), buffer(128, False, 16), buffer(width, turned, 16)).check()
    assert f"m64n{n}k16" in gpu.ptx


PAIRS = [
    ("fp16", "fp16", "f32"), ("fp16", "fp16", "f16"), ("bf16", "bf16", "f32"), ("fp32", "fp32", "f32"),
    ("i8", "i8", "i32"), ("fp8e5", "fp8e5", "f32"), ("fp8e5", "fp8e4nv", "f32"), ("fp8e4nv", "fp8e5", "f16"),
    ("fp8e4nv", "fp8e4nv", "f32"),
]  # fmt: skip
ERRORS = {"f16": 2e-3, "i32": 0}


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtypes", PAIRS)
@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize(("m", "warps"), [(128, (4, 1)), (128, (8, 1)), (64, (4, 2)), (64, (8, 1))])
def test_types(dtypes: tuple[str, str, str], registers: bool, m: int, warps: tuple[int, int]) -> None:
    """Operands from memory and from registers; groups below each other, side by side, and doing the same."""
    bits = BITS[TYPES[dtypes[0]]]
    a = None if registers else buffer(128, False, bits)
    k = 1024 // bits * 2
    error = 2e-3 if dtypes[0] == "fp32" else ERRORS.get(dtypes[2], 1e-4)
    gpu = Product(dtypes, (m, 32, k), a, buffer(128, True, bits), warps=warps, imprecise=1 << 30).check(error)
    assert gpu.count("wgmma.mma_async") == max(m // 16 // warps[0], 1) * k * bits // 256


def test_several_columns_of_instructions() -> None:
    Product(("fp16", "fp16", "f32"), (128, 64, 32), buffer(64, False, 16), buffer(128, False, 16), columns=16).check()
    Product(("fp16", "fp16", "f32"), (64, 64, 32), None, buffer(64, True, 16), columns=8, warps=(4, 2)).check()


def test_sums_that_count_or_do_not() -> None:
    """`useC`, and sums that are zero: neither needs registers with zeros."""
    a, b = buffer(128, False, 16), buffer(128, False, 16)
    given = Product.DOT.replace("%z {", "%z, %used {")
    product = Product(("fp16", "fp16", "f32"), (64, 64, 64), a, b, given)
    product.check()
    found, exact, _, _ = product.run(use=0)
    assert np.abs(found - exact).max() <= 1e-4
    zeros = "%o = arith.constant dense<0.0> : Z\n    " + Product.DOT.replace("%z", "%o")
    product = Product(("fp16", "fp16", "f32"), (64, 64, 64), a, b, zeros)
    found, exact, _, gpu = product.run()
    assert np.abs(found - exact).max() <= 1e-4
    assert gpu.ptx.count(", off,") == 1 and gpu.ptx.count(", on,") == 3


@pytest.mark.parametrize("imprecise", [32, 64, 100, 128, 1 << 30])
def test_partial_sums_of_fp8(imprecise: int) -> None:
    """Instructions add at most so many products, from zero; the rest is added as f32."""
    shape = (64, 16, 256)
    for use, dot in ((1, Product.DOT), (0, Product.DOT.replace("%z {", "%z, %used {"))):
        product = Product(
            ("fp8e4nv", "fp8e4nv", "f32"), shape, buffer(128, False, 8), buffer(128, True, 8), dot, imprecise=imprecise
        )
        found, exact, given, gpu = product.run(use=use)
        assert np.abs(found - (exact + use * given)).max() <= 1e-4 * np.abs(exact).max()
        groups = -(-256 // (imprecise // 32 * 32)) if imprecise <= 256 else 1
        assert gpu.count("wgmma.commit_group") == groups and gpu.count("wgmma.mma_async") == 8


def test_partial_sums_of_many_columns() -> None:
    """256 columns in two halves, 128 rows in two tiles: each part has registers of its own."""
    for m, n, warps in ((128, 256, (8, 1)), (128, 64, (4, 1)), (64, 256, (4, 1))):
        a, b = buffer(64, False, 8), buffer(64, True, 8)
        product = Product(("fp8e5", "fp8e4nv", "f32"), (m, n, 64), a, b, warps=warps, imprecise=32)
        found, exact, given, gpu = product.run()
        assert np.abs(found - (exact + given)).max() <= 1e-4 * np.abs(exact).max()
        assert gpu.count("wgmma.mma_async") == 2 * max(m // 16 // warps[0], 1) * max(n // 128, 1)


def test_in_flight() -> None:
    """Two products at once, of which the first is waited for while the second goes on."""
    dot = """%d0 = ttng.warp_group_dot %x, %y, %z {PRECISION, isAsync = true} : X * Y -> Z
    %d1 = ttng.warp_group_dot %x, %y, %z {PRECISION, isAsync = true} : X * Y -> Z
    %w0:2 = ttng.warp_group_dot_wait %d0, %x {pendings = 1 : i32} : Z , X
    %w1:2 = ttng.warp_group_dot_wait %d1, %x {pendings = 0 : i32} : Z , X
    %s = arith.subf %w1#0, %w0#0 : Z
    %d = arith.addf %w0#0, %s : Z
"""
    for total in ("f32", "f16"):
        for a in (buffer(128, False, 16), None):
            gpu = Product(("fp16", "fp16", total), (64, 32, 64), a, buffer(64, False, 16), dot).check(2e-3)
            waits = [name for name in gpu.opcodes() if name.startswith(("wgmma.commit", "wgmma.wait"))]
            assert [name.split(".")[1] for name in waits] == ["commit_group"] * 2 + ["wait_group"] * 2


def test_parts_of_buffers() -> None:
    """Halves along K, added one after the other; what begins inside of a swizzled row has an address of its own."""
    for k, first, second, types in (
        (64, "0, 32", "32, 0", ("64x32xf16, #sa, #smem, 64x64", "32x64xf16, #sb, #smem, 64x64")),
        (128, "0, 64", "64, 0", ("64x64xf16, #sa, #smem, 64x128", "64x64xf16, #sb, #smem, 128x64")),
    ):
        x, y = (f"!ttg.memdesc<{ty}>" for ty in types)
        dot = f"""%x0 = ttg.memdesc_subslice %x [0, 0] : X -> {x}
    %y0 = ttg.memdesc_subslice %y [0, 0] : Y -> {y}
    %x1 = ttg.memdesc_subslice %x [{first}] : X -> {x}
    %y1 = ttg.memdesc_subslice %y [{second}] : Y -> {y}
    %d0 = ttng.warp_group_dot %x1, %y1, %z {{PRECISION}} : {x} * {y} -> Z
    %d = ttng.warp_group_dot %x0, %y0, %d0 {{PRECISION}} : {x} * {y} -> Z
"""
        for turned in (False, True):
            a, b = buffer(128, turned, 16), buffer(128, not turned, 16)
            Product(("fp16", "fp16", "f32"), (64, 64, k), a, b, dot).check()


def test_views_of_buffers() -> None:
    """One of several buffers, seen transposed, and in another shape: the same matrix, and its descriptor says so."""
    dot = """%one = arith.constant 1 : i32
    %all = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #sa, #smem, mutable>
    %this = ttg.memdesc_index %all[%one] : !ttg.memdesc<3x64x64xf16, #sa, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sa, #smem, mutable>
    ttg.local_store %a_, %this : tensor<64x64xf16, #rows> -> !ttg.memdesc<64x64xf16, #sa, #smem, mutable>
    %yt = ttg.memdesc_trans %y {order = array<i32: 1, 0>} : Y -> !ttg.memdesc<64x64xf16, #sa, #smem>
    %ytt = ttg.memdesc_trans %yt {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #sa, #smem> -> Y
    %split = ttg.memdesc_reshape %this : !ttg.memdesc<64x64xf16, #sa, #smem, mutable> -> !ttg.memdesc<2x32x64xf16, #s3, #smem, mutable>
    %this1 = ttg.memdesc_reshape %split : !ttg.memdesc<2x32x64xf16, #s3, #smem, mutable> -> !ttg.memdesc<64x64xf16, #sa, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %this1, %ytt, %z {PRECISION} : !ttg.memdesc<64x64xf16, #sa, #smem, mutable> * Y -> Z
"""
    product = Product(("fp16", "fp16", "f32"), (64, 64, 64), buffer(128, False, 16), buffer(128, True, 16), dot)
    product.text = "#s3 = " + buffer(128, False, 16).replace("}>", ", rank = 3}>") + "\n" + product.text
    product.check()


def test_what_has_no_instruction() -> None:
    for dtypes, a, b, words in (
        (("fp32", "fp32", "f32"), buffer(128, False, 32), buffer(128, True, 32), "in the precision ieee"),
        (("i8", "i8", "i32"), buffer(128, False, 8), buffer(64, False, 8), "needs a K-major operand b"),
    ):
        product = Product(dtypes, (64, 64, 128), a, b, precision=2)
        with pytest.raises(Exception, match=words) as error:
            product.run()
        assert isinstance(error.value, UnsupportedOperation) or error.value.__cause__ is not None
