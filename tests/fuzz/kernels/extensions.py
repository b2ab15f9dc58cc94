"""Steps of random kernels: what Triton has not (elements and slices of blocks), what is rare, and numbers as arguments."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .elements import TYPES, Element
from .writer import Refused, Value, Writer, feature

__all__ = ["NUMBERS"]

F32, I32, I64, U32, U64 = (TYPES[n] for n in ("f32", "i32", "i64", "u32", "u64"))
NUMBERS: dict[str, tuple[Element, tuple[int | float, ...]]] = {
    "q": (I64, (2**33 + 5, -(2**40), 2**62)),
    "k": (I32, (-3, 7, 48, 2**31 - 1)),
    "u": (U64, (2**63, 2**64 - 1)),
    "f": (F32, (0.5, -2.25, 3.0)),
}
"""Arguments that are numbers, with their types and values: never 1, which would be a compile-time constant."""


@feature("types", 1.5)
def number_argument(w: Writer) -> None:
    """A number that the launch gives, of the type its value has."""
    name = w.choice(sorted(NUMBERS))
    e, values = NUMBERS[name]
    if any(v.name == name for v in w.values):
        raise Refused
    w.parameter(name)
    w.scalars.setdefault(name, w.choice(values))
    facts = {"most": 4.0, "grid": 2} if e.kind == "f" else {}
    w.values.append(Value(name, e, (), **facts))


# -- elements and slices -----------------------------------------------------------------------------------------------


def subscript(w: Writer, d: int) -> tuple[str, int | None]:
    """An index of a dimension, and the size that is left (None: the dimension goes)."""
    kind = w.choice(("number", "run", "all", "all", "slice", "neighbours", "turned"))
    if kind == "number":
        return str(w.random.randrange(-d, d)), None
    if kind == "run":
        return w.choice(("pid", "pid * 3 + 1", "-pid")), None
    if kind == "all" or d == 1:
        return ":", d
    if kind == "turned":
        return "::-1", d
    size = w.random.randint(1, d - 1) if w.uneven else w.choice([s for s in (1, 2, 4, 8, 16, 32) if s < d])
    if kind == "slice":
        first = w.random.randint(0, d - size)
        return f"{first}:{first + size}", size
    return f"pid : pid + {size}", size


@feature("memory", 1.5)
def element(w: Writer) -> None:
    """x[i, a:b]"""
    v = w.pick(lambda v: 1 <= len(v.shape) <= 3 and prod(v.shape) > 1)
    parts = [subscript(w, d) for d in v.shape]
    shape = tuple(size for _, size in parts if size is not None)
    w.add(f"{v.name}[{', '.join(text for text, _ in parts)}]", replace(v, shape=shape))


@feature("memory", 0.7)
def set_element(w: Writer) -> None:
    """x[i] = v: of the same block, so that what is known of it stays true."""
    v = w.pick(lambda v: 1 <= len(v.shape) <= 2 and prod(v.shape) > 1)
    name = w.fresh()
    w.line(f"{name} = {v.name}")
    at = w.choice(("0", "-1", "pid", "pid + 2"))
    source = f"{v.name}[{w.choice(('0', '-1', 'pid'))}{', :' if len(v.shape) == 2 else ''}]"
    if w.chance(0.3):
        source = w.zero(v.element)
    w.line(f"{name}[{at}{', :' if len(v.shape) == 2 else ''}] = {source}")
    w.values.append(replace(v, name=name, grid=None if v.grid is None else max(v.grid, 0)))


# -- rare functions ----------------------------------------------------------------------------------------------------


@feature("build", 1)
def integer_reductions(w: Writer) -> None:
    """cumprod, xor_sum, reduce_or, of integers of 32 bits and more, whose types stay."""
    v = w.pick(lambda v: v.element.kind in "iu" and v.element.bits >= 32 and len(v.shape) > 0)
    axis = w.random.randrange(len(v.shape))
    name = w.choice(("cumprod", "xor_sum", "reduce_or"))
    shape = v.shape if name == "cumprod" else (*v.shape[:axis], *v.shape[axis + 1 :])
    reverse = ", reverse=True" if name == "cumprod" and w.chance(0.4) else ""
    w.add(f"tl.{name}({v.name}, {axis}{reverse})", replace(v, shape=shape))


@feature("build", 0.5)
def largest(w: Writer) -> None:
    """topk"""
    v = w.pick(lambda v: v.element.kind in "iu" and v.element.bits >= 16 and v.shape and 2 <= v.shape[-1] <= 64)
    if prod(v.shape) > 512:
        raise Refused
    k = w.choice([n for n in (1, 2, 4, 8, 16) if n <= v.shape[-1]])
    w.add(f"tl.topk({v.name}, {k})", replace(v, shape=(*v.shape[:-1], k)))


@feature("build", 0.5)
def softmax(w: Writer) -> None:
    """Of numbers up to 4: shares of at most 1, each of n + 6 roundings."""
    v = w.pick(lambda v: v.element is F32 and v.lattice and v.most <= 4 and len(v.shape) == 1 and v.shape[0] > 1)
    w.put(f"tl.softmax({v.name})", F32, v.shape, most=1.01, error=(v.shape[0] + 16) * 2.0**-23)


@feature("build", 0.5)
def indices(w: Writer) -> None:
    """cdiv and swizzle2d, of numbers that are not negative."""
    a = w.pick(lambda v: v.element is I32)
    if w.chance(0.5):
        w.put(f"tl.cdiv({a.name} & 1023, {w.choice((1, 3, 16, 100))})", I32, a.shape)
        return
    x, y = w.fresh(), w.fresh()
    w.line(f"{x}, {y} = tl.swizzle2d({a.name} & 7, {a.name} & 3, 8, 4, {w.choice((1, 2, 3))})")
    w.values += [Value(n, I32, a.shape) for n in (x, y)]


@feature("build", 0.5)
def largest_floats(w: Writer) -> None:
    """topk of floats, the greatest or the least."""
    v = w.pick(lambda v: v.element.name in ("f16", "f32", "f64") and v.exact and not v.special and v.shape)
    if not 2 <= v.shape[-1] <= 64 or prod(v.shape) > 512:
        raise Refused
    k = w.choice([n for n in (1, 2, 4, 8, 16) if n <= v.shape[-1]])
    least = w.choice(("", ", descending=False"))
    w.add(f"tl.topk({v.name}, {k}{least})", replace(v, shape=(*v.shape[:-1], k)))


@feature("build", 0.7)
def wide_sum(w: Writer) -> None:
    """Sums in a type that is told."""
    v = w.pick(lambda v: v.element.kind == "i" and v.shape)
    axis = w.random.randrange(len(v.shape))
    if w.chance(0.6):
        w.put(f"tl.sum({v.name}, {axis}, dtype=tl.int64)", I64, (*v.shape[:axis], *v.shape[axis + 1 :]))
    else:
        w.put(f"tl.cumsum({v.name}, {axis}, dtype=tl.int64)", I64, v.shape)


@feature("build", 0.7)
def random_numbers(w: Writer) -> None:
    """Philox: words, and floats that are one product of a word."""
    v = w.pick(lambda v: v.element is I32)
    seed = w.choice(("5", "pid", "2**40 + 3"))
    kind = w.choice(("randint", "rand", "randint4x"))
    if kind == "rand":
        # Its last step is a product, which GPUs join with a sum behind it.
        w.put(f"tl.rand({seed}, {v.name})", F32, v.shape, most=1.0, error=2.0**-24)
    elif kind == "randint":
        w.put(f"tl.randint({seed}, {v.name})", U32, v.shape)
    else:
        names = [w.fresh() for _ in range(4)]
        w.line(f"{', '.join(names)} = tl.randint4x({seed}, {v.name})")
        w.values += [Value(n, U32, v.shape) for n in names]


@feature("memory", 1)
def hints(w: Writer) -> None:
    """What the writer knows of indices, and says."""
    e = TYPES[w.choice(("i8", "i32", "i64", "f16", "f32", "u16"))]
    size, n = w.choice((16, 64, 128, 256)), w.scalar_parameter().name
    first = w.choice((f"tl.multiple_of({n} * 16, 16)", f"tl.multiple_of(({n} & 7) * 64, 64)", f"{n} & 15", "pid * 32"))
    index = w.choice(
        (
            f"tl.max_contiguous(tl.arange(0, {size}), {size})",
            f"tl.max_contiguous(tl.multiple_of(tl.arange(0, {size}), {size}), {size})",
            f"tl.max_constancy(tl.arange(0, {size}) // 16, 16)",
            f"tl.arange(0, {size})",
        )  # fmt: skip
    )
    at = w.fresh("at")
    if w.chance(0.5):
        w.line(f"tl.assume({n} >= 0)")
    w.line(f"{at} = {first} + {index}")
    mask = f", mask={at} < {w.choice((n, f'{n} * 16 + 5'))}, other=1" if w.chance(0.5) else ""
    facts = {"most": 4.0, "grid": 2} if e.kind == "f" else {}
    w.add(f"tl.load({w.parameter(f'x_{e.name}')} + {at}{mask})", Value("", e, (size,), **facts))


@feature("memory", 0.5)
def gathered_rows(w: Writer) -> None:
    """Rows of a descriptor that an index names."""
    e = TYPES[w.choice(("f16", "bf16", "f32", "i32", "i16"))]
    index = w.pick(lambda v: v.element is I32 and len(v.shape) == 1 and v.shape[0] in (8, 16, 32, 64))
    columns = w.choice((16, 32))
    d, column = w.fresh("d"), w.choice((0, 8, 16))
    w.line(f"{d} = tl.make_tensor_descriptor({w.parameter(f'x_{e.name}')}, [40, 64], [64, 1], [1, {columns}])")
    facts = {"most": 4.0, "grid": 2} if e.kind == "f" else {}
    text = f"{d}.gather(({index.name} & 31) + {w.choice((0, 5, 16))}, {column})"
    w.add(text, Value("", e, (index.shape[0], columns), **facts))
