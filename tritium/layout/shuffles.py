"""Plan layout conversions within each warp: register moves, selects and shuffles.

The location in the old layout of the element in register r of lane l of the new one is a linear map M of (r, l), and of
the other thread bits t (warp, block): (r', l') = M (r, l, t). A shuffle reads one register of one other lane, and every
lane provides one register at a time. M is therefore computed in three steps:

    v[p](l, t) = source[p + B1 l + B4 t](l, t)          each lane selects the register it provides     selects
    u[p](l, t) = v[A p](C p + D l + G t, t)             one shuffle for each p                         shuffles
    out[r](l, t) = u[r + B2 l + B3 t](l, t)             each lane permutes its registers               selects

Matching both sides, with Mrr … Mlt the blocks of M (where registers and lanes go to):

    C = Mlr    D = Mll + C B2    G = Mlt    A = Mrr + B1 C    Mrl + Mrr B2 = B1 D    B3 = 0    B4 = Mrt + B1 G

B2 is chosen, lane bit by lane bit, so that B1 exists: lanes that D sends to one lane must want the same register of it.
Where no B2 does that, registers are added that are thrown away in the end. A shuffle with C p = 0, D = 1 and G = 0
moves nothing and is left out; so are selects that decide what is decided already. Narrow elements travel together in
a word of 32 bits where a bit of the register number goes to register bits alone.

The idea is that of Zhou et al., "Linear Layouts", arXiv 2505.23819 (2025), section 5.4; the three steps are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..support.dataclasses import dataclass
from . import gf2
from .linear import LinearLayout

__all__ = ["Input", "LanePlan", "Node", "Select", "Shuffle", "plan_lanes"]

WORD = 32  # bits that one shuffle moves (PTX ISA 8.7, section 9.7.9.6)


@dataclass(frozen=True)
class Input:
    """A word of the source: the registers packed in it, lowest bits first."""

    registers: tuple[int, ...]


@dataclass(frozen=True)
class Select:
    """The node `other` where the thread's bits of `mask` have odd parity, else the node `value`."""

    mask: int
    value: int
    other: int


@dataclass(frozen=True)
class Shuffle:
    """What the lane `constant ^ map(thread)` has in the node `value`; `columns` has the lane for each thread bit."""

    value: int
    columns: tuple[int, ...]
    constant: int

    def is_butterfly(self, lane_bits: int) -> bool:
        """Whether the source lane is this lane with fixed bits flipped."""
        return list(self.columns) == gf2.identity(lane_bits) + [0] * (len(self.columns) - lane_bits)


Node = Input | Select | Shuffle


