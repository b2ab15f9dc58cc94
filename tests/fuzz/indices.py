"""Random index tiles as TTIR text, each with the numbers it holds, so that addresses can be kept within their arrays.

The numbers of a tile are an array of shape (samples, *shape): one sample for every iteration of the loop it stands in.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

INTEGERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


@dataclass(frozen=True)
class Tile:
    """A value of the program: its name, shape and element type; `numbers` where they are known."""

    name: str
    shape: tuple[int, ...]
    element: str
    numbers: Any = None

    @property
    def type(self) -> str:
        """As TTIR spells it."""
        return tensor(self.shape, self.element)


def tensor(shape: tuple[int, ...], element: str) -> str:
    """`tensor<4x8xi32>`, or the element for shape ()."""
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


def wrapped(numbers: Any, element: str) -> Any:
    """Integers as `element` holds them."""
    return np.asarray(numbers).astype(INTEGERS[element])


class Indices:
    """Writes index tiles. `scalars` are the run-time numbers of a program: tiles of shape ()."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        self.scalars: list[Tile] = []

    # -- writing ----------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """One line at the present depth."""
        self.lines.append("  " * self.indent + text)

    def name(self) -> str:
        """A fresh name."""
        self.count += 1
        return f"%v{self.count}"

    def put(self, text: str, shape: tuple[int, ...], element: str, numbers: Any = None) -> Tile:
        """Write `%fresh = text`."""
        tile = Tile(self.name(), shape, element, numbers)
        self.line(f"{tile.name} = {text}")
        return tile

    def constant(self, value: int, shape: tuple[int, ...], element: str) -> Tile:
        """A tile (or scalar) of one number."""
        text = {0: "false", 1: "true"}[value] if element == "i1" else str(value)
        body = f"dense<{text}> : {tensor(shape, element)}" if shape else f"{text} : {element}"
        if not shape and element == "i1":
            body = text
        return self.put(f"arith.constant {body}", shape, element, wrapped(np.full((1, *shape), value), element))

    def splat(self, x: Tile, shape: tuple[int, ...]) -> Tile:
        """A scalar in every place."""
        if not shape:
            return x
        numbers = None
        if x.numbers is not None:
            n = x.numbers.reshape(-1, *[1] * len(shape))
            numbers = np.broadcast_to(n, (n.shape[0], *shape))
        return self.put(f"tt.splat {x.name} : {x.element} -> {tensor(shape, x.element)}", shape, x.element, numbers)

    def binary(self, op: str, a: Tile, b: Tile, fn: Any) -> Tile:
        """An arith op on tiles of known integers."""
        with np.errstate(all="ignore"):
            numbers = wrapped(fn(a.numbers.astype(np.int64), b.numbers.astype(np.int64)), a.element)
        return self.put(f"arith.{op} {a.name}, {b.name} : {a.type}", a.shape, a.element, numbers)

    def cast(self, x: Tile, element: str, op: str) -> Tile:
        """extsi, extui or trunci."""
        numbers = x.numbers
        if numbers is not None:
            raw = numbers.view(f"u{numbers.dtype.itemsize}") if op == "extui" and x.element != "i1" else numbers
            raw = -raw.astype(np.int8) if op == "extsi" and x.element == "i1" else raw
            numbers = wrapped(raw, element)
        return self.put(f"arith.{op} {x.name} : {x.type} to {tensor(x.shape, element)}", x.shape, element, numbers)

    # -- shapes -----------------------------------------------------------------------------------------------

    def expand(self, x: Tile, axis: int) -> Tile:
        """A new dimension of size 1."""
        shape = (*x.shape[:axis], 1, *x.shape[axis:])
        numbers = None if x.numbers is None else np.expand_dims(x.numbers, axis + 1)
        text = f"tt.expand_dims {x.name} {{axis = {axis} : i32}} : {x.type} -> {tensor(shape, x.element)}"
        return self.put(text, shape, x.element, numbers)

    def broadcast(self, x: Tile, shape: tuple[int, ...]) -> Tile:
        """Dimensions of size 1 repeated."""
        if x.shape == shape:
            return x
        numbers = None if x.numbers is None else np.broadcast_to(x.numbers, (x.numbers.shape[0], *shape))
        return self.put(f"tt.broadcast {x.name} : {x.type} -> {tensor(shape, x.element)}", shape, x.element, numbers)

    def trans(self, x: Tile, order: tuple[int, ...]) -> Tile:
        """Dimensions in another order."""
        shape = tuple(x.shape[k] for k in order)
        numbers = None if x.numbers is None else np.transpose(x.numbers, (0, *(k + 1 for k in order)))
        attr = f"{{order = array<i32: {', '.join(map(str, order))}>}}"
        return self.put(f"tt.trans {x.name} {attr} : {x.type} -> {tensor(shape, x.element)}", shape, x.element, numbers)

    def reshape(self, x: Tile, shape: tuple[int, ...]) -> Tile:
        """The same elements in row-major order."""
        numbers = None if x.numbers is None else x.numbers.reshape(-1, *shape)
        return self.put(f"tt.reshape {x.name} : {x.type} -> {tensor(shape, x.element)}", shape, x.element, numbers)

    # -- index tiles ------------------------------------------------------------------------------------------

    def scalar(self, element: str) -> Tile:
        """A run-time number or a constant."""
        found = [s for s in self.scalars if s.element == element]
        if found and self.random.random() < 0.6:
            return self.random.choice(found)
        return self.constant(self.random.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33, -1, -2, -8]), (), element)

    def positive(self, element: str) -> Tile:
        """A number that one may divide by."""
        found = [s for s in self.scalars if s.element == element and (s.numbers > 0).all()]
        if found and self.random.random() < 0.5:
            return self.random.choice(found)
        return self.constant(self.random.choice([1, 2, 3, 4, 5, 7, 8, 13, 16, 32, 64, 100]), (), element)

    def steps(self, x: Tile, count: int) -> Tile:
        """Arithmetic with scalars, of the kinds that addresses are made of."""
        for _ in range(count):
            kind, element = self.random.choice(KINDS), x.element
            if kind in ("addi", "subi", "muli"):
                by = self.splat(self.scalar(element), x.shape)
                a, b = (x, by) if kind == "subi" or self.random.random() < 0.5 else (by, x)
                fn = {"addi": np.add, "subi": np.subtract, "muli": np.multiply}[kind]
                x = self.binary(kind, a, b, fn)
            elif kind == "reversed":
                x = self.binary("subi", self.splat(self.scalar(element), x.shape), x, np.subtract)
            elif kind in ("remsi", "divsi", "remui", "divui"):
                x = self.divided(x, kind)
            elif kind == "shli":
                amount = self.random.choice([0, 1, 2])
                x = self.binary("shli", x, self.constant(amount, x.shape, element), np.left_shift)
            elif kind == "andi":
                mask = self.random.choice([1, 3, 7, 15, 63, 127])
                x = self.binary("andi", x, self.constant(mask, x.shape, element), np.bitwise_and)
            elif kind == "narrow" and element in ("i32", "i64"):
                small = self.random.choice(["i8", "i16", "i32"] if element == "i64" else ["i8", "i16"])
                x = self.cast(self.cast(x, small, "trunci"), element, self.random.choice(["extsi", "extsi", "extui"]))
            elif kind == "wide" and element == "i32":
                x = self.cast(x, "i64", self.random.choice(["extsi", "extsi", "extui"]))
            elif kind == "minsi":
                by = self.splat(self.positive(element), x.shape)
                x = self.binary("minsi", x, by, np.minimum)
        return x

    def divided(self, x: Tile, kind: str) -> Tile:
        """A quotient or remainder by a positive number."""
        by = self.splat(self.positive(x.element), x.shape)

        def fn(a: Any, b: Any) -> Any:
            if kind[-2:] == "ui":
                mask = (1 << (8 * x.numbers.dtype.itemsize)) - 1
                if mask >> 63 == 0:
                    a = a & mask
                else:
                    a = a.astype(np.uint64)
                    b = b.astype(np.uint64)
                return a // b if kind[:3] == "div" else a % b
            quotient = np.trunc(a / b).astype(np.int64) if np.abs(a).max(initial=0) < 2**50 else None
            if quotient is None:
                quotient = np.sign(a) * (np.abs(a) // b)
            return quotient if kind[:3] == "div" else a - quotient * b

        return self.binary(kind, x, by, fn)

    def line_of(self, n: int) -> Tile:
        """A tile of n neighbours, moved about."""
        start = self.random.choice([0, 0, 0, 1, 5])
        x = self.put(
            f"tt.make_range {{end = {start + n} : i32, start = {start} : i32}} : tensor<{n}xi32>",
            (n,),
            "i32",
            np.arange(start, start + n, dtype=np.int32)[None],
        )
        return self.steps(x, self.random.choice([0, 0, 0, 1, 1, 2, 3]))

    def spread(self, x: Tile, axis: int, shape: tuple[int, ...]) -> Tile:
        """A line along one dimension of a tile."""
        for d in range(len(shape)):
            if d != axis:
                x = self.expand(x, d)
        return self.broadcast(x, shape)

    def offsets(self, shape: tuple[int, ...]) -> Tile:
        """A tile of offsets: a sum over the dimensions, a reshaped line, or another's transpose."""
        choice = self.random.random()
        size = int(np.prod(shape))
        if choice < 0.12:
            return self.reshape(self.line_of(size), shape)
        if choice < 0.24 and len(shape) > 1:
            order = tuple(self.random.sample(range(len(shape)), len(shape)))
            source = [0] * len(shape)
            for d, k in enumerate(order):
                source[k] = shape[d]
            return self.trans(self.offsets(tuple(source)), order)
        parts = []
        for d, n in enumerate(shape):
            line = self.line_of(n)
            if d + 1 < len(shape) and self.random.random() < 0.85:
                stride = self.random.choice([int(np.prod(shape[d + 1 :]))] * 3 + [1, 0, -16, 40])
                by = self.random.choice([s for s in self.scalars if s.element == line.element] + [None, None, None])
                by = by or self.constant(stride, (), line.element)
                line = self.binary("muli", line, self.splat(by, line.shape), np.multiply)
            parts.append(line)
        if len({p.element for p in parts}) > 1:
            parts = [self.cast(p, "i64", "extsi") if p.element == "i32" else p for p in parts]
        tiles = [self.spread(p, d, shape) for d, p in enumerate(parts)]
        total = tiles[0]
        for t in tiles[1:]:
            total = self.binary("addi", total, t, np.add)
        return self.steps(total, self.random.choice([0, 0, 0, 0, 1, 2]))

    def mask(self, shape: tuple[int, ...]) -> Tile:
        """Comparisons of lines or tiles with bounds, joined."""
        masks = []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            axis = self.random.randrange(len(shape)) if shape and self.random.random() < 0.7 else None
            x = self.offsets(shape) if axis is None else self.line_of(shape[axis])
            predicate, fn = self.random.choice(COMPARISONS)
            if self.random.random() < 0.75:
                values = x.numbers.reshape(-1)
                bound = self.splat(self.constant_or_scalar(int(self.random.choice(list(values))), x.element), x.shape)
            else:
                bound = self.steps(x, 1) if self.random.random() < 0.5 else self.splat(self.scalar(x.element), x.shape)
                if bound.element != x.element:
                    bound = self.splat(self.scalar(x.element), x.shape)
            a, b = (x, bound) if self.random.random() < 0.7 else (bound, x)
            if predicate[0] == "u":
                width = f"u{a.numbers.dtype.itemsize}"
                numbers = fn(a.numbers.astype(width), b.numbers.astype(width))
            else:
                numbers = fn(a.numbers, b.numbers)
            m = self.put(f"arith.cmpi {predicate}, {a.name}, {b.name} : {a.type}", a.shape, "i1", numbers)
            masks.append(m if axis is None else self.spread(m, axis, shape))
        total = masks[0]
        for m in masks[1:]:
            op, fn = self.random.choice([("andi", np.logical_and), ("andi", np.logical_and), ("ori", np.logical_or)])
            numbers = fn(total.numbers, m.numbers)
            total = self.put(f"arith.{op} {total.name}, {m.name} : {total.type}", shape, "i1", numbers)
        return total

    def constant_or_scalar(self, value: int, element: str) -> Tile:
        """A number, half of the time as the sum of a run-time number and a constant."""
        found = [s for s in self.scalars if s.element == element and s.numbers.size == 1]
        if not found or self.random.random() < 0.5:
            return self.constant(value, (), element)
        base = self.random.choice(found)
        return self.binary("addi", base, self.constant(value - int(base.numbers.item()), (), element), np.add)


KINDS = ["addi", "addi", "addi", "subi", "muli", "muli", "reversed", "remsi", "remsi", "remui", "divsi", "divui"]
KINDS += ["shli", "andi", "narrow", "wide", "wide", "wide", "minsi"]
COMPARISONS = [
    ("slt", np.less), ("slt", np.less), ("slt", np.less), ("sle", np.less_equal), ("sgt", np.greater),
    ("sge", np.greater_equal), ("eq", np.equal), ("ne", np.not_equal), ("ult", np.less), ("uge", np.greater_equal),
]  # fmt: skip
