"""Steps of random kernels: functions that are drawn themselves, and return from their loops and branches."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .accesses import linear
from .control import DEEPEST, condition, returned, within
from .elements import TYPES
from .writer import SIZE, Refused, Value, Writer, feature

__all__: list[str] = []

I32 = TYPES["i32"]


def loosened(w: Writer, v: Value) -> Value:
    """What is known of a result that may be this argument, or something a little larger."""
    larger = replace(v, most=max(v.most, 8.0))
    return larger if v.element.kind == "f" and (v.grid is None or w.fits(v.element, 8.0, v.grid)) else v


def called(w: Writer, name: str, formal: list[Value], taken: dict[str, None], outcome: tuple[Value, ...]) -> None:
    """A call with values of which holds what is known of the function's arguments, and its results."""
    actual = [w.pick(lambda v, f=f: within(v, f, f.most)).name for f in formal]
    results = [w.fresh() for _ in outcome]
    w.line(f"{', '.join(results)} = {name}({', '.join([*actual, 'pid', *taken])})")
    w.values += [replace(v, name=n) for v, n in zip(outcome, results)]


@feature("build", 3)
def drawn_function(w: Writer) -> None:
    """A function of drawn loops, branches and loads, that returns blocks or numbers from anywhere in them."""
    if w.depth >= DEEPEST or len(w.functions) > 8:
        raise Refused
    found = [v for v in w.values if v.name != "pid" and not v.special and (v.element.kind != "f" or v.element.bits > 8)]
    if not found:
        raise Refused
    arguments = w.random.sample(found, min(len(found), w.random.randint(1, 3)))
    formal = [replace(v, name=w.fresh("f")) for v in arguments]
    results = w.random.sample(formal, min(len(formal), w.choice((1, 1, 1, 2))))
    outcome = tuple(loosened(w, v) for v in results)
    name = w.fresh("function")
    with w.function(formal) as (lines, taken):
        w.outcome, w.returns = outcome, 3
        for _ in range(w.random.randint(1, 3)):
            w.step({"control": 5, "types": 3, "memory": 1, "build": 1})
        if w.chance(0.3):
            w.line(f"if {condition(w)}:")
            w.line("    " + returned(w, outcome))
            if w.chance(0.5):
                w.line("else:")
                w.indent += "    "
        w.line(returned(w, outcome))
    apart = "(noinline=True)" if not w.without and w.chance(0.15) else ""
    head = f"@tritium.jit{apart}\ndef {name}({', '.join([*(v.name for v in formal), 'pid', *taken])}):\n"
    w.functions.append(head + "\n".join(lines) + "\n")
    for _ in range(w.choice((1, 1, 2))):
        called(w, name, formal, taken, outcome)


ENDS = ("tl.max({b}) > 5", "tl.sum({b} & 3) < {k}", "{i} == {n}", "{i} * 2 > pid + {k}", "tl.min({b}) < -3")


def places(w: Writer, x: str, shape: tuple[int, ...]) -> tuple[str, str, str, str]:
    """Returns of pointers or block pointers, from the loop, at the end, and from a branch; what loads there."""
    if w.without or len(shape) != 2 or min(shape) == 1 or w.chance(0.4):
        pointers = [f"{x} + {at} + {linear(shape)}" for at in ("{i} * 16", "40", "pid")]
        return *pointers, "tl.load({})"  # type: ignore[return-value]
    rows, columns = shape
    form = f"tl.make_block_ptr({x} + {{}}, ({2 * rows}, {columns}), ({columns}, 1), ({{}}, 0), {shape}, (1, 0))"
    places = [form.format(*at) for at in (("{i}", "0"), ("0", str(rows // 2)), ("pid", str(2 * rows - 1)))]
    return *places, 'tl.load({}, boundary_check=(0, 1), padding_option="zero")'  # type: ignore[return-value]


@feature("build", 1.5)
def returns(w: Writer) -> None:
    """A function that goes through tiles and returns one, or where it is, or what became of its argument."""
    v = w.pick(lambda v: v.shape and v.element.name in ("i32", "i64") and prod(v.shape) <= 1024)
    name, a, b, i, j = w.fresh("found"), w.fresh("f"), w.fresh(), w.fresh("i"), w.fresh("j")
    x, n, k = w.parameter(f"x_{v.element.name}"), w.scalar_parameter().name, w.choice((1, 4, 40))
    results = w.choice(("{a} + {b}", "{b}", "{a}", "{b} ^ {i}"))
    final, otherwise, of = w.choice(("{a}", "{a} * 2", "-{a}")), "{a} + 1", "{}"
    if w.chance(0.4):
        results, final, otherwise, of = places(w, x, v.shape)
    head = w.choice((f"range({n} & 7)", "range(4)", "range(5, 0, -2)", f"tl.range(pid, {n} & 3, num_stages=2)"))
    stride = w.choice((1, 16, min(prod(v.shape), SIZE // 8)))
    asked, words = w.choice(ENDS), {"a": a, "b": b, "i": i, "n": n, "k": k}
    text = [
        f"for {i} in {head}:",
        f"    {b} = tl.load({x} + {i} * {stride} + {linear(v.shape)})",
    ]
    inside = "    "
    if w.chance(0.4):
        text.append(f"    for {j} in range({w.choice(('2', '0', f'{i} & 1, 2', f'{n} & 3'))}):")
        text.append(f"        {b} = {b} * 3 + {j}")
        inside += "    "
    text += [f"{inside}if {asked}:", f"{inside}    return {results}"]
    text.append(f"    {a} = {a} {w.choice(('^', '+', '-'))} {b}")
    if w.chance(0.3):
        text = [f"if {n} > 2:", *("    " + line for line in text), f"    return {otherwise}"]
    text.append(f"return {final}")
    lines = "\n".join("    " + line.format(**words) for line in text)
    w.functions.append(f"@tritium.jit\ndef {name}({x}, {a}, {n}, pid):\n{lines}\n")
    w.put(of.format(f"{name}({x}, {v.name}, {n}, pid)"), v.element, v.shape)
