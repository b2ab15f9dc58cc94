"""Random kernels whose warps are specialized: partitions that pass tiles to each other through rings of buffers.

    node 0 --ring--> node 2 --ring--> node 3          each node: a partition, or the default region
    node 1 --ring-----^                               each ring: buffers, and barriers for full and empty ones

Every node works off a number of items. It takes one tile from each ring that ends at it, computes, and puts the result
into each ring that begins at it; what it has computed it adds up, and stores at the end. `expected` is the same in
NumPy. What is drawn besides: warps and layouts of each node, reductions and conversions (which need shared memory and
barriers of their own), how captures are made, registers that are asked for, how arrivals are counted, and whether the
operation stands alone, twice, in a loop or in a branch.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

__all__ = ["SIZE", "Program"]

SIZE = 256  # elements of a tile
BARRIERS = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"


@dataclass
class Ring:
    """Buffers from node `source` to node `target`; one arrival a warp, or one for all, says that one is full, empty."""

    number: int
    source: int
    target: int
    depth: int
    full: int
    empty: int


@dataclass
class Node:
    """What the warps of one partition do; `steps` of the computation: ("affine", a, b), ("sum",), ("turn",)."""

    warps: int
    layout: str
    other: str
    steps: list[tuple]
    inputs: list[Ring] = field(default_factory=list)
    outputs: list[Ring] = field(default_factory=list)


class Program:
    """The program of a seed: `text`, a module whose kernel k takes the output, a number of items and another number."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        count = rng.randint(2, 5)
        self.nodes = [self.node(4 if i == 0 else rng.choice((1, 1, 2, 4))) for i in range(count)]
        order = rng.sample(range(count), count)
        self.rings: list[Ring] = []
        for at, target in enumerate(order):
            for source in rng.sample(order[:at], min(at, rng.choice((0, 1, 1, 2)))):
                self.ring(source, target)
        self.order = order
        self.form = rng.choice(("once", "once", "twice", "loop", "branch"))
        self.registers = rng.random() < 0.5
        self.rounds = {"once": 1, "branch": 1, "twice": 2, "loop": rng.randint(1, 3)}[self.form]

    def node(self, warps: int) -> Node:
        rng = self.rng
        steps = [
            rng.choice((("affine", rng.randint(-3, 3), rng.randint(-9, 9)), ("sum",), ("turn",)))
            for _ in range(rng.randint(1, 3))
        ]
        return Node(warps, self.layout(warps), self.layout(warps), steps)

    def layout(self, warps: int) -> str:
        size = self.rng.choice((1, 2, 4, 8))
        return (
            f"#ttg.blocked<{{sizePerThread = [{size}], threadsPerWarp = [32], warpsPerCTA = [{warps}], order = [0]}}>"
        )

    def ring(self, source: int, target: int) -> None:
        rng, nodes = self.rng, self.nodes
        counts = [rng.choice((1, nodes[n].warps)) for n in (source, target)]
        ring = Ring(len(self.rings), source, target, rng.randint(1, 3), *counts)
        self.rings.append(ring)
        nodes[source].outputs.append(ring)
        nodes[target].inputs.append(ring)

    # -- the reference ---------------------------------------------------------------------------------------------

    def expected(self, items: int, given: int) -> np.ndarray:
        """What the kernel stores: for each round and node the sum over items of its tiles."""
        out = np.zeros((self.rounds, len(self.nodes), SIZE), np.int32)
        for round_ in range(self.rounds):
            for item in range(items):
                tiles: dict[int, np.ndarray] = {}
                for n in self.order:
                    tile = np.arange(SIZE, dtype=np.int32) + np.int32(item + given + round_)
                    for ring in self.nodes[n].inputs:
                        tile = tile + tiles[ring.source] * np.int32(ring.number + 1)
                    for kind, *numbers in self.nodes[n].steps:
                        if kind == "affine":
                            tile = tile * np.int32(numbers[0]) + np.int32(numbers[1])
                        elif kind == "sum":
                            tile = tile + tile.sum(dtype=np.int32)
                    tiles[n] = tile
                    out[round_, n] += tile
        return out

    # -- the text --------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        setup = [self.ring_setup(r) for r in self.rings]
        operations = {
            "once": lambda: self.operation("%zero"),
            "twice": lambda: self.operation("%zero") + self.operation("%one"),
            "branch": lambda: f"scf.if %always {{\n{self.operation('%zero')}\n}}\n",
            "loop": lambda: f"scf.for %v = %zero to %rounds step %one : i32 {{\n{self.operation('%v')}\n}}\n",
        }[self.form]()
        return f"""
#flat = {BARRIERS}
#smem = #ttg.shared_memory
!barriers = !ttg.memdesc<1xi64, #flat, #smem, mutable>
!tile = !ttg.memdesc<{SIZE}xi32, #flat, #smem, mutable>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k(%p: !tt.ptr<i32>, %items: i32, %given: i32) attributes {{noinline = false}} {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rounds = arith.constant {self.rounds} : i32
    %always = arith.cmpi sge, %items, %zero : i32
    {"".join(setup)}
    ttg.barrier local
    {operations}
    tt.return
  }}
}}
"""

    def ring_setup(self, r: Ring) -> str:
        out = f"%b{r.number} = ttg.local_alloc : () -> {self.buffers(r)}\n"
        for kind, count in (("f", r.full), ("e", r.empty)):
            name = f"%{kind}{r.number}"
            out += f"{name} = ttg.local_alloc : () -> {self.barriers(r)}\n"
            for i in range(r.depth):
                index = ("%zero", "%one", "%two")[i]
                out += f"{name}_{i} = ttg.memdesc_index {name}[{index}] : {self.barriers(r)} -> !barriers\n"
                out += f"ttng.init_barrier {name}_{i}, {count} : !barriers\n"
        return out

    @staticmethod
    def buffers(r: Ring) -> str:
        return f"!ttg.memdesc<{r.depth}x{SIZE}xi32, #flat, #smem, mutable>"

    @staticmethod
    def barriers(r: Ring) -> str:
        return f"!ttg.memdesc<{r.depth}x1xi64, #flat, #smem, mutable>"

    def operation(self, round_: str) -> str:
        """One `ttg.warp_specialize`; captured are all rings, and numbers that are known, computed or loaded."""
        captured = [("%p", "!tt.ptr<i32>"), ("%items", "i32"), (f"%sum{round_[1:]}", "i32"), (round_, "i32")]
        for r in self.rings:
            captured.append((f"%b{r.number}", self.buffers(r)))
            captured += [(f"%{kind}{r.number}", self.barriers(r)) for kind in "fe"]
        arguments = ", ".join(f"%c{i}: {ty}" for i, (_, ty) in enumerate(captured))
        partitions = "".join(
            f"partition{i}({arguments}) num_warps({n.warps}) {{\n{self.body(i + 1, captured, True)}ttg.warp_return\n}}\n"
            for i, n in enumerate(self.nodes[1:])
        )
        wanted = ", ".join(str(self.rng.choice((24, 40, 64, 96))) for _ in self.nodes[1:])
        attributes = f"attributes {{requestedRegisters = array<i32: {wanted}>}}" if self.registers else ""
        types = ", ".join(ty for _, ty in captured)
        return f"""
    %sum{round_[1:]} = arith.addi %given, {round_} : i32
    ttg.warp_specialize({", ".join(name for name, _ in captured)}) {attributes}
    default {{
      {self.body(0, captured, False)}
      ttg.warp_yield
    }}
    {partitions} : ({types}) -> ()
"""

    def body(self, n: int, captured: list[tuple[str, str]], renamed: bool) -> str:
        """The loop of a node; `renamed`: it sees what is captured as its arguments."""
        node, name = self.nodes[n], {v: f"%c{i}" if renamed else v for i, (v, _) in enumerate(captured)}
        tensor = f"tensor<{SIZE}xi32, {node.layout}>"
        p, items, added, round_ = (name[v] for v, _ in captured[:4])
        lines = [
            "%k0 = arith.constant 0 : i32", "%k1 = arith.constant 1 : i32",
            f"%none = arith.constant dense<0> : {tensor}",
            f"%iota = tt.make_range {{start = 0 : i32, end = {SIZE} : i32}} : {tensor}",
            f"%done = arith.muli {round_}, {items} : i32",
            f"%all = scf.for %i = %k0 to {items} step %k1 iter_args(%acc = %none) -> ({tensor}) : i32 {{",
            f"%item = arith.addi %i, {added} : i32", f"%s = tt.splat %item : i32 -> {tensor}",
            f"%t0 = arith.addi %iota, %s : {tensor}",
            "%g = arith.addi %i, %done : i32",
        ]  # fmt: skip
        at = 0
        for r in node.inputs:
            lines += self.slot(r, name) + self.wait(r, "f", f"%phase{r.number}")
            lines += [
                f"%x{r.number} = ttg.local_load %buffer{r.number} : !tile -> {tensor}",
                f"ttng.arrive_barrier %e_{r.number}, {r.empty} : !barriers",
                f"%m{r.number} = arith.constant dense<{r.number + 1}> : {tensor}",
                f"%y{r.number} = arith.muli %x{r.number}, %m{r.number} : {tensor}",
                f"%t{at + 1} = arith.addi %t{at}, %y{r.number} : {tensor}",
            ]
            at += 1
        for step in node.steps:
            lines += self.step(step, node, at)
            at += 1
        for r in node.outputs:
            lines += self.slot(r, name)
            lines += [f"%turned{r.number} = arith.xori %phase{r.number}, %k1 : i32"]
            lines += self.wait(r, "e", f"%turned{r.number}")
            lines += [
                f"ttg.local_store %t{at}, %buffer{r.number} : {tensor} -> !tile",
                f"ttng.arrive_barrier %f_{r.number}, {r.full} : !barriers",
            ]
        pointers = f"tensor<{SIZE}x!tt.ptr<i32>, {node.layout}>"
        lines += [
            f"%next = arith.addi %acc, %t{at} : {tensor}", f"scf.yield %next : {tensor}", "}",
            f"%nodes = arith.constant {len(self.nodes) * SIZE} : i32", f"%own = arith.constant {n * SIZE} : i32",
            f"%row = arith.muli {round_}, %nodes : i32", "%first = arith.addi %row, %own : i32",
            f"%base = tt.addptr {p}, %first : !tt.ptr<i32>, i32", f"%bases = tt.splat %base : !tt.ptr<i32> -> {pointers}",
            f"%at = tt.addptr %bases, %iota : {pointers}, {tensor}", f"tt.store %at, %all : {pointers}",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def slot(self, r: Ring, name: dict[str, str]) -> list[str]:
        """The buffer and the barriers of this item, and the phase in which it is full."""
        n, ring = r.number, self.barriers(r)
        return [
            f"%depth{n} = arith.constant {r.depth} : i32", f"%slot{n} = arith.remui %g, %depth{n} : i32",
            f"%turn{n} = arith.divui %g, %depth{n} : i32", f"%phase{n} = arith.andi %turn{n}, %k1 : i32",
            f"%buffer{n} = ttg.memdesc_index {name[f'%b{n}']}[%slot{n}] : {self.buffers(r)} -> !tile",
            *(f"%{k}_{n} = ttg.memdesc_index {name[f'%{k}{n}']}[%slot{n}] : {ring} -> !barriers" for k in "fe"),
        ]  # fmt: skip

    @staticmethod
    def wait(r: Ring, kind: str, phase: str) -> list[str]:
        return [f"ttng.wait_barrier %{kind}_{r.number}, {phase} : !barriers"]

    @staticmethod
    def step(step: tuple, node: Node, at: int) -> list[str]:
        tensor, other = f"tensor<{SIZE}xi32, {node.layout}>", f"tensor<{SIZE}xi32, {node.other}>"
        source, target = f"%t{at}", f"%t{at + 1}"
        if step[0] == "affine":
            return [
                f"%v{at} = arith.constant dense<{step[1]}> : {tensor}", f"%w{at} = arith.constant dense<{step[2]}> : {tensor}",
                f"%d{at} = arith.muli {source}, %v{at} : {tensor}", f"{target} = arith.addi %d{at}, %w{at} : {tensor}",
            ]  # fmt: skip
        if step[0] == "sum":
            return [
                f'%r{at} = "tt.reduce"({source}) <{{axis = 0 : i32}}> ({{', "^bb0(%x: i32, %y: i32):",
                "%z = arith.addi %x, %y : i32", "tt.reduce.return %z : i32", f"}}) : ({tensor}) -> i32",
                f"%u{at} = tt.splat %r{at} : i32 -> {tensor}", f"{target} = arith.addi {source}, %u{at} : {tensor}",
            ]  # fmt: skip
        zero = f"%n{at} = arith.constant dense<0> : {other}"
        return [
            f"%o{at} = ttg.convert_layout {source} : {tensor} -> {other}", zero,
            f"%q{at} = arith.addi %o{at}, %n{at} : {other}",
            f"{target} = ttg.convert_layout %q{at} : {other} -> {tensor}",
        ]  # fmt: skip
