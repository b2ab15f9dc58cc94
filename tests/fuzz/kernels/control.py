"""Steps of random kernels: loops and branches, in each other, and jumps out of them.

What a loop or branch changes is known by bounds that hold before it, in it and behind it, however often it runs: a value
of a known type that stays within what is known of it. So values may be changed by any of the loops and branches around
a place, and anything may jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .elements import TYPES, Element
from .writer import Refused, Value, Writer, feature

__all__ = ["DEEPEST", "carried", "condition", "looped", "returned", "room", "within"]

I32, I64 = (TYPES[n] for n in ("i32", "i64"))
DEEPEST = 3
"""So many loops and branches stand in each other."""
TRIPS = 7
"""No loop that adds to floats has more steps."""
ADDED = 64.0
"""Nor does it add more in a step."""


def room(w: Writer) -> None:
    """Refuse a loop or branch where there are enough around."""
    if w.depth >= DEEPEST:
        raise Refused


# -- values that change ------------------------------------------------------------------------------------------------


def carried(w: Writer) -> list[Value]:
    """Copies of values that a loop or branch will change; what is known of them holds while it does."""
    found = [v for v in w.values if v.element.kind in "iub" or (not v.special and v.element.bits > 8)]
    made = []
    for v in w.random.sample(found, min(len(found), w.random.randint(1, 3))):
        name = w.fresh("c")
        w.line(f"{name} = {v.name}")
        grid = None if v.grid is None else max(v.grid, 2)
        most = v.most + TRIPS * ADDED if v.element.kind == "f" else 0.0
        if v.element.kind == "f" and (
            most > v.element.most or (grid is not None and not w.fits(v.element, most, grid))
        ):
            most, grid = max(v.most, 4.0), v.grid
        elif v.element.kind == "f" and grid is not None:
            w.growing.add(name)
        value = replace(v, name=name, most=most, grid=grid)
        w.values.append(value)
        made.append(value)
    return made


def within(v: Value, c: Value, most: float) -> bool:
    """What is known of `c` holds for `v`, too."""
    if v.element is not c.element or v.shape != c.shape:
        return False
    if c.element.kind != "f":
        return True
    return (
        not v.special
        and v.error <= c.error
        and v.most <= most
        and (c.grid is None or (v.grid is not None and v.grid <= c.grid))
    )


def update(w: Writer, c: Value, adds: bool = False) -> None:
    """A statement that changes a carried value, within what is known of it; `adds`: this loop may add to it."""
    if c.element.kind == "f":
        v = w.pick(lambda v: within(v, c, ADDED if adds else c.most))
        forms = ("{c} = tl.where({v} > 0, {v}, {c})", "{c} = {v}") if v.exact and c.exact else ("{c} = {v}",)
        w.line(w.choice((*forms, "{c} += {v}", "{c} = {c} - {v}") if adds else forms).format(c=c.name, v=v.name))
        return
    v = w.pick(lambda v: within(v, c, 0))
    if c.element.kind == "b":
        w.line(w.choice(("{c} = {c} ^ {v}", "{c} = {v}", "{c} = {c} & {v}")).format(c=c.name, v=v.name))
        return
    w.line(w.choice(("{c} += {v}", "{c} = {c} ^ {v}", "{c} = {v}", "{c} = {c} * 3 - {v}")).format(c=c.name, v=v.name))


def condition(w: Writer) -> str:
    """A scalar condition, on a number loaded for it now and then."""
    if w.depth and w.chance(0.15):
        place = w.choice(("pid", "3 + pid * 2", "17"))
        return f"tl.load({w.parameter('x_i32')} + {place}) {w.choice(('> 3', '!= 2', '< 0'))}"
    found = [v for v in w.values if not v.shape and v.element.kind in "iub"]
    v = w.random.choice(found) if found and w.chance(0.6) else Value("pid", I32, ())
    if v.element.kind == "b":
        return v.name
    return f"{v.name} {w.choice(('>', '==', '<=', '!='))} {w.choice((0, 1, 3))}"


# -- what stands in a block --------------------------------------------------------------------------------------------


def suite(w: Writer, changing: list[Value], jump: str | None = None) -> None:
    """Some steps, an update of each carried value, a jump between; values that are carried further out change, too."""
    for _ in range(w.random.randint(0, 3 if w.depth < DEEPEST else 2)):
        w.step({"types": 5, "memory": 1, "build": 2, "control": 2.5 / w.depth})
    outer = [c for c in w.carried if all(c.name != own.name for own in changing)]
    targets = changing + (w.random.sample(outer, 1) if outer and w.chance(0.4) else [])
    place = w.random.randrange(len(targets) + 1)
    for i, c in enumerate(targets):
        if jump and i == place:
            w.line(jump)
        try:
            update(w, c, adds=c.name in w.growing and c in changing)
        except Refused:
            continue


def block(
    w: Writer, changing: list[Value], jump: str | None = None, ends: bool = False, begin: Callable | None = None
) -> None:
    """The indented suite of a loop or branch; `ends`: a branch, that may jump behind its last statement."""
    before = w.carried
    w.carried = [*before, *changing]

    def write() -> None:
        if begin is not None:
            begin()
        suite(w, changing, jump)
        if ends:
            exits(w)

    try:
        w.body(write)
    finally:
        w.carried = before


def exits(w: Writer) -> None:
    """A branch leaves the loop or function around it, maybe."""
    kinds = list(w.jumps)
    if w.outcome is not None and w.returns > 0:
        kinds += ["return", "return"]
    elif w.outcome is None and w.jumps and w.chance(0.1):
        kinds.append("return")  # ends the program
    if not kinds or not w.chance(0.3 if w.outcome is None else 0.5):
        return
    kind = w.random.choice(kinds)
    if kind == "return" and w.outcome is not None:
        w.returns -= 1
        w.line(returned(w, w.outcome))
        return
    w.line(kind)


def returned(w: Writer, outcome: tuple[Value, ...]) -> str:
    """A `return` of values of which holds what is known of the function's results."""
    parts = []
    for c in outcome:
        v = w.pick(lambda v, c=c: within(v, c, c.most))
        form = w.choice(("{}", "{}", "{} * 3 + 1", "{} ^ 5")) if c.element.name in ("i32", "i64", "u32") else "{}"
        parts.append(form.format(v.name))
    return f"return {', '.join(parts)}"


