"""LLVM modules of the shape our compiler makes, for benchmarks and tests of the LLVM driver."""

from __future__ import annotations

from collections.abc import Sequence

from tritium.conversion.llvm.emitter import Emitter

__all__ = ["matmul_text", "softmax_text", "vector_add_text"]

DECLARES = """declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32, <16 x i1>)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare <16 x float> @llvm.roundeven.v16f32(<16 x float>)
declare <16 x float> @llvm.maxnum.v16f32(<16 x float>, <16 x float>)
declare float @llvm.vector.reduce.fmax.v16f32(<16 x float>)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
"""
V = "<16 x float>"
HEAD = "define void @kernel(ptr noalias %args, ptr noalias %ctx, i64 %begin, i64 %end) nounwind {"


def _arguments(e: Emitter, *types: str) -> list[str]:
    e.label("entry")
    values = []
    for i, ty in enumerate(types):
        slot = e.op(f"getelementptr i8, ptr %args, i64 {8 * i}")
        values.append(e.op(f"load {ty}, ptr {slot}, align 8"))
    return values


Carried = Sequence[tuple[str, str]]


class _Loop:
    """`for iv in range(begin, end, step)` over i64, entered at least once."""

    def __init__(self, e: Emitter, begin: str, end: str, step: int, carried: Carried = ()) -> None:
        self.e, self.end, self.step = e, end, step
        self.body, self.exit = e.fresh_label("loop"), e.fresh_label("exit")
        e.stmt(f"br label %{self.body}")
        before = e.block
        e.label(self.body)
        self.phi_at = len(e.lines)
        self.iv = e.op(f"phi i64 [ {begin}, %{before} ], [ @NEXT@, @LATCH@ ]")
        self.carried = [
            e.op(f"phi {ty} [ {init}, %{before} ], [ @C{i}@, @LATCH@ ]") for i, (ty, init) in enumerate(carried)
        ]

    def close(self, *values: str) -> None:
        e = self.e
        nxt = e.op(f"add nuw nsw i64 {self.iv}, {self.step}")
        more = e.op(f"icmp slt i64 {nxt}, {self.end}")
        e.stmt(f"br i1 {more}, label %{self.body}, label %{self.exit}")
        for i in range(self.phi_at, self.phi_at + 1 + len(values)):
            e.lines[i] = e.lines[i].replace("@NEXT@", nxt).replace("@LATCH@", f"%{e.block}")
            for j, v in enumerate(values):
                e.lines[i] = e.lines[i].replace(f"@C{j}@", v)
        e.label(self.exit)


def _lane_mask(e: Emitter, first: str, n: str) -> str:
    """Lanes `first + i < n`, as <16 x i1>."""
    left = e.op(f"sub i64 {n}, {first}")
    one = e.op(f"insertelement <16 x i64> poison, i64 {left}, i64 0")
    all_ = e.op(f"shufflevector <16 x i64> {one}, <16 x i64> poison, <16 x i32> zeroinitializer")
    iota = "<" + ", ".join(f"i64 {i}" for i in range(16)) + ">"
    return e.op(f"icmp slt <16 x i64> {iota}, {all_}")


