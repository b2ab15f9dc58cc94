"""What writes a random kernel: its lines, the values in scope, and what is known of each value.

Of a float value it is known how large it can be and whether it is a multiple of 2^-k, so that operations whose results
are exact in any order are told from those that round. What rounds differently on different targets carries a bound of
its error: only such values are compared with a tolerance, which is that bound, and nothing discontinuous (comparisons,
casts to integers, orders) is computed from them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod

from .elements import TYPES, Element

__all__ = ["ANY", "Case", "Refused", "Value", "Wishes", "Writer", "feature", "names_of", "steps_of"]

SIZE = 4096
"""Elements of each array that a kernel reads."""


class Refused(Exception):
    """A drawn step does not suit the values there are: another one is drawn."""


@dataclass(frozen=True)
class Value:
    """A name in scope: its type and shape; of floats the largest magnitude, `grid` k (multiples of 2^-k) or None.

    `error` bounds how far two right targets can be apart. `special`: it may be NaN or infinite. `terms`: it is a sum
    of so many products, and what is added to it may be added up with them.
    """

    name: str
    element: Element
    shape: tuple[int, ...]
    most: float = 0.0
    grid: int | None = None
    error: float = 0.0
    special: bool = False
    terms: int = 0

    @property
    def exact(self) -> bool:
        """All targets have the same bits."""
        return self.error == 0.0

    @property
    def lattice(self) -> bool:
        """It is finite and a multiple of 2^-grid: sums and products are exact while they fit."""
        return self.grid is not None and self.exact and not self.special


@dataclass
class Case:
    """A kernel and how it is launched. `scalars` are integers by parameter; `tolerances` atol by output."""

    seed: int
    text: str
    grid: tuple[int, ...]
    scalars: dict[str, int]
    outputs: dict[str, int]
    tolerances: dict[str, float]
    options: dict[str, object]
    features: Counter = field(default_factory=Counter)


@dataclass(frozen=True)
class Wishes:
    """What is drawn: steps called like `often` more often; of elements that are loaded these `types` (() for all)."""

    often: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


ANY = Wishes()
FEATURES: dict[str, list[tuple[float, Callable]]] = {}


def feature(group: str, weight: float = 1.0) -> Callable:
    """Register a step of a group: a function of the writer that adds lines, or raises Refused."""

    def register(function: Callable) -> Callable:
        FEATURES.setdefault(group, []).append((weight, function))
        return function

    return register


def names_of(shape: Sequence[int]) -> str:
    """A shape as a list in a kernel's text."""
    return "[" + ", ".join(map(str, shape)) + "]"


def steps_of(sizes: list[int], wide: int) -> list[int]:
    """Strides of rows that lie `wide` elements apart."""
    strides, stride = [1], wide
    for size in reversed(sizes[1:-1]):
        strides.append(stride)
        stride *= size
    return [stride, *reversed(strides)] if len(sizes) > 1 else [1]


