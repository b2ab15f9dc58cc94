"""Steps of random kernels: shapes, reductions, scans, orders, products, calls."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .elements import TYPES, Element
from .expressions import float_result, known, to_float
from .writer import Refused, Value, Writer, feature, names_of

__all__ = ["helper", "operand"]

F16, F32, F64, I1, I32 = (TYPES[n] for n in ("f16", "f32", "f64", "i1", "i32"))


def block(w: Writer, rank: int = 1, test=lambda v: True) -> Value:
    """A value of at least this rank."""
    return w.pick(lambda v: len(v.shape) >= rank and test(v))


def same(w: Writer, text: str, v: Value, shape: tuple[int, ...]) -> Value:
    """The elements of `v` in another shape."""
    return w.add(text, replace(v, shape=tuple(shape)))


# -- shapes ------------------------------------------------------------------------------------------------------------


@feature("build", 1)
def reshape(w: Writer) -> None:
    v = block(w)
    count = prod(v.shape)
    first = w.choice([d for d in (1, 2, 3, 4, 5, 8, 16, 32) if count % d == 0])
    three = (2, first, count // first // 2) if count % (2 * first) == 0 else (count, 1)
    shape = w.choice([(count,), (first, count // first), three])
    form = w.choice(("tl.reshape({}, {})", "{}.reshape({})"))  # tl.view may reorder, on GPUs it does
    same(w, form.format(v.name, names_of(shape)), v, shape)


@feature("build", 1)
def permute(w: Writer) -> None:
    v = block(w, 2)
    order = list(range(len(v.shape)))
    w.random.shuffle(order)
    text = f"tl.trans({v.name})" if len(order) == 2 and w.chance(0.5) else f"tl.permute({v.name}, {order})"
    order = [1, 0] if "trans" in text else order
    same(w, text, v, tuple(v.shape[i] for i in order))


@feature("build", 1)
def expand(w: Writer) -> None:
    v = w.pick(lambda v: 1 <= len(v.shape) <= 2)
    axis = w.random.randrange(len(v.shape) + 1)
    shape = (*v.shape[:axis], 1, *v.shape[axis:])
    index = ", ".join("None" if i == axis else ":" for i in range(len(shape)))
    same(w, f"{v.name}[{index}]" if w.chance(0.6) else f"tl.expand_dims({v.name}, {axis})", v, shape)


@feature("build", 1)
def broadcast(w: Writer) -> None:
    v = w.pick(lambda v: 1 in v.shape or not v.shape)
    if not v.shape:
        shape = w.choice(w.shapes)
        same(w, f"tl.broadcast_to({v.name}, {names_of(shape)})", v, shape)
        return
    shape = tuple(w.choice((2, 8, 16)) if d == 1 else d for d in v.shape)
    if prod(shape) > 4096:
        raise Refused
    same(w, f"tl.broadcast_to({v.name}, {names_of(shape)})", v, shape)


@feature("build", 1)
def join(w: Writer) -> None:
    a = w.pick(lambda v: 1 <= len(v.shape) <= 2 and prod(v.shape) <= 1024)
    b = w.like(a, lambda o: o.element is a.element)
    kind = w.choice(("join", "interleave", "cat"))
    value = replace(a, **known(w, a, b))
    if kind == "join":
        same(w, f"tl.join({a.name}, {b.name})", value, (*a.shape, 2))
    elif kind == "interleave":
        same(w, f"tl.interleave({a.name}, {b.name})", value, (*a.shape[:-1], 2 * a.shape[-1]))
    else:
        axis = w.random.randrange(len(a.shape))
        shape = tuple(2 * d if i == axis else d for i, d in enumerate(a.shape))
        same(w, f"tl.cat({a.name}, {b.name}, dim={axis})", value, shape)


@feature("build", 1)
def split(w: Writer) -> None:
    v = block(w, 1, lambda v: v.shape[-1] % 2 == 0 and prod(v.shape) > 2)
    if v.shape[-1] != 2 or len(v.shape) == 1:
        shape = (*v.shape[:-1], v.shape[-1] // 2, 2)
        v = same(w, f"tl.reshape({v.name}, {names_of(shape)})", v, shape)
    a, b = w.fresh(), w.fresh()
    w.line(f"{a}, {b} = tl.split({v.name})")
    w.values += [replace(v, name=n, shape=v.shape[:-1]) for n in (a, b)]


@feature("build", 1)
def flip(w: Writer) -> None:
    v = block(w)
    same(w, f"tl.flip({v.name}, {w.random.randrange(len(v.shape))})", v, v.shape)


@feature("build", 1)
def gather(w: Writer) -> None:
    v = block(w)
    axis = w.random.randrange(len(v.shape))
    index = w.pick(lambda o: o.shape == v.shape and o.element.name in ("i32", "i64"))
    same(w, f"tl.gather({v.name}, ({index.name} & 1023) % {v.shape[axis]}, {axis})", v, v.shape)


# -- reductions, scans, orders -----------------------------------------------------------------------------------------


def without(v: Value, axis: int | None, keep: bool) -> tuple[int, ...]:
    if axis is None:
        return (1,) * len(v.shape) if keep else ()
    return tuple(1 if i == axis else d for i, d in enumerate(v.shape) if keep or i != axis)


def widened(v: Value) -> object:
    """The type that sums are made in."""
    e = v.element
    if e.kind == "i" and e.bits < 32:
        return I32
    if e.kind in "ub" and e.bits < 32:
        return TYPES["u32"]
    return F32 if e.name == "bf16" else e


def kept(w: Writer, v: Value, e: Element, facts: dict) -> tuple[Element, dict]:
    """The type that sums made in `e` have in the end, and what is known of them there: bf16 again if `v` is."""
    if v.element.name != "bf16":
        return e, facts
    return v.element, to_float(w, Value("", e, (), **facts), v.element)


def axis_of(w: Writer, v: Value) -> tuple[int | None, str, tuple[int, ...]]:
    """An axis (or all), how a reduction is told, and the shape of the result."""
    axis = None if w.chance(0.2) else w.random.randrange(len(v.shape))
    keep = w.chance(0.3)
    return axis, f"{axis}{', keep_dims=True' if keep else ''}", without(v, axis, keep)


@feature("build", 2)
def total(w: Writer) -> None:
    v = block(w, 1, lambda v: not v.special and (v.element.kind != "f" or v.element.bits > 8))
    axis, text, shape = axis_of(w, v)
    count = prod(v.shape) if axis is None else v.shape[axis]
    e = widened(v)
    facts = {}
    if e.kind == "f":
        facts = float_result(w, e, v.most * count, v.grid, v.error * count)
        if facts["grid"] is None:
            facts["error"] = v.error * count + count * w.rounding(e, v.most * count)
    form = w.choice(("tl.sum({}, {})", "tl.sum({}, axis={})", "{}.sum({})"))
    e, facts = kept(w, v, e, facts)
    w.put(form.format(v.name, text), e, shape, **facts)


@feature("build", 2)
def extreme(w: Writer) -> None:
    v = block(
        w, 1, lambda v: v.element.kind in "iuf" and not v.special and (v.element.kind != "f" or v.element.bits > 8)
    )
    _, text, shape = axis_of(w, v)
    small = v.element.bits < 32
    e = (F32 if v.element.kind == "f" else I32) if small else v.element
    w.put(f"tl.{w.choice(('max', 'min'))}({v.name}, {text})", e, shape, **(known(w, v) if e.kind == "f" else {}))


@feature("build", 1.5)
def where_extreme(w: Writer) -> None:
    """argmax, argmin, the first of equal ones; or both by return_indices."""
    v = block(w, 1, lambda v: v.element.kind in "iuf" and v.exact and not v.special and v.element.bits >= 16)
    _, text, shape = axis_of(w, v)
    if w.chance(0.6):
        w.put(f"tl.{w.choice(('argmax', 'argmin'))}({v.name}, {text})", I32, shape)
        return
    a, b = w.fresh(), w.fresh()
    w.line(f"{a}, {b} = tl.{w.choice(('max', 'min'))}({v.name}, {text}, return_indices=True)")
    e = F32 if v.element.name == "bf16" else v.element
    w.values += [replace(v, name=a, element=e, shape=shape), Value(b, I32, shape)]


COMBINE = {
    "add": ("a + b", "iu"), "or": ("a | b", "iu"), "xor": ("a ^ b", "iu"), "and": ("a & b", "iu"),
    "larger": ("tl.where(a > b, a, b)", "iuf"), "mul": ("a * b", "iu"), "maximum": ("tl.maximum(a, b)", "iuf"),
    "first": ("a", "iuf"), "last": ("b", "iuf"),
}  # fmt: skip


def helper(w: Writer, name: str, body: str, arguments: str = "a, b") -> str:
    """A function of the user."""
    text = f"@tritium.jit\ndef {name}({arguments}):\n{body}\n"
    if text not in w.functions:
        w.functions.append(text)
    return name


@feature("build", 2)
def own_combine(w: Writer) -> None:
    """tl.reduce and tl.associative_scan with a function of the user."""
    name, (body, kinds) = w.choice(sorted(COMBINE.items()))
    v = block(
        w,
        1,
        lambda v: (
            v.element.kind in kinds and v.exact and not v.special and v.element.bits > 8 and v.element.name != "bf16"
        ),
    )
    function = helper(w, f"combine_{name}", f"    return {body}")
    if w.chance(0.5) and name not in ("first", "last"):
        _, text, shape = axis_of(w, v)
        same(
            w,
            f"tl.reduce({v.name}, {text.replace(', keep', f', {function}, keep') if 'keep' in text else f'{text}, {function}'})",
            v,
            shape,
        )
        return
    axis = w.random.randrange(len(v.shape))
    reverse = ", reverse=True" if w.chance(0.4) else ""
    same(w, f"tl.associative_scan({v.name}, {axis}, {function}{reverse})", v, v.shape)


@feature("build", 1)
def two_operands(w: Writer) -> None:
    """A reduction or scan of pairs: the larger with what belongs to it, of equal ones the smaller; sums of both."""
    a = block(w, 1, lambda v: v.element.kind in "iu" and v.element.bits >= 32)
    b = w.like(a, lambda o: o.element.kind in "iu" and o.element.bits >= 32)
    axis = w.random.randrange(len(a.shape))
    larger = helper(
        w,
        "larger_pair",
        "    take = (a > c) | ((a == c) & (b < d))\n    return tl.where(take, a, c), tl.where(take, b, d)",
        "a, b, c, d",
    )
    sums = helper(w, "both_sums", "    return a + c, b ^ d", "a, b, c, d")
    function = w.choice((larger, sums))
    x, y = w.fresh(), w.fresh()
    if w.chance(0.5):
        w.line(f"{x}, {y} = tl.reduce(({a.name}, {b.name}), {axis}, {function})")
        shape = without(a, axis, False)
    else:
        reverse = ", reverse=True" if w.chance(0.4) else ""
        w.line(f"{x}, {y} = tl.associative_scan(({a.name}, {b.name}), {axis}, {function}{reverse})")
        shape = a.shape
    w.values += [Value(x, a.element, shape), Value(y, b.element, shape)]


@feature("build", 1.5)
def cumulative(w: Writer) -> None:
    v = block(w, 1, lambda v: v.element.kind in "iu" or v.lattice)
    axis = w.random.randrange(len(v.shape))
    reverse = ", reverse=True" if w.chance(0.4) else ""
    e = widened(v)
    if e.kind == "f" and (e.bits == 8 or not w.fits(e, v.most * v.shape[axis], v.grid)):
        raise Refused
    facts = {"most": v.most * v.shape[axis], "grid": v.grid} if e.kind == "f" else {}
    e, facts = kept(w, v, e, facts)
    w.put(f"tl.cumsum({v.name}, {axis}{reverse})", e, v.shape, **facts)


@feature("build", 1)
def sort(w: Writer) -> None:
    v = block(
        w,
        1,
        lambda v: v.element.kind in "iuf" and v.exact and not v.special and v.element.bits >= 16 and v.shape[-1] <= 128,
    )
    if v.element.name == "bf16" or prod(v.shape) > 1024:
        raise Refused
    same(w, f"tl.sort({v.name}{w.choice(('', ', descending=True'))})", v, v.shape)


@feature("build", 0.7)
def histogram(w: Writer) -> None:
    v = w.pick(lambda v: len(v.shape) == 1 and v.element.name in ("i32", "u32") and v.shape[0] >= 8)
    bins = w.choice((2, 8, 16, 64, 128))
    w.put(f"tl.histogram({v.name} & {bins - 1}, {bins})", I32, (bins,))


# -- products ----------------------------------------------------------------------------------------------------------

OPERANDS = ("f16", "f16", "bf16", "bf16", "f32", "f32", "i8", "e5", "e4", "f64")


def operand(w: Writer, name: str, shape: tuple[int, int]) -> Value:
    """A tile of small multiples of a half: sums of products are exact in any order and precision."""
    e = TYPES[name]
    found = [v for v in w.values if v.shape == shape and v.element is e and v.lattice and v.most <= 4 and v.grid <= 2]
    if found and name not in ("e5", "e4") and w.chance(0.4):
        return w.random.choice(found)
    if name == "i8":
        source = w.parameter("x_i8")
    else:
        source = w.parameter(f"x_{name}")
    rows, columns = f"tl.arange(0, {shape[0]})[:, None]", f"tl.arange(0, {shape[1]})[None, :]"
    text = f"tl.load({source} + {w.choice((0, 16, 64)) if prod(shape) < 4096 else 0} + {rows} * {shape[1]} + {columns})"
    if w.chance(0.3):
        text = f"tl.load({source} + {rows} + {columns} * {shape[0]})"
    return w.add(text, Value("", e, shape, most=4.0 if e.kind == "f" else 0.0, grid=2 if e.kind == "f" else None))


@feature("build", 2)
def dot(w: Writer) -> None:
    m, n, k = (w.choice((16, 32, 64, 48, 24) if w.uneven else (16, 32, 64)) for _ in range(3))
    name = w.choice(OPERANDS)
    k = max(k, 32) if TYPES[name].bits == 8 else k
    a, b = operand(w, name, (m, k)), operand(w, name, (k, n))
    e = {"i8": I32, "f64": F64}.get(name, F32)
    precision = f', input_precision="{w.choice(("ieee", "tf32", "tf32x3"))}"' if name == "f32" else ""
    facts = {"most": 16.0 * k, "grid": 4, "terms": k} if e.kind == "f" else {}
    c = [
        v
        for v in w.values
        if v.shape == (m, n) and v.element is e and (e.kind != "f" or v.lattice and v.most < 2**12 and v.grid <= 4)
    ]
    if c and w.chance(0.5):
        c = w.random.choice(c)
        facts = {"most": 16.0 * k + c.most, "grid": 4, "terms": k} if e.kind == "f" else {}
        w.put(f"tl.dot({a.name}, {b.name}, {c.name}{precision})", e, (m, n), **facts)
        return
    w.put(f"tl.dot({a.name}, {b.name}{precision})", e, (m, n), **facts)


@feature("build", 1)
def chained_dot(w: Writer) -> None:
    """A product of a product (cast), in a loop now and then."""
    m, n, k = (w.choice((16, 32)) for _ in range(3))
    a, b = operand(w, "f16", (m, k)), operand(w, "f16", (k, n))
    c = operand(w, "f16", (n, 32))
    p = w.put(f"tl.dot({a.name}, {b.name})", F32, (m, n), most=16.0 * k, grid=4, terms=k)
    q = w.put(
        f"tl.where({p.name} > {w.choice((0.0, 2.0))}, 1.0, {p.name} * 0).to(tl.float16)", F16, (m, n), most=1.0, grid=0
    )
    w.put(f"tl.dot({q.name}, {c.name})", F32, (m, 32), most=4.0 * n, grid=2, terms=n)


@feature("build", 1)
def dot_loop(w: Writer) -> None:
    """A loop of products, whose loads may begin ahead."""
    m, n, k = w.choice((16, 64)), w.choice((16, 32)), w.choice((16, 32))
    name = w.choice(("f16", "bf16", "f32"))
    steps, stages = w.choice((1, 2, 4)), w.choice(("", ", num_stages=2", ", num_stages=4"))
    x, total = w.parameter(f"x_{name}"), w.fresh()
    precision = ', input_precision="ieee"' if name == "f32" else ""
    rows, inner, columns = f"tl.arange(0, {m})[:, None]", f"tl.arange(0, {k})", f"tl.arange(0, {n})[None, :]"
    i = w.fresh("k")
    w.line(f"{total} = tl.zeros([{m}, {n}], tl.float32)")
    w.line(f"for {i} in tl.range(0, {steps * k}, {k}{stages}):")
    w.line(
        f"    left = tl.load({x} + {rows} * {steps * k if m * steps * k <= 4096 else k} + {i} * {int(m * steps * k <= 4096)} + {inner}[None, :])"
    )
    w.line(f"    right = tl.load({x} + ({i} + {inner})[:, None] * {n} + {columns})")
    w.line(f"    {total} = tl.dot(left, right, {total}{precision})")
    w.values.append(Value(total, F32, (m, n), most=16.0 * k * steps, grid=4, terms=k * steps))


# -- calls -------------------------------------------------------------------------------------------------------------


@feature("build", 1.5)
def call(w: Writer) -> None:
    """Functions that call functions, with defaults and several results."""
    v = block(w, 0, lambda v: v.element.kind in "iu")
    inner = helper(w, "inner", "    return a * b + 1, a ^ b", "a, b")
    outer = helper(
        w,
        "outer",
        "    x, y = inner(a, b)\n    if FLAG:\n        return x, y, a\n    else:\n        return y, x, b",
        "a, b, FLAG: tl.constexpr = True",
    )
    assert inner == "inner"
    o = w.like(v, lambda o: o.element is v.element)
    names = [w.fresh() for _ in range(3)]
    w.line(f"{', '.join(names)} = {outer}({v.name}, {o.name}{w.choice(('', ', FLAG=False'))})")
    w.values += [Value(n, v.element, v.shape) for n in names]


@feature("build", 0.7)
def early_return(w: Writer) -> None:
    """A function with a return in a branch, of a scalar."""
    v = w.pick(lambda v: not v.shape and v.element.kind in "iu")
    choose = helper(w, "choose", "    if a > 3:\n        return a * 2\n    else:\n        return a - 1", "a")
    w.put(f"{choose}({v.name})", v.element, ())


@feature("build", 0.5)
def map_elements(w: Writer) -> None:
    v = block(w, 1, lambda v: v.element.kind in "iu" and v.element.bits >= 16)
    function = helper(w, "scalar_step", "    if a > 5:\n        return a * 3\n    else:\n        return a - 1", "a")
    w.put(f"tl.map_elementwise({function}, {v.name})", v.element, v.shape)