def vector_add_text(block: int = 1024) -> str:
    """out[i] = x[i] + y[i] for i < n; arguments x, y, out, n."""
    e = Emitter()
    x, y, out, n = _arguments(e, "ptr", "ptr", "ptr", "i64")
    programs = _Loop(e, "%begin", "%end", 1)
    base = e.op(f"mul nsw i64 {programs.iv}, {block}")
    last = e.op(f"add nsw i64 {base}, {block}")
    full = e.op(f"icmp sle i64 {last}, {n}")
    whole, masked, done = (e.fresh_label(h) for h in ("whole", "masked", "done"))
    e.stmt(f"br i1 {full}, label %{whole}, label %{masked}")
    for label, is_full in ((whole, True), (masked, False)):
        e.label(label)
        loop = _Loop(e, base, last, 16)
        mask = "" if is_full else _lane_mask(e, loop.iv, n)
        a, b = (_load(e, p, loop.iv, mask) for p in (x, y))
        total = e.op(f"fadd {V} {a}, {b}")
        p = e.op(f"getelementptr float, ptr {out}, i64 {loop.iv}")
        if is_full:
            e.stmt(f"store {V} {total}, ptr {p}, align 4")
        else:
            e.stmt(f"call void @llvm.masked.store.v16f32.p0({V} {total}, ptr {p}, i32 4, <16 x i1> {mask})")
        loop.close()
        e.stmt(f"br label %{done}")
    e.label(done)
    programs.close()
    e.stmt("ret void")
    return f"{DECLARES}\n{HEAD}\n{e.text()}\n}}\n"


def _load(e: Emitter, pointer: str, index: str, mask: str, other: str = "zeroinitializer") -> str:
    p = e.op(f"getelementptr float, ptr {pointer}, i64 {index}")
    if not mask:
        return e.op(f"load {V}, ptr {p}, align 4")
    return e.op(f"call {V} @llvm.masked.load.v16f32.p0(ptr {p}, i32 4, <16 x i1> {mask}, {V} {other})")


def _exp_text() -> str:
    """A cheap exp with a polynomial of degree 6: the shape of the real one, inlined three times by its users."""
    e = Emitter()
    e.label("entry")
    x = e.op(f"call {V} @llvm.maxnum.v16f32({V} %x, {V} splat (float -87.0))")
    t = e.op(f"fmul {V} {x}, splat (float 0x3FF7154760000000)")
    n = e.op(f"call {V} @llvm.roundeven.v16f32({V} {t})")
    r = e.op(f"fsub {V} {t}, {n}")
    p = "splat (float 0x3F2430A600000000)"
    for c in (
        "0x3F55D7E000000000",
        "0x3F83B2A800000000",
        "0x3FAC6AF3A0000000",
        "0x3FCEBFBE40000000",
        "0x3FE62E4300000000",
        "1.0",
    ):
        p = e.op(f"call {V} @llvm.fma.v16f32({V} {p}, {V} {r}, {V} splat (float {c}))")
    i = e.op(f"fptosi {V} {n} to <16 x i32>")
    i = e.op(f"shl <16 x i32> {i}, splat (i32 23)")
    b = e.op(f"bitcast {V} {p} to <16 x i32>")
    s = e.op(f"add <16 x i32> {b}, {i}")
    e.stmt(f"ret {V} {e.op(f'bitcast <16 x i32> {s} to {V}')}")
    return f"define internal {V} @exp({V} %x) alwaysinline nounwind memory(none) {{\n{e.text()}\n}}\n"


