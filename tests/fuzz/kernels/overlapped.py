"""Steps of random kernels: loops whose loads have warps of their own, rarer forms of products, functions of bits."""

from __future__ import annotations

from math import prod

from .elements import TYPES
from .products import computed, loaded
from .structure import operand
from .writer import SIZE, Refused, Value, Writer, feature

__all__ = ["LOOPS"]

F16, F32, I32 = (TYPES[n] for n in ("f16", "f32", "i32"))
LOOPS = (", warp_specialize=True", ", warp_specialize=True, num_stages=2", ", num_stages=3", ", warp_specialize=True, num_stages=4",
         ", disallow_acc_multi_buffer=True", ", flatten=True")  # fmt: skip


def tiles(w: Writer, name: str, m: int, n: int, k: int, steps: int, by: str) -> tuple[str, str]:
    """How a loop at `i` loads its two tiles: by pointers or descriptors made before."""
    x = w.parameter(f"x_{name}")
    if by == "pointers":
        rows, inner = f"tl.arange(0, {m})[:, None] * {k * steps}", f"i * {k} + tl.arange(0, {k})"
        return (
            f"tl.load({x} + {rows} + ({inner})[None, :])",
            f"tl.load({x} + ({inner})[:, None] * {n} + tl.arange(0, {n})[None, :])",
        )
    a, b = w.fresh("d"), w.fresh("d")
    w.line(
        f"{a} = tl.make_tensor_descriptor({x}, [{m - w.choice((0, 0, 3))}, {k * steps}], [{k * steps}, 1], [{m}, {k}])"
    )
    w.line(f"{b} = tl.make_tensor_descriptor({x}, [{k * steps}, {n}], [{n}, 1], [{k}, {n}])")
    return f"{a}.load([0, i * {k}])", f"{b}.load([i * {k}, 0])"


@feature("control", 2)
def specialized_loop(w: Writer) -> None:
    """Products whose loads have a warp of their own, with other work beside: sums of rows, an epilogue, a mask."""
    if w.depth:
        raise Refused
    m, n, k = w.choice((16, 32, 64)), w.choice((16, 32, 64)), w.choice((16, 32))
    steps, name = w.choice((1, 2, 3, 4)), w.choice(("f16", "bf16", "f32", "e5"))
    k = max(k, 32) if name == "e5" else k
    if max(m, n) * k * steps > SIZE or n * TYPES[name].bits < 128:
        raise Refused
    left, right = tiles(w, name, m, n, k, steps, w.choice(("pointers", "descriptors", "descriptors")))
    total, rows = w.fresh(), w.fresh()
    precision = f', input_precision="{w.choice(("ieee", "tf32", "tf32x3"))}"' if name == "f32" else ""
    w.line(f"{total} = tl.zeros([{m}, {n}], tl.float32)")
    w.line(f"{rows} = tl.zeros([{m}], tl.float32)")
    w.line(f"for i in tl.range(0, {w.choice((str(steps), f'pid % {steps} + 1'))}{w.choice(LOOPS)}):")
    w.line(f"    a = {left}")
    w.line(f"    b = {right}")
    beside = w.choice(("", "", "rows", "branch", "scaled"))
    if beside == "rows" and name != "e5":
        w.line(f"    {rows} += tl.sum(a.to(tl.float32), 1)")
    if beside == "scaled" and name != "e5":
        w.line(f"    b = (b * 0.5).to({TYPES[name].tl})")
    w.line(f"    {total} = tl.dot(a, b, {total}{precision})")
    if beside == "branch":
        w.line(f"    if i == {w.choice(('0', '1', 'pid'))}: {total} = {total} * 0.5")
    w.values.append(Value(total, F32, (m, n), most=16.0 * k * steps, grid=4 + (beside in ("branch", "scaled"))))
    w.values.append(Value(rows, F32, (m,), most=4.0 * k * steps, grid=2))


@feature("control", 1)
def specialized_attention(w: Writer) -> None:
    """Two products in turn by descriptors, whose loads have a warp of their own; all of it exact."""
    if w.depth:
        raise Refused
    m, n, d, steps = w.choice((16, 64)), w.choice((16, 32)), w.choice((16, 32)), w.choice((1, 2, 3))
    name = w.choice(("f16", "bf16"))
    q, x, e = operand(w, name, (m, d)).name, w.parameter(f"x_{name}"), TYPES[name]
    keys, acc, top = w.fresh("d"), w.fresh(), w.fresh()
    w.line(f"{keys} = tl.make_tensor_descriptor({x}, [{steps * n}, {d}], [{d}, 1], [{n}, {d}])")
    w.line(f"{acc} = tl.zeros([{m}, {d}], tl.float32)")
    w.line(f"{top} = tl.full([{m}], -1000.0, tl.float32)")
    w.line(f"for i in tl.range(0, {steps}{w.choice(LOOPS)}):")
    w.line(f"    block = {keys}.load([i * {n}, 0])")
    w.line(f"    s = tl.dot({q}, block.T)")
    w.line(f"    new = tl.maximum({top}, tl.max(s, 1))")
    w.line("    p = tl.where(s >= new[:, None] - 2.0, 1.0, 0.5)")
    w.line(f"    {acc} = {acc} * tl.where({top} < new, 0.5, 1.0)[:, None]")
    w.line(f"    {acc} = tl.dot(p.to({e.tl}), block, {acc})")
    w.line(f"    {top} = new")
    w.values.append(Value(acc, F32, (m, d), most=4.0 * n * steps, grid=3 + steps))
    w.values.append(Value(top, F32, (m,), most=max(1000.0, 16.0 * d), grid=4))


# -- products ----------------------------------------------------------------------------------------------------------


