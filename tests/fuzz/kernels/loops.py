"""Steps of random kernels: loops whose length is data, loops of loads at moving addresses, loops of two elements a step."""

from __future__ import annotations

from math import prod

from .accesses import facts_of, linear, shape_of
from .control import DEEPEST, carried, condition, looped, room
from .elements import FLOATS, INTEGERS, TYPES, Element
from .writer import SIZE, Refused, Value, Writer, feature, names_of

__all__: list[str] = []

I32 = TYPES["i32"]


# -- as long as data says ----------------------------------------------------------------------------------------------


def loaded_condition(w: Writer, i: str, limit: int) -> str:
    """A number of memory at each step; at most `limit` steps."""
    at = f"{i} * {w.choice((1, 2, 7))} + {w.choice(('0', '40', 'pid', 'pid * 16'))}"
    asked = f"tl.load({w.parameter('x_i32')} + {at}) {w.choice(('> 0', '!= 3', '< 9', '<= 4'))}"
    return w.choice((f"({asked}) & ({i} < {limit})", f"{asked} and {i} < {limit}", f"{i} < {limit} and {asked}"))


@feature("control", 2)
def while_of_loads(w: Writer) -> None:
    """A loop that goes on for as long as what it loads, or a block that it changes, says."""
    room(w)
    changing = carried(w)
    i, limit = w.fresh("i"), w.choice((1, 2, 3, 5))
    w.line(f"{i} = 0")
    blocks = [c for c in changing if c.shape and c.element.kind in "iu" and c.element.bits >= 32]
    if blocks and w.chance(0.4):
        c = w.random.choice(blocks)
        asked = w.choice((f"tl.max({c.name}) > 3", f"tl.sum({c.name} & 1) != 2", f"tl.min({c.name} & 15) < 4"))
        w.line(f"while ({asked}) & ({i} < {limit}):")
    elif w.chance(0.2) and (
        numbers := [v for v in w.values if not v.shape and v.element.name in ("i32", "i64", "i16")]
    ):
        w.line(f"while {i} < ({w.random.choice(numbers).name} & {w.choice((3, 7))}):")
    else:
        w.line(f"while {loaded_condition(w, i, limit)}:")
    jump = f"if {i} == {w.choice((1, 2))}: {w.choice(('break', 'continue'))}" if w.chance(0.3) else None
    looped(w, changing, jump, Value(i, I32, ()), lambda: w.line(f"{i} += 1"))


# -- at moving addresses -----------------------------------------------------------------------------------------------

COUNTED = [
    ("range(0, 3)", 0, 2), ("range(1, 6, 2)", 1, 5), ("range(4, 0, -1)", 1, 4), ("range(6, -1, -3)", 0, 6), ("range({n} & 3)", 0, 2),
    ("range(pid, 5)", 0, 4), ("tl.range(0, {n} & 7, 2, num_stages=3)", 0, 6), ("tl.range(0, 4, num_stages=2)", 0, 3),
    ("range(-2, 2)", -2, 1), ("tl.static_range(0, 4, 2)", 0, 2), ("range({n} & 7, -3, -2)", -2, 7),
    ("tl.range(5, loop_unroll_factor=2)", 0, 4), ("tl.range(3, 0, -1, num_stages=2)", 1, 3), ("range(2, 2)", 0, 1),
]  # fmt: skip
"""Loops of at most five steps, and the least and the largest number that each counts."""
MOST = 5


def tile_of(w: Writer) -> tuple[Element, str, tuple[int, ...]]:
    """What a loop loads: elements, the array, a shape."""
    e = w.choice([e for e in (*INTEGERS, *FLOATS) if e.bits > 8 or e.kind != "f"])
    shape = shape_of(w)
    if prod(shape) > 2048:
        raise Refused
    return e, w.parameter(f"x_{e.name}"), shape


def moving(w: Writer, i: str, counted: tuple[int, int], shape: tuple[int, ...]) -> str:
    """The places of a step: all of them are in the array, with one beside them."""
    count = prod(shape)
    stride = w.choice((1, 16, -8, 33, count, -count))
    first, last = sorted(number * stride for number in counted)
    base = max(-first, 0) + w.choice((0, 3, 16))
    if base + last + count >= SIZE:
        raise Refused
    return f"{linear(shape)} + ({i} * {stride} + {base})" if shape else f"{i} * {stride} + {base}"


def edge(w: Writer, at: str, shape: tuple[int, ...]) -> str:
    """A mask that cuts some of the tiles, and what stands in the place of what it cuts."""
    if not shape or not w.chance(0.6):
        return ""
    count, n = prod(shape), w.scalar_parameter().name
    forms = (
        f"{at} < {n} * 8",
        f"{at} >= {count // 2}",
        f"{at} < {count + count // 2}",
        f"({at} > 2) & ({at} < {3 * count})",
    )
    return f", mask={w.choice(forms)}, other={w.choice((0, 1))}"