class Writer:
    """Lines of a kernel. `fused`: products and sums may become one operation, so that products are not exact."""

    def __init__(self, seed: int, shapes: Sequence[tuple[int, ...]], fused: bool, programs: int) -> None:
        self.random = random.Random(seed)
        self.shapes, self.fused, self.programs = list(shapes), fused, programs
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.values: list[Value] = []
        self.parameters: dict[str, None] = {}
        self.outputs: dict[str, int] = {}
        self.tolerances: dict[str, float] = {}
        self.scalars: dict[str, int] = {}
        self.indent, self.depth, self.count = "    ", 0, 0
        self.small: dict[str, float] = {}  # integers that every float type has, by name: how large
        self.loaded: set[str] = set()  # floats as memory has them
        self.growing: set[str] = set()  # floats that a loop may add to
        self.specials = self.uneven = False
        self.without: frozenset[str] = frozenset()  # features that are not drawn
        self.often: tuple[str, ...] = ()  # features that are drawn more often
        self.stored: Sequence[str] = ()  # types of what is loaded, more common ones more than once
        self.carried: list[Value] = []  # what loops and branches around this place change
        self.jumps: tuple[str, ...] = ()  # what may end a branch here: break, continue
        self.outcome: tuple[Value, ...] | None = None  # what the function returns that is being drawn
        self.returns = 0  # so many returns it may still have in its loops and branches
        self.used: Counter = Counter()
        self.features: Counter = Counter()

    # -- text ------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """A line of the kernel."""
        self.lines.append(self.indent + text)

    def fresh(self, prefix: str = "v") -> str:
        """A new name."""
        self.count += 1
        return f"{prefix}{self.count}"

    def parameter(self, name: str) -> str:
        """A parameter of the kernel, made when it is first used."""
        self.parameters[name] = None
        return name

    def chance(self, p: float) -> bool:
        """True so often."""
        return self.random.random() < p

    def choice(self, items: Sequence) -> object:
        """One of them; Refused where there are none."""
        if not items:
            raise Refused
        return self.random.choice(items)

    # -- values ----------------------------------------------------------------------------------------------------

    def put(self, text: str, element: Element, shape: Sequence[int], **known: object) -> Value:
        """`name = text`, whose type is asserted now and then."""
        value = Value("", element, tuple(shape), **known)
        self.check(value)
        return self.add(text, value)

    def add(self, text: str, value: Value) -> Value:
        """As `put`, of a value that is known to be in range."""
        value = replace(value, name=self.fresh())
        self.line(f"{value.name} = {text}")
        if self.chance(0.2):
            self.line(f"tl.static_assert({value.name}.dtype == {value.element.tl})")
        self.values.append(value)
        return value

    def check(self, v: Value) -> None:
        """Refuse floats that may overflow, or be so inexact that a wrong one could hide."""
        if v.element.kind != "f":
            return
        if v.special:
            if v.error:
                raise Refused
            return
        if v.most > v.element.most or v.error > max(v.most, 1.0) * 2.0**-6:
            raise Refused
        if v.grid is not None and not -20 <= v.grid <= 20:
            raise Refused

    def pick(self, test: Callable[[Value], bool] = lambda v: True, recent: int = 10) -> Value:
        """A value in scope, a recent one more often."""
        found = [v for v in self.values if test(v)]
        found = found[-recent:] if self.chance(0.7) else found
        value = self.choice(found)
        self.used[value.name] += 1
        return value

    def kind(self, kinds: str, test: Callable[[Value], bool] = lambda v: True) -> Value:
        """A value of a kind: f, i, u, b."""
        return self.pick(lambda v: v.element.kind in kinds and test(v))

    def fits(self, e: Element, most: float, grid: int | None) -> bool:
        """Multiples of 2^-grid up to `most` are numbers of `e`, subnormal ones apart."""
        return grid is not None and most * 2.0**grid <= 2.0**e.precision and grid <= 2 ** (e.exponent - 1) - 2

    def rounding(self, e: Element, most: float) -> float:
        """The most that rounding a result of this size changes it."""
        return max(most, 2.0**-12) * 2.0**-e.precision

    def like(self, v: Value, test: Callable[[Value], bool] = lambda v: True) -> Value:
        """A value of the same shape."""
        return self.pick(lambda o: o.shape == v.shape and test(o))

    def compatible(self, v: Value, test: Callable[[Value], bool]) -> tuple[Value, tuple[int, ...]]:
        """A value that goes with `v` in an elementwise operation (by broadcasting, too), and the shape of the result."""

        def together(o: Value) -> bool:
            if not test(o):
                return False
            if not o.shape or not v.shape or o.shape == v.shape:
                return True
            return len(o.shape) == len(v.shape) and all(a == b or 1 in (a, b) for a, b in zip(o.shape, v.shape))

        o = self.pick(together)
        shape = v.shape or o.shape
        if v.shape and o.shape:
            shape = tuple(max(a, b) for a, b in zip(v.shape, o.shape))
        if prod(shape) > 4096:
            raise Refused
        return o, shape

    # -- blocks of statements --------------------------------------------------------------------------------------

    def body(self, write: Callable[[], None]) -> None:
        """Write an indented block; what it defines is unknown behind it."""
        kept, count = list(self.values), len(self.lines)
        self.indent += "    "
        self.depth += 1
        try:
            write()
        finally:
            self.indent = self.indent[4:]
            self.depth -= 1
            self.values = kept
        if len(self.lines) == count:
            self.lines.append(self.indent + "    pass")

    @contextmanager
    def function(self, arguments: Sequence[Value]) -> Iterator[tuple[list[str], dict[str, None]]]:
        """Write a function of these arguments and of `pid`: what comes is its lines, and what else of the kernel it takes."""
        kept = self.lines, self.values, self.parameters, self.indent, self.depth
        around = self.carried, self.jumps, self.outcome, self.returns
        lines: list[str] = []
        taken: dict[str, None] = {}
        self.lines, self.values, self.parameters = lines, [*arguments, Value("pid", TYPES["i32"], ())], taken
        self.indent, self.depth, self.carried, self.jumps = "    ", max(self.depth, 1), [], ()
        try:
            yield lines, taken
        finally:
            taken.update(self.parameters)  # a step that is taken back leaves another dictionary
            lines[:] = self.lines
            self.lines, self.values, self.parameters, self.indent, self.depth = kept
            self.carried, self.jumps, self.outcome, self.returns = around
        self.parameters.update(taken)

    def step(self, weights: dict[str, float]) -> None:
        """One step of a group drawn by its weight; what refuses leaves no trace."""
        for _ in range(20):
            function = self.drawn(weights)
            if function.__name__ in self.without:
                continue
            kept = self.lines[:], self.values[:], dict(self.parameters), dict(self.outputs), self.functions[:]
            try:
                function(self)
            except Refused:
                self.lines, self.values, self.parameters, self.outputs, self.functions = kept
                continue
            self.features[function.__name__] += 1
            return

    def drawn(self, weights: dict[str, float]) -> Callable:
        """A step of one of these groups."""
        if self.often and self.chance(0.4):
            wanted = [f for group in weights for _, f in FEATURES[group] if f.__name__ in self.often]
            if wanted:
                return self.random.choice(wanted)
        group = self.random.choices(list(weights), list(weights.values()))[0]
        options = FEATURES[group]
        return self.random.choices(options, [w for w, _ in options])[0][1]

    def zero(self, e: Element) -> str:
        """Nothing, for the other side of a choice."""
        return {"f": "0.0", "b": "False"}.get(e.kind, "0")

    def scalar_parameter(self) -> Value:
        """An integer that the launch gives."""
        name = self.random.choice(("n", "m"))
        self.parameter(name)
        self.scalars.setdefault(name, self.random.choice((0, 1, 2, 5, 16, 37, 64, 100)))
        return Value(name, TYPES["i32"], ())