@feature("build", 1)
def rare_dot(w: Writer) -> None:
    """Few rows or columns; precisions made of bf16; sums kept in fp16; what is added up less precisely; both kinds of fp8."""
    kind = w.choice(("few", "bf16", "fp16", "imprecise", "mixed", "four"))
    k = w.choice((32, 64))
    if kind == "few":
        m, n, name = w.choice((1, 2, 4, 8, 16)), w.choice((1, 2, 4, 8, 16)), w.choice(("f16", "bf16", "f32", "i8"))
        a, b = loaded(w, name, (m, k)), loaded(w, name, (k, n))
        precision = ', input_precision="ieee"' if name == "f32" else ""
        known = {} if name == "i8" else {"most": 16.0 * k, "grid": 4, "terms": k}
        w.put(f"tl.dot({a.name}, {b.name}{precision})", I32 if name == "i8" else F32, (m, n), **known)
        return
    known = {"most": 16.0 * k, "grid": 4, "terms": k}
    m, n = w.choice((16, 32)), w.choice((16, 32))
    if kind == "bf16":
        a, b = operand(w, "f32", (m, k)), operand(w, "f32", (k, n))
        w.put(f'tl.dot({a.name}, {b.name}, input_precision="{w.choice(("bf16x3", "bf16x6"))}")', F32, (m, n), **known)
    elif kind == "fp16":
        names = [
            w.put(f"({loaded(w, 'i8', shape).name} & 3).to(tl.float16)", F16, shape, most=3.0, grid=0).name
            for shape in ((m, k), (k, n))
        ]
        w.put(f"tl.dot({names[0]}, {names[1]}, out_dtype=tl.float16)", F16, (m, n), most=9.0 * k, grid=0, terms=k)
    elif kind == "imprecise":
        a, b = operand(w, "e5", (m, k)), operand(w, "e5", (k, n))
        w.put(f"tl.dot({a.name}, {b.name}, max_num_imprecise_acc={w.choice((0, 32))})", F32, (m, n), **known)
    elif kind == "mixed":
        a, b = operand(w, w.choice(("e5", "e4")), (m, k)), operand(w, w.choice(("e5", "e4")), (k, n))
        w.put(f"tl.dot({a.name}, {b.name})", F32, (m, n), **known)
    else:
        a, b = loaded(w, "f16", (2, 2, 16, 16)), loaded(w, "f16", (2, 2, 16, 16))
        w.put(f"tl.dot({a.name}, {b.name})", F32, (2, 2, 16, 16), most=256.0, grid=4, terms=16)


@feature("build", 0.7)
def product_of_parts(w: Writer) -> None:
    """A product whose result is reduced, joined or turned at once."""
    name = w.choice(("f16", "bf16"))
    m, n, k = w.choice((16, 32)), w.choice((16, 32)), w.choice((16, 32))
    a, b = computed(w, name, (m, k)), computed(w, name, (k, n))
    p = w.put(f"tl.dot({a}, {b})", F32, (m, n), most=16.0 * k, grid=6, terms=k)
    kind = w.choice(("sum", "max", "turned", "split"))
    if kind == "sum":
        w.put(f"tl.sum({p.name}, 1)", F32, (m,), most=16.0 * k * n, grid=6)
    elif kind == "max":
        w.put(f"tl.max({p.name}, 0)", F32, (n,), most=16.0 * k, grid=6)
    elif kind == "turned":
        w.put(f"tl.trans({p.name})", F32, (n, m), most=16.0 * k, grid=6)
    else:
        x, y = w.fresh(), w.fresh()
        w.line(f"{x}, {y} = tl.split(tl.reshape({p.name}, [{m}, {n // 2}, 2]))")
        w.values += [Value(name, F32, (m, n // 2), most=16.0 * k, grid=6) for name in (x, y)]


# -- rare functions ----------------------------------------------------------------------------------------------------

BITS = {"clz": "i32", "popc": "i32", "ffs": "i32", "brev": "i32"}
ROUNDED = ("trunc", "rint", "nearbyint", "floor", "ceil", "round")


@feature("types", 1)
def device_library(w: Writer) -> None:
    """Functions of bits, and those that round to whole numbers."""
    if w.chance(0.5):
        name = w.choice(sorted(BITS))
        a = w.pick(lambda v: v.element is I32)
        w.put(f"libdevice.{name}({a.name})", I32, a.shape)
        return
    a = w.pick(lambda v: v.element is F32 and v.lattice)
    w.put(f"libdevice.{w.choice(ROUNDED)}({a.name})", F32, a.shape, most=a.most + 1, grid=0)


@feature("build", 0.7)
def masked_histogram(w: Writer) -> None:
    v = w.pick(lambda v: len(v.shape) == 1 and v.element.name in ("i32", "u32") and v.shape[0] >= 8)
    mask = w.pick(lambda o: o.element.kind == "b" and o.shape == v.shape)
    bins = w.choice((4, 16, 128))
    w.put(f"tl.histogram({v.name} & {bins - 1}, {bins}, mask={mask.name})", I32, (bins,))


@feature("build", 0.5)
def packed_elements(w: Writer) -> None:
    """map_elementwise, two elements at a time, with two operands."""
    a = w.pick(lambda v: v.element is I32 and v.shape and prod(v.shape) % 2 == 0 and v.shape[-1] % 2 == 0)
    b = w.like(a, lambda o: o.element is I32)
    text = "@tritium.jit\ndef step_of_two(a, b, c, d):\n    if a > c:\n        return a * 3, b + d\n    else:\n        return c - 1, b\n"
    if text not in w.functions:
        w.functions.append(text)
    w.put(f"tl.map_elementwise(step_of_two, {a.name}, {b.name}, pack=2)[0]", I32, a.shape)
