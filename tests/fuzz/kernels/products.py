"""Steps of random kernels: products of several forms, and loops that load ahead of what they compute."""

from __future__ import annotations

from math import prod

from .accesses import linear, output
from .elements import TYPES
from .structure import operand
from .writer import SIZE, Refused, Value, Writer, feature

__all__ = ["STAGES"]

F16, F32, I32 = (TYPES[n] for n in ("f16", "f32", "i32"))
STAGES = ("", ", num_stages=1", ", num_stages=2", ", num_stages=3", ", num_stages=4")


def loaded(w: Writer, name: str, shape: tuple[int, ...]) -> Value:
    """A tile of an input of a type: small multiples of a quarter, or integers."""
    if prod(shape) > SIZE:
        raise Refused
    e = TYPES[name]
    order = list(range(len(shape)))
    w.random.shuffle(order)
    first = w.choice((0, 16, 64)) if prod(shape) <= 2048 else 0
    facts = {"most": 4.0, "grid": 2} if e.kind == "f" else {}
    return w.add(
        f"tl.load({w.parameter(f'x_{name}')} + {first} + {linear(shape, tuple(order))})", Value("", e, shape, **facts)
    )


def facts(name: str, k: int, grid: int = 4) -> dict:
    """What is known of products of `k` pairs of numbers up to 4."""
    return {} if name == "i8" else {"most": 16.0 * k, "grid": grid, "terms": k}


def sums_of(name: str) -> object:
    return I32 if name == "i8" else F32


# -- forms of products -------------------------------------------------------------------------------------------------


@feature("build", 1)
def batched_dot(w: Writer) -> None:
    """Products of matrices, several of them."""
    count, (m, n, k) = w.choice((1, 2, 4)), (w.choice((16, 32)) for _ in range(3))
    name = w.choice(("f16", "bf16", "f32", "i8"))
    k = max(k, 32) if name == "i8" else k
    a, b = loaded(w, name, (count, m, k)), loaded(w, name, (count, k, n))
    precision = ', input_precision="ieee"' if name == "f32" else ""
    w.put(f"tl.dot({a.name}, {b.name}{precision})", sums_of(name), (count, m, n), **facts(name, k))


@feature("build", 1)
def transposed_dot(w: Writer) -> None:
    """Products of transposed blocks."""
    m, n, k = (w.choice((16, 32, 64)) for _ in range(3))
    name = w.choice(("f16", "bf16", "f32", "i8", "e5"))
    k = max(k, 32) if TYPES[name].bits == 8 else k
    turned = w.choice(((True, False), (False, True), (True, True)))
    a = operand(w, name, (k, m) if turned[0] else (m, k)).name
    b = operand(w, name, (n, k) if turned[1] else (k, n)).name
    a = w.choice((f"tl.trans({a})", f"{a}.T")) if turned[0] else a
    b = w.choice((f"tl.trans({b})", f"{b}.trans(1, 0)")) if turned[1] else b
    precision = ', input_precision="tf32"' if name == "f32" else ""
    w.put(f"tl.dot({a}, {b}{precision})", sums_of(name), (m, n), **facts(name, k))


def computed(w: Writer, name: str, shape: tuple[int, int]) -> str:
    """An operand that is computed: cast, masked, scaled."""
    e = TYPES[name]
    kind = w.choice(("integers", "mask", "half", "wide"))
    if kind == "integers":
        v = operand(w, "i8", shape)
        return w.put(f"({v.name} & 3).to({e.tl})", e, shape, most=3.0, grid=0).name
    v = operand(w, name, shape)
    if kind == "mask":
        limit = w.choice((1, shape[0] - 3, 100))
        text = f"tl.where(tl.arange(0, {shape[0]})[:, None] < {limit}, {v.name}, 0.0).to({e.tl})"
        return w.put(text, e, shape, most=4.0, grid=2).name
    if kind == "half":
        return w.put(f"({v.name} * 0.5).to({e.tl})", e, shape, most=2.0, grid=3).name
    return w.put(f"{operand(w, 'f32', shape).name}.to({e.tl})", e, shape, most=4.0, grid=2).name


@feature("build", 1)
def computed_dot(w: Writer) -> None:
    """Products of what was just computed."""
    m, n, k = (w.choice((16, 32, 64)) for _ in range(3))
    name = w.choice(("f16", "bf16"))
    a, b = computed(w, name, (m, k)), computed(w, name, (k, n))
    w.put(f"tl.dot({a}, {b})", F32, (m, n), **facts(name, k, 6))


FORMATS = {"e2m1": ("u8", 6.0, 1), "e4m3": ("e4", 4.0, 2), "e5m2": ("e5", 4.0, 2), "bf16": ("bf16", 4.0, 2), "fp16": ("f16", 4.0, 2)}  # fmt: skip
"""Formats of numbers that have scales: their types in memory, the largest magnitude and the grid."""


