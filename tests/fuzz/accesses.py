"""Random tile programs as TTIR text that stress memory accesses, shapes and control flow; see `test_accesses.py`.

A program reads and writes arrays of every element type (`Program.arrays`), each of `SIZE` elements; addresses are
made of the index tiles of `indices.py` and lie within the arrays wherever the mask is on. A store writes every
element at most once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from indices import Indices, Tile, tensor

SIZE = 4096
FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, **FLOATS}
ELEMENTS = ["i8", "i16", "i32", "i32", "i64", "f16", "bf16", "f32", "f32", "f64", "i1"]
ARRAYS = list(dict.fromkeys(ELEMENTS))
SHAPES = [
    (1,), (2,), (8,), (16,), (64,), (128,), (256,), (1024,), (4, 8), (8, 4), (16, 16), (1, 32), (32, 1), (8, 64),
    (64, 8), (32, 32), (2, 4, 8), (4, 4, 16), (8, 2, 4), (1, 8, 8), (2, 512), (16, 1, 4),
]  # fmt: skip
INTEGER = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"]
FLOAT = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf"]


class Program(Indices):
    """One kernel: `text`, and `arguments()` to launch it with."""

    def __init__(self, seed: int, size: int = 12) -> None:
        super().__init__(seed)
        self.values: list[Tile] = []
        self.depth = 0
        self.samples = 1
        self.numbers = {
            "%n": ("i32", self.random.choice([0, 1, 5, 37, 64, 100, 255])),
            "%s": ("i32", self.random.choice([0, 1, 2, 8, 16, 33, -1, -16])),
            "%m": ("i64", self.random.choice([0, 1, 3, 16, 64, 77, -8])),
        }
        self.scalars = [Tile(k, (), ty, np.array([v], f"i{WIDTHS[ty] // 8}")) for k, (ty, v) in self.numbers.items()]
        self.flavour = self.random.choice(SHAPES), self.random.choice(SHAPES)
        for _ in range(2):
            self.values.append(self.load(self.random.choice(ELEMENTS), self.shape()))
        self.statements(size)
        for _ in range(2):
            self.store()
        params = [f"%p_{e}: !tt.ptr<{e}>" for e in ARRAYS] + [f"{k}: {ty}" for k, (ty, _) in self.numbers.items()]
        body = "\n".join(self.lines)
        self.text = f"tt.func public @k({', '.join(params)}) {{\n{body}\n  tt.return\n}}"

    def arguments(self, seed: int = 1) -> list[Any]:
        """Small whole numbers, so that sums of floats are exact in any order."""
        random = np.random.default_rng(seed)
        arrays = []
        for e in ARRAYS:
            numbers = random.integers(-3, 4, SIZE)
            if e == "bf16":
                arrays.append((numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
            elif e == "i1":
                arrays.append((numbers & 1).astype(np.uint8))
            else:
                arrays.append(numbers.astype(f"{e[0]}{WIDTHS[e] // 8}"))
        return [*arrays, *(v for _, v in self.numbers.values())]

    def shape(self) -> tuple[int, ...]:
        """One of the program's favourite shapes, mostly."""
        return self.random.choice(self.flavour) if self.random.random() < 0.8 else self.random.choice(SHAPES)

    # -- statements -------------------------------------------------------------------------------------------

    def statements(self, n: int) -> None:
        """Some of everything."""
        for _ in range(n):
            kind = self.random.random()
            if kind < 0.14:
                self.store()
            elif kind < 0.22 and self.depth < 2:
                self.random.choice([self.loop, self.loop, self.branch, self.while_loop])()
            elif kind < 0.4:
                self.values.append(self.load(self.random.choice(ELEMENTS), self.shape()))
            else:
                made = self.random.choice(MAKERS)(self)
                self.values += made if isinstance(made, list) else [made] if made else []

    def pick(self, test: Any = lambda v: True) -> Tile | None:
        """A value, recent ones more often."""
        found = [v for v in self.values if test(v)]
        return self.random.choice(found[-8:]) if found else None

    def value(self, shape: tuple[int, ...], element: str) -> Tile:
        """A value of this type: one there is, a load, or a constant."""
        same = self.pick(lambda v: v.shape == shape and v.element == element)
        if same and self.random.random() < 0.8:
            return same
        small = [v for v in self.values if self.fits(v, shape, element)]
        if small and self.random.random() < 0.6:
            return self.broadcast(self.random.choice(small), shape)
        if self.random.random() < 0.7:
            return self.load(element, shape)
        return self.fill(shape, element)

    def fits(self, v: Tile, shape: tuple[int, ...], element: str) -> bool:
        """True when `v` can be broadcast to `shape`."""
        return (
            v.element == element and len(v.shape) == len(shape) > 0 and all(a in (1, b) for a, b in zip(v.shape, shape))
        )

    def fill(self, shape: tuple[int, ...], element: str) -> Tile:
        """A constant tile."""
        if element in FLOATS:
            text = f"{self.random.choice([0.0, 1.0, -2.5, 3.0]):e}"
            body = f"dense<{text}> : {tensor(shape, element)}" if shape else f"{text} : {element}"
            return self.put(f"arith.constant {body}", shape, element)
        return self.constant(self.random.choice([0, 1] if element == "i1" else [0, 1, -1, 5, 100]), shape, element)

    # -- memory -----------------------------------------------------------------------------------------------

    def address(self, shape: tuple[int, ...], element: str, once: bool) -> tuple[Tile, Tile | None]:
        """Pointers, and a mask (or None); every lane that is on lies in the array (and only once)."""
        for _ in range(8):
            lines, count = len(self.lines), self.count
            found = self.attempt(shape, element, once)
            if found:
                return found
            del self.lines[lines:]
            self.count = count
        n = int(np.prod(shape))
        text = f"tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>"
        x = self.put(text, (n,), "i32", np.arange(n, dtype=np.int32)[None])
        return self.pointers(self.reshape(x, shape), element, 0), None

    def attempt(self, shape: tuple[int, ...], element: str, once: bool) -> tuple[Tile, Tile | None] | None:
        """One try."""
        offsets = self.offsets(shape) if shape else self.scalar("i32")
        mask = self.mask(shape) if shape and self.random.random() < 0.6 else None
        numbers = offsets.numbers.astype(np.int64)
        if mask is not None:
            numbers, on = np.broadcast_arrays(numbers, mask.numbers)
            active = numbers[on]
        else:
            on = np.ones(numbers.shape, bool)
            active = numbers
        low, high = (int(active.min()), int(active.max())) if active.size else (0, 0)
        if high - low >= SIZE or abs(low) > 2**30 or abs(high) > 2**30:
            return None
        if once and any(len(np.unique(a[m])) != m.sum() for a, m in zip(numbers, on)):
            return None
        room = SIZE - (high - low) - 1
        return self.pointers(offsets, element, self.random.choice([0, room // 2, room, min(room, 64)]) - low), mask

    def pointers(self, offsets: Tile, element: str, base: int) -> Tile:
        """Addresses: the base added to the pointer, to the offsets, or to both in turn."""
        pointer, shape = f"!tt.ptr<{element}>", offsets.shape
        kind = self.random.random()
        start = Tile(f"%p_{element}", (), pointer)
        if kind < 0.5 or not shape:
            by = self.constant(base, (), "i64" if self.random.random() < 0.5 else "i32")
            start = self.put(f"tt.addptr {start.name}, {by.name} : {pointer}, {by.element}", (), pointer)
        elif kind < 0.8:
            by = self.splat(self.constant(base, (), offsets.element), shape)
            offsets = self.binary("addi", offsets, by, np.add)
        tile = self.splat(start, shape) if shape else start
        if 0.8 <= kind and shape:
            by = self.splat(self.constant(base, (), "i32"), shape)
            tile = self.put(f"tt.addptr {tile.name}, {by.name} : {tile.type}, {by.type}", shape, pointer)
        return self.put(f"tt.addptr {tile.name}, {offsets.name} : {tile.type}, {offsets.type}", shape, pointer)

    def load(self, element: str, shape: tuple[int, ...]) -> Tile:
        """A load, masked or not."""
        pointers, mask = self.address(shape, element, False)
        if mask is None:
            return self.put(f"tt.load {pointers.name} : {pointers.type}", shape, element)
        other = self.value(shape, element) if self.random.random() < 0.4 else self.fill(shape, element)
        return self.put(f"tt.load {pointers.name}, {mask.name}, {other.name} : {pointers.type}", shape, element)

    def store(self) -> None:
        """A store of a value, in place now and then."""
        value = self.pick() or self.fill(self.shape(), "i32")
        pointers, mask = self.address(value.shape, value.element, True)
        if self.random.random() < 0.4:
            old = (
                self.put(f"tt.load {pointers.name} : {pointers.type}", value.shape, value.element)
                if mask is None
                else None
            )
            if old is not None:
                self.values.append(old)
                value = self.combined(old, value)
        masked = f", {mask.name}" if mask is not None else ""
        self.line(f"tt.store {pointers.name}, {value.name}{masked} : {pointers.type}")

    # -- arithmetic -------------------------------------------------------------------------------------------

    def combined(self, a: Tile, b: Tile) -> Tile:
        """An elementwise operation."""
        op = self.random.choice(FLOAT if a.element in FLOATS else INTEGER)
        if a.element == "i1":
            op = self.random.choice(["andi", "ori", "xori"])
        return self.put(f"arith.{op} {a.name}, {b.name} : {a.type}", a.shape, a.element)

    def elementwise(self) -> Tile | None:
        """Two operands of one type."""
        a = self.pick()
        return self.combined(a, self.value(a.shape, a.element)) if a else None

    def division(self) -> Tile | None:
        """By an odd number."""
        a = self.pick(lambda v: v.element[0] == "i" and v.element != "i1")
        if a is None:
            return None
        one = self.constant(1, a.shape, a.element)
        odd = self.constant(self.random.choice([1, 3, 7, 5]), a.shape, a.element)
        if self.random.random() < 0.5:
            b = self.value(a.shape, a.element)
            low = self.put(f"arith.andi {b.name}, {odd.name} : {a.type}", a.shape, a.element)
            odd = self.put(f"arith.ori {low.name}, {one.name} : {a.type}", a.shape, a.element)
        op = self.random.choice(["divsi", "divui", "remsi", "remui"])
        return self.put(f"arith.{op} {a.name}, {odd.name} : {a.type}", a.shape, a.element)

    def select(self) -> Tile | None:
        """A choice by a tile of i1, or by one i1."""
        a = self.pick()
        if a is None:
            return None
        b = self.value(a.shape, a.element)
        c = self.value(a.shape, "i1") if self.random.random() < 0.7 else self.mask(a.shape) if a.shape else None
        c = c or self.value((), "i1")
        both = f"{tensor(a.shape, 'i1')}, " if a.shape else ""
        return self.put(f"arith.select {c.name}, {a.name}, {b.name} : {both}{a.type}", a.shape, a.element)

    def comparison(self) -> Tile | None:
        """A tile of i1."""
        a = self.pick(lambda v: v.element != "i1")
        if a is None:
            return None
        b = self.value(a.shape, a.element)
        kind, predicates = ("cmpf", ["olt", "ole", "ogt", "oeq", "une"]) if a.element in FLOATS else (
            "cmpi", ["slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ugt"])  # fmt: skip
        return self.put(f"arith.{kind} {self.random.choice(predicates)}, {a.name}, {b.name} : {a.type}", a.shape, "i1")

    def convert(self) -> Tile | None:
        """To another element type, exactly or with one rounding."""
        a = self.pick()
        if a is None:
            return None
        target = self.random.choice([e for e in ARRAYS if e != a.element])
        wide, to = WIDTHS[a.element], WIDTHS[target]
        if a.element in FLOATS:
            if target not in FLOATS or wide == to:
                return None
            op = "extf" if to > wide else "truncf"
        elif target in FLOATS:
            op = self.random.choice(["sitofp", "uitofp"])
        else:
            op = "trunci" if to < wide else self.random.choice(["extsi", "extui"])
        return self.put(f"arith.{op} {a.name} : {a.type} to {tensor(a.shape, target)}", a.shape, target)

    # -- shapes -----------------------------------------------------------------------------------------------

    def reshaped(self) -> Tile | None:
        """Another shape of as many elements."""
        a = self.pick(lambda v: v.shape)
        if a is None:
            return None
        n = int(np.prod(a.shape))
        return self.reshape(a, self.random.choice([s for s in [*SHAPES, (n,)] if int(np.prod(s)) == n]))

    def transposed(self) -> Tile | None:
        """Another order of dimensions."""
        a = self.pick(lambda v: len(v.shape) > 1)
        return self.trans(a, tuple(self.random.sample(range(len(a.shape)), len(a.shape)))) if a else None

    def grown(self) -> Tile | None:
        """A new dimension, repeated."""
        a = self.pick(lambda v: 1 <= len(v.shape) < 3 and np.prod(v.shape) <= 128)
        if a is None:
            return None
        axis = self.random.randint(0, len(a.shape))
        b = self.expand(a, axis)
        n = self.random.choice([1, 2, 8])
        return self.broadcast(b, tuple(n if d == axis else k for d, k in enumerate(b.shape)))

    def joined(self) -> list[Tile] | None:
        """join, split or cat."""
        a = self.pick(lambda v: v.shape and np.prod(v.shape) <= 512)
        if a is None:
            return None
        kind = self.random.choice(["join", "cat", "split"])
        if kind == "split":
            if a.shape == (2,):
                return None
            if a.shape[-1] != 2:
                n = int(np.prod(a.shape))
                if n < 4:
                    return None
                a = self.reshape(a, (n // 2, 2))
            parts = [Tile(self.name(), a.shape[:-1], a.element) for _ in range(2)]
            self.line(f"{parts[0].name}, {parts[1].name} = tt.split {a.name} : {a.type} -> {parts[0].type}")
            return parts
        b = self.value(a.shape, a.element)
        shape = (*a.shape, 2) if kind == "join" else (2 * a.shape[0], *a.shape[1:])
        if len(shape) > 3:
            return None
        return [self.put(f"tt.{kind} {a.name}, {b.name} : {a.type} -> {tensor(shape, a.element)}", shape, a.element)]

    def gather(self) -> Tile | None:
        """Elements along one dimension."""
        a = self.pick(lambda v: v.shape and v.element != "i1")
        if a is None:
            return None
        axis = self.random.randrange(len(a.shape))
        if self.random.random() < 0.5:
            index = self.value(a.shape, "i32")
        else:
            index = self.spread(self.line_of(a.shape[axis]), axis, a.shape)
        limit = self.constant(a.shape[axis] - 1, a.shape, index.element)
        index = self.put(f"arith.andi {index.name}, {limit.name} : {index.type}", a.shape, index.element)
        text = f"tt.gather {a.name}[{index.name}] {{axis = {axis} : i32}} : ({a.type}, {index.type}) -> {a.type}"
        return self.put(text, a.shape, a.element)

    def splatted(self) -> Tile | None:
        """A scalar in every place."""
        a = self.pick(lambda v: not v.shape)
        return self.splat(a, self.shape()) if a else None

    # -- reductions, scans, dot ---------------------------------------------------------------------------------

    def region(self, kind: str, elements: list[str], result: list[str]) -> list[str]:
        """The combination of a reduce or scan."""
        args = [f"%a{k}" for k in range(len(elements))] + [f"%b{k}" for k in range(len(elements))]
        typed = ", ".join(f"{a}: {e}" for a, e in zip(args, elements * 2))
        e = elements[0]
        if len(elements) == 1:
            op = self.random.choice(
                ["maximumf", "minimumf"] if e in FLOATS else ["addi", "maxsi", "minsi", "xori", "minui", "muli"]
            )
            op = self.random.choice(["andi", "ori", "xori"]) if e == "i1" else op
            lines, out = [f"%r = arith.{op} %a0, %b0 : {e}"], ["%r"]
        else:
            lines = [
                f"%g = arith.cmpi sgt, %a0, %b0 : {e}" if e not in FLOATS else f"%g = arith.cmpf ogt, %a0, %b0 : {e}",
                f"%q = arith.cmpi eq, %a0, %b0 : {e}" if e not in FLOATS else f"%q = arith.cmpf oeq, %a0, %b0 : {e}",
                "%l = arith.cmpi slt, %a1, %b1 : i32",
                "%t = arith.andi %q, %l : i1",
                "%c = arith.ori %g, %t : i1",
                f"%r = arith.select %c, %a0, %b0 : {e}",
                "%i = arith.select %c, %a1, %b1 : i32",
            ]
            out = ["%r", "%i"]
        return [
            "({",
            f"^bb0({typed}):",
            *lines,
            f'"tt.{kind}.return"({", ".join(out)}) : ({", ".join(elements)}) -> ()',
            "})",
        ]

    def reduce(self) -> list[Tile] | None:
        """Along one dimension; of two tiles it is an argmax."""
        a = self.pick(lambda v: v.shape)
        if a is None:
            return None
        scan = self.random.random() < 0.25
        axis = self.random.randrange(len(a.shape))
        sources = [a]
        if self.random.random() < 0.35 and a.element not in (*FLOATS, "i1"):
            sources.append(self.spread(self.line_of(a.shape[axis]), axis, a.shape))
            if sources[1].element != "i32":
                sources[1] = self.cast(sources[1], "i32", "trunci")
        shape = a.shape if scan else a.shape[:axis] + a.shape[axis + 1 :]
        elements = [s.element for s in sources]
        results = [Tile(self.name(), shape, e) for e in elements]
        kind = "scan" if scan else "reduce"
        name = results[0].name
        reverse = f", reverse = {self.random.choice(['true', 'false'])}" if scan else ""
        head = f'{name}{f":{len(results)}" if len(results) > 1 else ""} = "tt.{kind}"('
        head += f"{', '.join(s.name for s in sources)}) <{{axis = {axis} : i32{reverse}}}> "
        region = self.region(kind, elements, elements)
        types = f" : ({', '.join(s.type for s in sources)}) -> ({', '.join(r.type for r in results)})"
        self.line(head + "\n".join(region) + types)
        if len(results) > 1:
            return [Tile(f"{name}#{k}", shape, r.element) for k, r in enumerate(results)]
        return results

    def dot(self) -> Tile | None:
        """Of freshly loaded tiles: small whole numbers, exact in any order."""
        sizes = [1, 2, 4, 8, 16, 32]
        m, n, k = (self.random.choice(sizes) for _ in range(3))
        batch = self.random.choice([(), (), (), (2,)])
        element, acc = self.random.choice(
            [("i8", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("f16", "f16")]
        )
        sides = []
        for rows, columns in ((m, k), (k, n)):
            if self.random.random() < 0.4:
                order = (*range(len(batch)), len(batch) + 1, len(batch))
                sides.append(self.trans(self.load_whole(element, (*batch, columns, rows)), order))
            else:
                sides.append(self.load_whole(element, (*batch, rows, columns)))
        a, b = sides
        shape = (*batch, m, n)
        c = self.load_whole(acc, shape) if self.random.random() < 0.5 else self.fill(shape, acc)
        self.values += [c, a]
        d = self.put(f"tt.dot {a.name}, {b.name}, {c.name} : {a.type} * {b.type} -> {c.type}", shape, acc)
        return d

    def load_whole(self, element: str, shape: tuple[int, ...]) -> Tile:
        """Whole numbers; arrays hold such until something else is stored, which is why they are cut to size."""
        if element in FLOATS:
            return self.small(self.load("i8", shape), element)
        return self.load(element, shape)

    def small(self, x: Tile, element: str) -> Tile:
        """x & 7, as a float."""
        seven = self.constant(7, x.shape, x.element)
        low = self.put(f"arith.andi {x.name}, {seven.name} : {x.type}", x.shape, x.element)
        return self.put(f"arith.sitofp {low.name} : {low.type} to {tensor(x.shape, element)}", x.shape, element)

    # -- control flow -----------------------------------------------------------------------------------------

    def carried(self) -> list[Tile]:
        """Tiles to carry: several of one type, so that they may be swapped."""
        first = self.value(self.shape(), self.random.choice(ELEMENTS))
        tiles = [first]
        for _ in range(self.random.randrange(3)):
            tiles.append(self.value(first.shape, first.element) if self.random.random() < 0.7 else self.pick() or first)
        return tiles

    def body(self, types: list[Tile], args: list[Tile], end: str) -> None:
        """Statements and what they yield."""
        outside = list(self.values)
        self.values += args
        self.depth += 1
        self.indent += 1
        self.statements(self.random.randrange(5))
        made = []
        for t in types:
            if args and self.random.random() < 0.3:
                same = [a for a in args if (a.shape, a.element) == (t.shape, t.element)]
                made.append(self.random.choice(same))
            elif self.random.random() < 0.3 and len(t.shape) == 2 and t.shape[0] == t.shape[1]:
                made.append(self.trans(self.value(t.shape, t.element), (1, 0)))
            else:
                made.append(self.value(t.shape, t.element))
        self.line(f"{end}{', '.join(v.name for v in made)} : {', '.join(v.type for v in made)}")
        self.indent -= 1
        self.depth -= 1
        self.values = outside

    def results(self, types: list[Tile]) -> tuple[str, list[Tile]]:
        """The left side of an operation with such results."""
        name = self.name()
        if len(types) == 1:
            return name, [Tile(name, types[0].shape, types[0].element)]
        return f"{name}:{len(types)}", [Tile(f"{name}#{k}", t.shape, t.element) for k, t in enumerate(types)]

    def loop(self) -> None:
        """scf.for over a few numbers, which addresses in it may use."""
        inits = self.carried()
        trips, step = self.random.randrange(5), self.random.choice([1, 1, 16])
        first = step * self.random.choice([0, 0, 0, 1, -1, -2, -4])
        lower, upper = self.constant(first, (), "i32"), self.constant(first + trips * step, (), "i32")
        by = self.constant(step, (), "i32")
        left, results = self.results(inits)
        args = [Tile(self.name(), t.shape, t.element) for t in inits]
        known = list(self.scalars)
        iv = self.name()
        if self.samples == 1 and trips:
            self.scalars.append(Tile(iv, (), "i32", first + np.arange(0, trips * step, step, dtype=np.int32)))
            self.samples = trips
        pairs = ", ".join(f"{a.name} = {i.name}" for a, i in zip(args, inits))
        self.line(
            f"{left} = scf.for {iv} = {lower.name} to {upper.name} step {by.name} iter_args({pairs}) -> "
            f"({', '.join(t.type for t in inits)}) : i32 {{"
        )
        self.body(inits, args, "scf.yield ")
        self.line("}")
        if len(self.scalars) > len(known):
            self.samples = 1
        self.scalars = known
        self.values += results

    def branch(self) -> None:
        """scf.if with results."""
        types = self.carried()
        condition = self.value((), "i1")
        left, results = self.results(types)
        self.line(f"{left} = scf.if {condition.name} -> ({', '.join(t.type for t in types)}) {{")
        self.body(types, [], "scf.yield ")
        self.line("} else {")
        self.body(types, [], "scf.yield ")
        self.line("}")
        self.values += results

    def while_loop(self) -> None:
        """scf.while that counts to a few."""
        inits = self.carried()
        zero, few = self.constant(0, (), "i32"), self.constant(self.random.randrange(4), (), "i32")
        one = self.constant(1, (), "i32")
        left, results = self.results([zero, *inits])
        before = [Tile(self.name(), t.shape, t.element) for t in [zero, *inits]]
        after = [Tile(self.name(), t.shape, t.element) for t in [zero, *inits]]
        types = ", ".join(t.type for t in [zero, *inits])
        pairs = ", ".join(f"{a.name} = {i.name}" for a, i in zip(before, [zero, *inits]))
        self.line(f"{left} = scf.while ({pairs}) : ({types}) -> ({types}) {{")
        go = Tile(self.name(), (), "i1")
        self.line(f"  {go.name} = arith.cmpi slt, {before[0].name}, {few.name} : i32")
        end = f"scf.condition({go.name}) {before[0].name}, "
        self.body_of_while(inits, before, end, "i32")
        self.line("} do {")
        self.line(f"^bb0({', '.join(f'{a.name}: {a.type}' for a in after)}):")
        count = Tile(self.name(), (), "i32")
        self.line(f"  {count.name} = arith.addi {after[0].name}, {one.name} : i32")
        self.body_of_while(inits, after, f"scf.yield {count.name}, ", "i32")
        self.line("}")
        self.values += results[1:]

    def body_of_while(self, inits: list[Tile], args: list[Tile], end: str, counter: str) -> None:
        """`body`, with the counter handed on in front."""
        self.body(inits, args[1:], end)
        head, _, types = self.lines[-1].rpartition(" : ")
        self.lines[-1] = f"{head} : {counter}, {types}"


MAKERS = [Program.elementwise] * 4 + [Program.select, Program.comparison, Program.convert, Program.division]
MAKERS += [Program.reshaped, Program.transposed, Program.grown, Program.joined, Program.gather, Program.splatted]
MAKERS += [Program.reduce, Program.reduce, Program.dot]