@feature("control", 3)
def loop_of_loads(w: Writer) -> None:
    """A sum of tiles at moving addresses, masked at the edges; under a condition, from a loop inside of the loop."""
    room(w)
    e, array, shape = tile_of(w)
    total, i, j, (head, *counted) = w.fresh("c"), w.fresh("i"), w.fresh("j"), w.choice(COUNTED)
    nested = w.depth + 1 < DEEPEST and w.chance(0.3)
    value = Value(total, e, shape, **({"most": 4.0 * 2 * MOST, "grid": 2} if e.kind == "f" else {}))
    w.check(value)
    place = moving(w, i, counted, shape) + (f" + {j}" if nested else "")
    changing = carried(w)
    w.line(f"{total} = tl.zeros({names_of(shape)}, {e.tl})")
    w.values.append(value)

    def add() -> None:
        at, tile = w.fresh("at"), w.fresh()
        w.line(f"{at} = {place}")
        w.line(f"{tile} = tl.load({array} + {at}{edge(w, at, shape)})")
        w.values.append(Value(tile, e, shape, **facts_of("x", e)))
        forms = ("{t} += {v}",) if e.kind == "f" else ("{t} += {v}", "{t} = {t} * 3 ^ {v}")
        w.line(w.choice(forms).format(t=total, v=tile))

    def maybe_add() -> None:
        if not w.chance(0.4):
            add()
            return
        w.line(f"if {w.choice((condition(w), f'{i} != 1'))}:")
        w.body(add)

    def begin() -> None:
        if not nested:
            maybe_add()
            return
        w.line(f"for {j} in range({w.choice(('2', 'pid & 1', '1, -1, -1'))}):")
        w.body(maybe_add)

    w.line(f"for {i} in {head.format(n=w.scalar_parameter().name)}:")
    looped(w, changing, None, None if "static" in head else Value(i, I32, ()), begin)


# -- two a step --------------------------------------------------------------------------------------------------------

PAIRS = [
    ("range(0, 6, 2)", 0, 4), ("range(4, -1, -2)", 0, 4), ("range(pid, 6, 2)", 0, 5), ("tl.range(0, 8, 2, num_stages=2)", 0, 6),
    ("range(7, 0, -3)", 1, 7), ("range({n} & 7, -1, -2)", 0, 7), ("tl.range(1, 8, 2, loop_unroll_factor=2)", 1, 7),
    ("range(0, {n} & 7, 2)", 0, 6), ("range(-4, 4, 2)", -4, 2), ("tl.static_range(6, 0, -2)", 2, 6),
]  # fmt: skip


@feature("control", 2)
def loop_by_pairs(w: Writer) -> None:
    """Two tiles of neighbours in each step, upwards or downwards, and two carried values that change places."""
    room(w)
    e, array, shape = tile_of(w)
    a, b, i, (head, *counted) = w.fresh("c"), w.fresh("c"), w.fresh("i"), w.choice(PAIRS)
    first, second = w.fresh(), w.fresh()
    facts = {"most": 4.0 * 2 * MOST, "grid": 2} if e.kind == "f" else {}
    values = [Value(name, e, shape, **facts) for name in (a, b)]
    w.check(values[0])
    place = moving(w, i, (counted[0], counted[1] + 1), shape)
    changing = carried(w)
    w.line(f"{a} = tl.zeros({names_of(shape)}, {e.tl})")
    w.line(f"{b} = {w.choice((a, f'tl.full({names_of(shape)}, 1, {e.tl})'))}")
    w.values += values
    forms = ["{a}, {b} = {b}, {a} + {x}", "{a}, {b} = {a} + {x}, {a} + {y}", "{a}, {b} = {b} + {y}, {a}"]
    if e.kind != "f":
        forms += ["{a}, {b} = {a} ^ {y}, {a} * 3 + {x}", "{a} += {x} * {y}"]

    def begin() -> None:
        w.line(f"{first} = tl.load({array} + {place})")
        w.line(f"{second} = tl.load({array} + {place.replace(i, f'({i} + 1)')})")
        w.values += [Value(name, e, shape, **facts_of("x", e)) for name in (first, second)]
        w.line(w.choice(forms).format(a=a, b=b, x=first, y=second))

    w.line(f"for {i} in {head.format(n=w.scalar_parameter().name)}:")
    looped(w, changing, None, None if "static" in head else Value(i, I32, ()), begin)