@feature("build", 0.7)
def scaled_dot(w: Writer) -> None:
    """A product of numbers that share powers of two, of 1/2 up to 4, by 32."""
    m, n, k = w.choice((16, 32, 64)), w.choice((16, 32, 64)), w.choice((64, 128))
    parts, most, grid = [], float(k), 0
    for left in (True, False):
        form = w.choice(sorted(FORMATS))
        name, largest, fine = FORMATS[form]
        inner = k // 2 if form == "e2m1" else k
        v = loaded(w, name, (m, inner) if left else (inner, n))
        scale = "None"
        if w.chance(0.8):
            of = loaded(w, "u8", (m if left else n, k // 32))
            scale = w.add(f"(({of.name} & 3) + 126).to(tl.uint8)", Value("", TYPES["u8"], of.shape)).name
            largest, fine = 4 * largest, fine + 1
        parts.append(f'{v.name}, {scale}, "{form}"')
        most, grid = most * largest, grid + fine
    parts += ["fast_math=True"] if w.chance(0.3) else []
    w.put(f"tl.dot_scaled({', '.join(parts)})", F32, (m, n), most=most, grid=grid, terms=k)


# -- loops -------------------------------------------------------------------------------------------------------------


@feature("control", 1)
def masked_dot_loop(w: Writer) -> None:
    """Pointers that move along rows which end within a step."""
    m, n, k = w.choice((16, 32)), w.choice((16, 32)), w.choice((16, 32))
    whole, name = w.choice((24, 40, 64, 72)), w.choice(("f16", "bf16", "f32"))
    if w.depth:
        raise Refused
    x, total, left, right, i = w.parameter(f"x_{name}"), w.fresh(), w.fresh("p"), w.fresh("p"), w.fresh("k")
    precision = ', input_precision="ieee"' if name == "f32" else ""
    w.line(f"{total} = tl.zeros([{m}, {n}], tl.float32)")
    w.line(f"{left} = {x} + tl.arange(0, {m})[:, None] * {whole} + tl.arange(0, {k})[None, :]")
    w.line(f"{right} = {x} + tl.arange(0, {k})[:, None] * {n} + tl.arange(0, {n})[None, :]")
    w.line(f"for {i} in tl.range(0, tl.cdiv({whole}, {k}){w.choice(STAGES)}):")
    w.line(f"    a = tl.load({left}, mask=tl.arange(0, {k})[None, :] < {whole} - {i} * {k}, other=0.0)")
    w.line(f"    b = tl.load({right}, mask=tl.arange(0, {k})[:, None] < {whole} - {i} * {k}, other=0.0)")
    if w.chance(0.3):
        w.line(f"    if {i} == {w.choice((0, 1, 'pid'))}: {total} += 1.0")
    w.line(f"    {total} = tl.dot(a, b, {total}{precision})")
    w.line(f"    {left} += {k}")
    w.line(f"    {right} += {k * n}")
    w.values.append(Value(total, F32, (m, n), most=16.0 * whole + 4, grid=4))


@feature("control", 1)
def attention_loop(w: Writer) -> None:
    """A product of what a product said, sums and extremes of rows beside it; all of them exact."""
    m, n, d, steps = w.choice((16, 32, 64)), w.choice((16, 32)), w.choice((16, 32)), w.choice((1, 2, 4))
    if w.depth:
        raise Refused
    name = w.choice(("f16", "bf16"))
    q, x, e = operand(w, name, (m, d)).name, w.parameter(f"x_{name}"), TYPES[name]
    acc, top, norm, i = w.fresh(), w.fresh(), w.fresh(), w.fresh("k")
    w.line(f"{acc} = tl.zeros([{m}, {d}], tl.float32)")
    w.line(f"{top} = tl.full([{m}], -1000.0, tl.float32)")
    w.line(f"{norm} = tl.zeros([{m}], tl.float32)")
    w.line(f"for {i} in tl.range(0, {steps * n}, {n}{w.choice(STAGES)}):")
    w.line(f"    keys = tl.load({x} + ({i} + tl.arange(0, {n}))[None, :] * {d} + tl.arange(0, {d})[:, None])")
    w.line(f"    s = tl.dot({q}, keys)")
    if w.chance(0.5):
        w.line(f"    s = tl.where(tl.arange(0, {m})[:, None] >= {i} + tl.arange(0, {n})[None, :], s, -1000.0)")
    w.line(f"    new = tl.maximum({top}, tl.max(s, 1))")
    w.line(f"    share = tl.where({top} < new, 0.5, 1.0)")
    w.line(f"    p = tl.where(s >= new[:, None] - {w.choice((0.0, 2.0))}, 1.0, 0.5)")
    w.line(f"    {norm} = {norm} * share + tl.sum(p, 1)")
    w.line(f"    values = tl.load({x} + ({i} + tl.arange(0, {n}))[:, None] * {d} + tl.arange(0, {d})[None, :])")
    product = f"tl.dot(p.to({e.tl}), values, {acc} * share[:, None])"
    w.line(
        f"    {acc} = {product}"
        if w.chance(0.5)
        else f"    {acc} = {acc} * share[:, None] + tl.dot(p.to({e.tl}), values)"
    )
    w.line(f"    {top} = new")
    w.values.append(Value(acc, F32, (m, d), most=4.0 * n * steps, grid=3 + steps))
    w.values.append(Value(norm, F32, (m,), most=1.0 * n * steps, grid=1 + steps))
    w.values.append(Value(top, F32, (m,), most=max(1000.0, 16.0 * d), grid=4))


@feature("control", 0.7)
def tiles_in_turn(w: Writer) -> None:
    """A loop over tiles around one of products, with a store behind each."""
    if w.depth:
        raise Refused
    m, n, k, steps, tiles = w.choice((16, 32)), w.choice((16, 32)), 16, w.choice((1, 2, 3)), w.choice((1, 2, 3))
    name = w.choice(("f16", "bf16"))
    x, total, t, i = w.parameter(f"x_{name}"), w.fresh(), w.fresh("t"), w.fresh("k")
    room = tiles * m * n
    out = output(w, Value("", F32, (m, n)), room)
    flat = w.choice(("", ", flatten=True", ", num_stages=2"))
    w.line(f"for {t} in tl.range(pid * {tiles}, (pid + 1) * {tiles}{flat}):")
    w.line(f"    {total} = tl.zeros([{m}, {n}], tl.float32)")
    w.line(f"    for {i} in tl.range(0, {steps}{w.choice(STAGES)}):")
    w.line(
        f"        a = tl.load({x} + {t} * 16 + tl.arange(0, {m})[:, None] * {k * steps} + {i} * {k} + tl.arange(0, {k}))"
    )
    w.line(f"        b = tl.load({x} + ({i} * {k} + tl.arange(0, {k}))[:, None] * {n} + tl.arange(0, {n})[None, :])")
    w.line(f"        {total} = tl.dot(a, b, {total})")
    w.line(f"    tl.store({out} + {t} * {m * n} + {linear((m, n))}, {total})")


@feature("control", 1)
def row_loop(w: Writer) -> None:
    """Rows that are read one after the other, reduced and kept."""
    e = TYPES[w.choice(("i32", "i64", "u32", "f32", "f64", "f16"))]
    size, steps = w.choice((16, 64, 128, 256)), w.choice((1, 2, 3, 5))
    if w.depth > 1:
        raise Refused
    x, n = w.parameter(f"x_{e.name}"), w.scalar_parameter().name
    total, best, last, i = w.fresh(), w.fresh(), w.fresh(), w.fresh("k")
    wide = F32 if e.name == "f16" else e
    w.line(f"{total} = tl.zeros([], {wide.tl})" if w.chance(0.5) else f"{total} = tl.full((), 0, {wide.tl})")
    w.line(f"{best} = tl.zeros([{size}], {e.tl})")
    w.line(f"{last} = tl.zeros([{size}], {e.tl})")
    head = w.choice((f"0, {steps}", f"{steps}", f"{steps - 1}, -1, -1", f"pid, pid + {steps}"))
    w.line(f"for {i} in tl.range({head}{w.choice(STAGES)}):")
    mask = f", mask=tl.arange(0, {size}) + {i} * 16 < {n} * 4, other={w.choice((0, 2))}" if w.chance(0.5) else ""
    w.line(f"    row = tl.load({x} + {i} * {w.choice((1, 16, 64, size))} + tl.arange(0, {size}){mask})")
    w.line(f"    {total} += tl.sum(row, 0)")
    w.line(
        f"    {best} = {w.choice((f'tl.maximum({best}, row)', f'tl.where(row > {best}, row, {best})', f'{best} + row'))}"
    )
    if w.chance(0.4):
        w.line(f"    if tl.max(row, 0) > {w.choice((2, 4, 100))}: {last} = row")
    else:
        w.line(f"    {last} = row")
    known = {"most": 4.0 * steps, "grid": 2} if e.kind == "f" else {}
    whole = {"most": 4.0 * steps * size, "grid": 2} if e.kind == "f" else {}
    w.values += [Value(total, wide, (), **whole), Value(best, e, (size,), **known), Value(last, e, (size,), **known)]