@dataclass(frozen=True)
class LanePlan:
    """How each thread gets its registers of the new layout.

    `nodes` are in topological order; `outputs` has for each register of the new layout the node and the position of the
    element in that node's word. Thread bits are those of the lane, the warp, the block, in this order. `halves`: words
    per element (2 for 64 bits).
    """

    source: LinearLayout
    target: LinearLayout
    nodes: tuple[Node, ...]
    outputs: tuple[tuple[int, int], ...]
    bits: int

    @property
    def halves(self) -> int:
        """The number of words per element."""
        return max(1, self.bits // WORD)

    @property
    def shuffles(self) -> int:
        """Shuffle instructions a warp issues."""
        return self.halves * sum(isinstance(n, Shuffle) for n in self.nodes)

    @property
    def selects(self) -> int:
        """Select instructions a warp issues."""
        return self.halves * sum(isinstance(n, Select) for n in self.nodes)

    def packing(self) -> int:
        """An upper bound of the instructions that pack narrow elements into words and unpack them."""
        if not self.shuffles + self.selects:
            return 0
        words = sum(len(n.registers) - 1 for n in self.nodes if isinstance(n, Input))
        return words + (
            len(set(self.outputs)) if any(len(n.registers) > 1 for n in self.nodes if isinstance(n, Input)) else 0
        )

    def registers(self) -> list[int]:
        """For a plan without shuffles and selects: the old register of each new one."""
        inputs = [n.registers if isinstance(n, Input) else () for n in self.nodes]
        return [inputs[n][place] for n, place in self.outputs]

    def moves_nothing(self) -> bool:
        """Whether every register keeps its element."""
        if self.shuffles or self.selects:
            return False
        return self.registers() == list(range(self.source.ins["register"]))

    def run(self, warp: int = 0, block: int = 0) -> list[list[int]]:
        """Simulate: for each lane the element, as a packed coordinate, that each register has in the end."""
        lanes = self.source.ins["lane"]
        threads = [lane | warp * lanes | block * lanes * self.source.ins["warp"] for lane in range(lanes)]
        values: list[Any] = []
        for node in self.nodes:
            if isinstance(node, Input):
                places = [_packed(self.source, r, 0) for r in node.registers]
                column = [tuple(p ^ _packed(self.source, 0, t) for p in places) for t in threads]
            elif isinstance(node, Select):
                column = [
                    values[node.other if (t & node.mask).bit_count() & 1 else node.value][lane]
                    for lane, t in enumerate(threads)
                ]
            else:
                column = [values[node.value][gf2.times(node.columns, t) ^ node.constant] for t in threads]
            values.append(column)
        return [[values[n][lane][place] for n, place in self.outputs] for lane in range(lanes)]

    def check(self) -> None:
        """Simulate every thread; `AssertionError` where a register ends with a wrong element."""
        lanes = self.source.ins["lane"]
        for block in range(self.source.ins["block"]):
            for warp in range(self.source.ins["warp"]):
                high = warp * lanes | block * lanes * self.source.ins["warp"]
                for lane, found in enumerate(self.run(warp, block)):
                    base = _packed(self.target, 0, high | lane)
                    wanted = [base ^ _packed(self.target, r, 0) for r in range(len(found))]
                    assert found == wanted, f"lane {lane} of warp {warp}: {found} instead of {wanted}"


def _packed(layout: LinearLayout, register: int, thread: int) -> int:
    """The element, as an integer, at a register of a thread."""
    bits = layout.ins["register"].bit_length() - 1
    return gf2.times(layout.columns, register | thread << bits)


# -- the map ------------------------------------------------------------------------------------------------------


@dataclass
class _Pull:
    """M: for each bit of the new place, the register (x) and lane (y) of the old one, as (x, y)."""

    register: list[tuple[int, int]]
    lane: list[tuple[int, int]]
    other: list[tuple[int, int]]
    source_bits: int

    def all(self) -> list[tuple[int, int]]:
        return self.register + self.lane + self.other


def _pull(source: LinearLayout, target: LinearLayout) -> _Pull | None:
    """M, or None where elements must move between warps."""
    registers, lanes = source.columns_of("register"), source.columns_of("lane")
    n = len(registers)
    elimination = gf2.Elimination()
    free = [not elimination.add(c) for c in (*registers, *lanes)][n:]
    spare = [i < len(free) and free[i] for i in range(len(target.columns_of("lane")))]

    def find(vector: int) -> tuple[int, int] | None:
        found = elimination.solve(vector)
        return None if found is None else (found & ((1 << n) - 1), found >> n)

    out: list[tuple[int, int] | None] = [find(c) for c in target.columns_of("register")]
    for i, c in enumerate(target.columns_of("lane")):
        if spare[i]:  # lanes with copies: each takes its own
            own = find(c ^ lanes[i])
            out.append(None if own is None else (own[0], own[1] ^ 1 << i))
        else:
            out.append(find(c))
    for name in ("warp", "block"):
        out += [find(a ^ b) for a, b in zip(source.columns_of(name), target.columns_of(name), strict=True)]
    good = [p for p in out if p is not None]
    if len(good) < len(out):
        return None
    r = len(target.columns_of("register"))
    split = r + len(spare)
    return _Pull(good[:r], good[r:split], good[split:], n)


# -- words --------------------------------------------------------------------------------------------------------


@dataclass
class _Words:
    """The register bits that select the position within a word: `bits` of the new index, `images` in the old one."""

    bits: list[int]
    images: list[int]
    source: gf2.Elimination  # coordinates of old register indices: first the images, then the rest

    def split(self, register: int) -> tuple[int, int]:
        """The word (the part of an old register index outside the images) and the position in it."""
        coordinates = self.source.solve(register)
        assert coordinates is not None
        place = coordinates & ((1 << len(self.images)) - 1)
        return register ^ gf2.times(self.images, place), place


def _choose_words(pull: _Pull, bits: int) -> _Words:
    """Register bits that may stay together, up to 32 bits per word."""
    most = max(0, (WORD // bits).bit_length() - 1)
    kept = gf2.Elimination(x for x, _ in pull.lane + pull.other)
    chosen: list[tuple[int, int]] = []
    for j, (x, y) in sorted(enumerate(pull.register), key=lambda c: (c[1][0] != 1 << c[0], c[0])):
        if len(chosen) < most and not y and x and kept.add(x):
            chosen.append((j, x))
    chosen.sort()
    images = [x for _, x in chosen]
    # A complement with the registers that lanes and warps select.
    source = gf2.Elimination(images)
    for v in [x for x, _ in pull.lane + pull.other] + gf2.identity(pull.source_bits):
        if source.solve(v) is None:
            source.add(v)
    return _Words([j for j, _ in chosen], images, source)


# -- the three steps ----------------------------------------------------------------------------------------------


@dataclass
class _Steps:
    """Columns for thread bits: B1 and B4 (`before`), D and G (`lanes`), B2 (`after`); for registers: C and A."""

    before: list[int]
    lanes: list[int]
    after: list[int]
    shift: list[int]  # C
    static: list[int]  # A


def _steps(register: list[tuple[int, int]], lane: list[tuple[int, int]], other: list[tuple[int, int]]) -> _Steps:
    """Solve for the three steps; `register` is extended by indices that are discarded where needed."""
    reached = gf2.Elimination()  # span of the columns of D
    firsts: list[int] = []  # and the value of B1 for each: the requested register
    after, lanes = [0] * len(lane), [0] * len(lane)

    def wanted(y: int) -> int | None:
        """B1 y, as far as it is determined."""
        found = reached.solve(y)
        return None if found is None else gf2.times(firsts, found)

    easy = sorted(range(len(lane)), key=lambda i: lane[i] != (0, 1 << i))
    for i in easy:
        x, y = lane[i]
        best = None
        for beta in range(1 << len(register)):
            bx, by = _sum(register, beta)
            px, py = x ^ bx, y ^ by
            decided = wanted(py)
            if decided is not None and decided != px:
                continue
            cost = (beta != 0) + (decided is None and px != 0), py != 1 << i, beta.bit_count(), beta
            if best is None or cost < best[0]:
                best = cost, beta, px, py
        if best is None:
            # Two lanes request different registers of one lane: get both, and select afterwards.
            decided = wanted(y)
            assert decided is not None
            register.append((x ^ decided, 0))
            best = ((2, False, 1, 0), 1 << (len(register) - 1), decided, y)
        _, after[i], px, py = best
        lanes[i] = py
        reached.add(py)
        firsts.append(px)
    before = _extended(lanes, reached, firsts, len(lane))
    g = [y for _, y in other]
    offers = before + [x ^ gf2.times(before, y) for x, y in other]
    static = [x ^ gf2.times(before, y) for x, y in register]
    return _Steps(offers, lanes + g, after + [0] * len(other), [y for _, y in register], static)


def _sum(columns: Sequence[tuple[int, int]], chosen: int) -> tuple[int, int]:
    x = y = 0
    for j, (a, b) in enumerate(columns):
        if chosen >> j & 1:
            x, y = x ^ a, y ^ b
    return x, y


def _extended(lanes: list[int], reached: gf2.Elimination, firsts: list[int], n: int) -> list[int]:
    """The columns of B1: as determined on the image of D, 0 on lanes that are not read."""
    images = list(firsts)
    for unit in gf2.identity(n):
        reached.add(unit)
        images.append(0)
    out = []
    for unit in gf2.identity(n):
        found = reached.solve(unit)
        assert found is not None
        out.append(gf2.times(images, found))
    return out


# -- nodes --------------------------------------------------------------------------------------------------------


class _Graph:
    """Nodes without duplicates."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._index: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        found = self._index.get(node)
        if found is None:
            found = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    def select(self, mask: int, value: int, other: int) -> int:
        """A select, simplified by known bits."""
        inner = self.nodes[value]
        if isinstance(inner, Select) and inner.mask == mask:
            value = inner.value
        inner = self.nodes[other]
        if isinstance(inner, Select) and inner.mask == mask:
            other = inner.other
        return value if value == other else self.add(Select(mask, value, other))

    def shuffle(self, value: int, columns: tuple[int, ...], constant: int, lane_bits: int) -> int:
        """A shuffle, unless every lane keeps its value."""
        node = Shuffle(value, columns, constant)
        return value if not constant and node.is_butterfly(lane_bits) else self.add(node)

    def needed(self, outputs: list[tuple[int, int]]) -> tuple[tuple[Node, ...], tuple[tuple[int, int], ...]]:
        """The nodes that the outputs depend on, renumbered, and the outputs."""
        wanted = {n for n, _ in outputs}
        for i in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[i]
            if i in wanted and isinstance(node, Select):
                wanted |= {node.value, node.other}
            elif i in wanted and isinstance(node, Shuffle):
                wanted.add(node.value)
        new = {old: k for k, old in enumerate(sorted(wanted))}
        nodes: list[Node] = []
        for i in sorted(wanted):
            node = self.nodes[i]
            if isinstance(node, Select):
                node = Select(node.mask, new[node.value], new[node.other])
            elif isinstance(node, Shuffle):
                node = Shuffle(new[node.value], node.columns, node.constant)
            nodes.append(node)
        return tuple(nodes), tuple((new[n], place) for n, place in outputs)


def _conditional(columns: Sequence[int]) -> list[tuple[int, int]]:
    """`register ^ columns · thread` as a chain of (thread mask, register vector): each a conditional exchange."""
    basis = gf2.Elimination()
    vectors: list[int] = []
    for c in columns:
        if c and basis.solve(c) is None:
            basis.add(c)
            vectors.append(c)
    masks = [0] * len(vectors)
    for i, c in enumerate(columns):
        found = basis.solve(c) or 0
        for k in range(len(vectors)):
            masks[k] |= (found >> k & 1) << i
    return list(zip(masks, vectors))


def _chain(graph: _Graph, stages: list[tuple[int, int]], start: Callable[[int], int]) -> Callable[[int], int]:
    """`value(register)` after conditional exchanges of the values of `start`."""
    known: dict[tuple[int, int], int] = {}

    def at(register: int, depth: int) -> int:
        if depth == 0:
            return start(register)
        key = register, depth
        if key not in known:
            mask, vector = stages[depth - 1]
            known[key] = graph.select(mask, at(register, depth - 1), at(register ^ vector, depth - 1))
        return known[key]

    return lambda register: at(register, len(stages))


def plan_lanes(source: LinearLayout, target: LinearLayout, bits: int) -> LanePlan | None:
    """The plan from `source` to `target` within warps; None where that is impossible.

    Both layouts map register, lane, warp, block to the same dimensions; `bits` of an element: 8, 16, 32 or 64.
    """
    target = target.reordered(outs=list(source.outs))
    pull = _pull(source, target)
    if pull is None:
        return None
    words = _choose_words(pull, bits)
    rest = [j for j in range(len(pull.register)) if j not in words.bits]
    # Within words only the position of a whole register moves: removed here, restored for the outputs.
    splits = [words.split(pull.register[j][0]) for j in rest]
    register = [(x, pull.register[j][1]) for j, (x, _) in zip(rest, splits)]
    steps = _steps(register, list(pull.lane), list(pull.other))
    graph = _Graph()
    places = range(1 << len(words.images))

    def word(number: int) -> int:
        number, _ = words.split(number)
        return graph.add(Input(tuple(number ^ gf2.times(words.images, p) for p in places)))

    offered = _chain(graph, _conditional(steps.before), word)
    n = len(pull.lane)

    def received(number: int) -> int:
        lane = gf2.times(steps.shift, number)
        return graph.shuffle(offered(gf2.times(steps.static, number)), tuple(steps.lanes), lane, n)

    ordered = _chain(graph, _conditional(steps.after), received)
    outputs = []
    for r in range(target.ins["register"]):
        number = sum((r >> j & 1) << k for k, j in enumerate(rest))
        place = sum((r >> j & 1) << k for k, j in enumerate(words.bits))
        for k, (_, moved) in enumerate(splits):
            place ^= moved if number >> k & 1 else 0
        outputs.append((ordered(number), place))
    nodes, results = graph.needed(outputs)
    return LanePlan(source, target, nodes, results, bits)
