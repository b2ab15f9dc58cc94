"""Steps of random kernels: what is called and how values are kept together; what ends a kernel early."""

from __future__ import annotations

from dataclasses import replace

from .control import condition, room
from .elements import TYPES
from .writer import Refused, Value, Writer, feature

__all__ = ["FORMS"]

I32, U32, F32 = (TYPES[n] for n in ("i32", "u32", "f32"))


def define(w: Writer, text: str) -> None:
    """A function or class beside the kernel, once."""
    if text not in w.functions:
        w.functions.append(text)


# -- functions that stay functions -------------------------------------------------------------------------------------

APART = "@tritium.jit(noinline=True)\ndef apart(a, b, c):\n    return a * b + c\n"
APART_TWICE = (
    APART + "\n\n@tritium.jit(noinline=True)\ndef apart_twice(a, b):\n    return apart(a, b, 3) ^ apart(b, a, b)\n"
)
APART_SUM = """@tritium.jit(noinline=True)
def apart_sum(p, COUNT: tl.constexpr):
    total = 0
    for k in range(3):
        total += tl.sum(tl.load(p + k * 8 + tl.arange(0, COUNT)), 0)
    return total
"""


@feature("build", 1.5)
def noinline_call(w: Writer) -> None:
    """Functions of blocks and numbers that are not inlined, and one that calls another."""
    a = w.kind("iu", lambda v: v.element.bits >= 32)
    b = w.like(a, lambda o: o.element is a.element)
    if w.chance(0.5):
        define(w, APART)
        c = w.like(a, lambda o: o.element is a.element)
        w.put(f"apart({a.name}, {b.name}, {c.name})", a.element, a.shape)
        return
    define(w, APART_TWICE)
    w.put(f"apart_twice({a.name}, {b.name})", a.element, a.shape)


@feature("build", 0.7)
def noinline_load(w: Writer) -> None:
    """A function with a loop of loads and a reduction, not inlined."""
    define(w, APART_SUM)
    first = w.choice(("", " + pid * 16", " + 40"))
    w.put(f"apart_sum({w.parameter('x_i32')}{first}, {w.choice((8, 32, 128))})", I32, ())


# -- aggregates, tuples ------------------------------------------------------------------------------------------------

PAIR = """@tritium.aggregate
class Pair:
    a: tl.tensor
    b: tl.tensor

    @tritium.constexpr_function
    def __init__(self, a, b):
        self.a = a
        self.b = b

    @tritium.jit
    def turned(self):
        return Pair(self.b, self.a)

    @tritium.jit
    def mixed(self, by):
        return self.a * by ^ self.b
"""


@feature("build", 1.5)
def aggregate(w: Writer) -> None:
    """An object of two values with methods, changed in a loop or a branch."""
    a = w.kind("iu", lambda v: v.element.bits >= 32)
    b = w.like(a, lambda o: o.element is a.element)
    define(w, PAIR)
    p, i = w.fresh("p"), w.fresh("i")
    w.line(f"{p} = Pair({a.name}, {b.name})")
    kind = w.choice(("plain", "loop", "branch"))
    if kind == "loop":
        w.line(f"for {i} in range({w.choice(('0', '2', '3', 'pid'))}):")
        w.line(f"    {p} = {w.choice((f'{p}.turned()', f'Pair({p}.b + 1, {p}.a)', f'Pair({p}.mixed(3), {p}.b)'))}")
    elif kind == "branch":
        w.line(f"if {condition(w)}:")
        w.line(f"    {p} = {p}.turned()")
    for text in (f"{p}.a", f"{p}.mixed({w.choice((2, 5))})"):
        w.put(text, a.element, a.shape)


@feature("build", 1)
def tuples(w: Writer) -> None:
    """Tuples of tuples: taken apart, made by comprehension, given and returned."""
    a, b, c = (w.kind("iu") for _ in range(3))
    form = w.choice(("nested", "comprehension", "passed", "starred"))
    if form == "nested":
        t, names = w.fresh("t"), [w.fresh() for _ in range(3)]
        w.line(f"{t} = ({a.name}, ({b.name}, {c.name}))")
        w.line(f"{names[0]}, ({names[1]}, {names[2]}) = {t}")
        w.values += [replace(v, name=n) for n, v in zip(names, (b, c, a))] if w.chance(0.0) else []
        w.values += [replace(v, name=n) for n, v in zip(names, (a, b, c))]
        return
    if form == "comprehension":
        t = w.fresh("t")
        w.line(f"{t} = [x + x for x in ({a.name}, {b.name}, {c.name})]")
        for k, v in enumerate((a, b, c)):
            w.put(f"{t}[{k}]", v.element, v.shape)
        return
    if form == "passed":
        define(w, "@tritium.jit\ndef rotated(t):\n    return t[1], (t[2], t[0])\n")
        t = w.fresh("t")
        w.line(f"{t} = rotated(({a.name}, {b.name}, {c.name}))")
        w.add(f"{t}[0]", replace(b))
        w.add(f"{t}[1][1]", replace(a))
        return
    define(w, "@tritium.jit\ndef third(first, *rest):\n    return rest[1]\n")
    w.add(f"third({a.name}, {b.name}, {c.name})", replace(c))


@feature("build", 0.7)
def function_argument(w: Writer) -> None:
    """A function that is given a function."""
    v = w.kind("iu")
    define(w, "@tritium.jit\ndef doubled(a):\n    return a + a\n")
    define(w, "@tritium.jit\ndef twice(f: tl.constexpr, a):\n    return f(f(a))\n")
    w.put(f"twice(doubled, {v.name})", v.element, v.shape)


# -- expressions of Python ---------------------------------------------------------------------------------------------

FORMS = ("{a} if {c} else {b}", "({n} := {a} + 1) * {n}", "{low} < {a} < {high}", "min({a}, {b})", "max({a}, {b})")
"""A choice, a name given inside of an expression, a chain of comparisons, Python's own functions."""


@feature("types", 1.5)
def python_expression(w: Writer) -> None:
    form = w.choice(FORMS)
    scalar = "<" in form
    a = w.pick(lambda v: v.element.kind in "iu" and v.element.bits >= 32 and not (scalar and v.shape))
    if scalar:
        w.put(form.format(a=a.name, low=w.choice((0, 1, 5)), high=w.choice((3, 9, 100))), TYPES["i1"], ())
        return
    b = w.like(a, lambda o: o.element is a.element)
    text = form.format(a=a.name, b=b.name, c=condition(w), n=w.fresh("n"))
    w.put(text, a.element, a.shape)


# -- endings -----------------------------------------------------------------------------------------------------------


@feature("control", 0.7)
def leave(w: Writer) -> None:
    """Some programs end here: what they would store stays as it was."""
    if w.depth:
        raise Refused
    w.line(f"if {condition(w)}:")
    w.line("    return")


@feature("control", 1)
def loop_with_else(w: Writer) -> None:
    """What runs where no break ended a loop."""
    room(w)
    v = w.kind("iu", lambda v: v.element.bits >= 32)
    c, i, n = w.fresh("c"), w.fresh("i"), w.scalar_parameter().name
    w.line(f"{c} = {v.name}")
    w.line(f"for {i} in range({w.choice(('4', f'{n} & 3', '0'))}):")
    w.line(f"    {c} = {c} * 3 + {i}")
    w.line(f"    if {i} == {w.choice((n, 'pid', '1'))}: break")
    w.line("else:")
    w.line(f"    {c} = {c} ^ 77")
    w.values.append(Value(c, v.element, v.shape))