def softmax_text(block: int = 1024) -> str:
    """Row softmax with masked columns; arguments out, in, in_stride, out_stride, columns."""
    e = Emitter()
    out, inp, in_stride, out_stride, n = _arguments(e, "ptr", "ptr", "i64", "i64", "i64")
    scratch = e.op(f"alloca [{block} x float], align 64")
    rows = _Loop(e, "%begin", "%end", 1)
    source = e.op(f"getelementptr float, ptr {inp}, i64 {e.op(f'mul i64 {rows.iv}, {in_stride}')}")
    target = e.op(f"getelementptr float, ptr {out}, i64 {e.op(f'mul i64 {rows.iv}, {out_stride}')}")
    low = "splat (float 0xFFF0000000000000)"
    a = _Loop(e, "0", str(block), 16, [(V, low)])
    x = _load(e, source, a.iv, _lane_mask(e, a.iv, n), low)
    e.stmt(f"store {V} {x}, ptr {e.op(f'getelementptr float, ptr {scratch}, i64 {a.iv}')}, align 64")
    a.close(m := e.op(f"call {V} @llvm.maxnum.v16f32({V} {a.carried[0]}, {V} {x})"))
    top = e.op(f"call float @llvm.vector.reduce.fmax.v16f32({V} {m})")
    one = e.op(f"insertelement {V} poison, float {top}, i64 0")
    top = e.op(f"shufflevector {V} {one}, {V} poison, <16 x i32> zeroinitializer")
    b = _Loop(e, "0", str(block), 16, [(V, "zeroinitializer")])
    p = e.op(f"getelementptr float, ptr {scratch}, i64 {b.iv}")
    x = e.op(f"load {V}, ptr {p}, align 64")
    y = e.op(f"call {V} @exp({V} {e.op(f'fsub {V} {x}, {top}')})")
    e.stmt(f"store {V} {y}, ptr {p}, align 64")
    b.close(s := e.op(f"fadd {V} {b.carried[0]}, {y}"))
    total = e.op(f"call reassoc float @llvm.vector.reduce.fadd.v16f32(float 0.0, {V} {s})")
    one = e.op(f"insertelement {V} poison, float {total}, i64 0")
    total = e.op(f"shufflevector {V} {one}, {V} poison, <16 x i32> zeroinitializer")
    c = _Loop(e, "0", str(block), 16)
    y = e.op(f"load {V}, ptr {e.op(f'getelementptr float, ptr {scratch}, i64 {c.iv}')}, align 64")
    y = e.op(f"fdiv {V} {y}, {total}")
    p = e.op(f"getelementptr float, ptr {target}, i64 {c.iv}")
    e.stmt(f"call void @llvm.masked.store.v16f32.p0({V} {y}, ptr {p}, i32 4, <16 x i1> {_lane_mask(e, c.iv, n)})")
    c.close()
    rows.close()
    e.stmt("ret void")
    return f"{DECLARES}\n{_exp_text()}\n{HEAD}\n{e.text()}\n}}\n"


def matmul_text(mr: int = 12, nv: int = 2, k: int = 64) -> str:
    """acc[mr][nv*16] += a[mr][k] * panel[k][nv*16] over packed panels, `begin..end` panels."""
    e = Emitter()
    acc, a, b = _arguments(e, "ptr", "ptr", "ptr")
    nr = 16 * nv
    panels = _Loop(e, "%begin", "%end", 1)
    panel = e.op(f"getelementptr float, ptr {b}, i64 {e.op(f'mul i64 {panels.iv}, {k * nr}')}")
    tile = e.op(f"getelementptr float, ptr {acc}, i64 {e.op(f'mul i64 {panels.iv}, {mr * nr}')}")
    zero = [(V, "zeroinitializer")] * (mr * nv)
    loop = _Loop(e, "0", str(k), 1, zero)
    row = e.op(f"getelementptr float, ptr {panel}, i64 {e.op(f'mul i64 {loop.iv}, {nr}')}")
    bs = [e.op(f"load {V}, ptr {e.op(f'getelementptr float, ptr {row}, i64 {16 * j}')}, align 64") for j in range(nv)]
    sums = []
    for i in range(mr):
        offset = e.op(f"add i64 {loop.iv}, {i * k}")
        x = e.op(f"load float, ptr {e.op(f'getelementptr float, ptr {a}, i64 {offset}')}")
        one = e.op(f"insertelement {V} poison, float {x}, i64 0")
        x = e.op(f"shufflevector {V} {one}, {V} poison, <16 x i32> zeroinitializer")
        for j in range(nv):
            sums.append(e.op(f"call {V} @llvm.fma.v16f32({V} {x}, {V} {bs[j]}, {V} {loop.carried[i * nv + j]})"))
    loop.close(*sums)
    for i, s in enumerate(sums):
        e.stmt(f"store {V} {s}, ptr {e.op(f'getelementptr float, ptr {tile}, i64 {16 * i}')}, align 64")
    panels.close()
    e.stmt("ret void")
    return f"{DECLARES}\n{HEAD}\n{e.text()}\n}}\n"