# -- branches and loops ------------------------------------------------------------------------------------------------


@feature("control", 2)
def branch(w: Writer) -> None:
    room(w)
    changing = carried(w)
    w.line(f"if {condition(w)}:")
    block(w, changing, ends=True)
    if w.chance(0.3):
        w.line(f"elif {condition(w)}:")
        block(w, changing, ends=True)
    if w.chance(0.6):
        w.line("else:")
        block(w, changing, ends=True)


HEADS = [
    *((text, I32) for text in ("range(3)", "range({n} & 3)", "range(pid)", "tl.static_range(2)", "range(1, 7, 3)", "range(3, 0, -1)",
        "tl.range(0, {n} & 3, num_stages=2)", "tl.range(4, loop_unroll_factor=2)", "tl.range(3, disable_licm=True)", "range(2, 0)",
        "range({n} & 7, -3, -3)", "range(pid, {n} & 7, 2)", "range(0, 6, pid + 1)", "range(-2, {n} & 3)", "range(-3, -1)",
        "tl.static_range(3, 0, -1)", "range(pid - 2, pid)", "tl.range(0, 5, 2, loop_unroll_factor=4)")),
    *((text, I64) for text in ("range(q & 3)", "range(q, q + 3)", "range(q, q - 4, -2)", "range(0, q & 7, 2)")),
]  # fmt: skip
"""Loops, and the type of what counts them."""
OF_VALUES = ("range({v} & 3)", "range({v} & 1, {v} & 7, 2)", "range(({v} & 3) - 1, -2, -1)", "range({v} & 3, {n} & 7)")
"""Loops as long as a computed number says."""


def head_of(w: Writer) -> tuple[str, Element]:
    """What a loop runs over, and the type of what counts it."""
    n = w.scalar_parameter().name
    found = [v for v in w.values if not v.shape and v.element in (I32, I64) and v.name not in ("pid", n)]
    if found and w.chance(0.3):
        v = w.random.choice(found)
        return w.choice(OF_VALUES).format(v=v.name, n=n), v.element
    head, e = w.choice(HEADS)
    if "q" in head:
        w.parameter("q")
        w.scalars.setdefault("q", w.choice((2**33 + 5, -(2**40), 2**62)))
    return head.format(n=n), e


def looped(
    w: Writer, changing: list[Value], jump: str | None, counter: Value | None, begin: Callable | None = None
) -> None:
    """The block of a loop with this counter (None where it is unrolled); `begin` writes its first statements."""
    before, w.jumps = w.jumps, ("break", "continue")
    scope = w.values
    try:
        w.values = [*scope, counter] if counter is not None else [*scope]
        block(w, changing, jump, begin=begin)
    finally:
        w.jumps, w.values = before, scope


@feature("control", 3)
def for_loop(w: Writer) -> None:
    room(w)
    changing = carried(w)
    i = w.fresh("i")
    head, e = head_of(w)
    counter = Value(i, e, ())
    behind = e is I32 and "static" not in head and w.chance(0.25)  # its last number is read, or what it was before
    if behind:
        w.line(f"{i} = pid + {w.choice((0, 7))}")
    w.line(f"for {i} in {head}:")
    jump = None
    if w.chance(0.4):
        jump = f"if {w.choice((i, 'pid'))} {w.choice(('==', '>'))} 1: {w.choice(('break', 'continue'))}"
    looped(w, changing, jump, None if "static" in head else counter)
    w.values += [counter] if behind else []


@feature("control", 1)
def while_loop(w: Writer) -> None:
    room(w)
    changing = carried(w)
    n, i = w.scalar_parameter().name, w.fresh("i")
    limit = w.choice((f"({n} & 3)", "2", "pid"))
    w.line(f"{i} = 0")
    endless = w.chance(0.2)
    w.line("while True:" if endless else f"while {i} < {limit}:")

    def begin() -> None:
        w.line(f"{i} += 1")
        if endless:
            w.line(f"if {i} > {limit}:")
            w.line("    " + ("break" if w.outcome is None or w.chance(0.5) else returned(w, w.outcome)))

    jump = f"if {i} == {w.choice((1, 2))}: {w.choice(('break', 'continue'))}" if w.chance(0.3) else None
    looped(w, changing, jump, Value(i, I32, ()), begin)


@feature("control", 1)
def carried_tuple(w: Writer) -> None:
    """A loop that carries a tuple."""
    a = w.kind("iu")
    b = w.kind("iu")
    pair, i = w.fresh("t"), w.fresh("i")
    w.line(f"{pair} = ({a.name}, {b.name})")
    w.line(f"for {i} in range({w.choice((0, 1, 3))}):")
    w.line(f"    {pair} = ({pair}[0] + 1, {pair}[1] ^ 5)")
    for k, v in enumerate((a, b)):
        w.add(f"{pair}[{k}]", replace(v))
