"""Plan conversions between layouts through shared memory, with a swizzle that avoids bank conflicts.

The elements are vectors over GF(2). Registers that both layouts map alike, and that are not needed for wide accesses,
are moved one after the other, in rounds, so that a round needs less memory. The rest is stored by the accesses of the
source and loaded by those of the target, in a linear order of memory in which

- the lowest bits of an offset are registers of the source, so that stores are wide, and of the target, so that loads
  are (or they are what rows of matrices require, see `access`);
- the bits that select the row of 128 bytes, called the segment here, are such that no two lanes of a phase have the
  same bank of different rows: the span of the segment must intersect that of a phase's accesses trivially, for the
  stores (U) and for the loads (V).

Two subspaces of at most 128 bytes always have a common complement of at least that size. With U = I + A and V = I + B,
I their intersection, it is spanned by a complement of U + V and by sums a ^ b of as many pairs as are needed. There are
no conflicts therefore, whether or not a word of 32 bits has elements of several lanes of a phase. The lemma is that of
Zhou et al., "Linear Layouts", arXiv 2505.23819 (2025), section 5.5, here for stores and loads of different widths.

In a cluster, an element is kept in the memory of the CTA that stores it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..support.dataclasses import dataclass
from . import gf2
from .access import BANK_BYTES, ROW_BYTES, VECTOR_BITS, Access, matrix_access, vector_access
from .linear import LinearLayout

__all__ = ["MemoryPlan", "plan_memory"]

VECTOR, MATRIX, TRANSPOSED = "vector", "matrix", "transposed"


@dataclass(frozen=True)
class Side:
    """The accesses of one layout: those of the first round, and the registers used in the others.

    `access` counts the registers of a round: index i is the register `tile · i ^ rounds · k` in round k. Above the
    offset, from bit `MemoryPlan.block_bit` on, addresses have the rank of the CTA whose memory has the element.
    """

    access: Access
    tile: tuple[int, ...]
    rounds: tuple[int, ...]

    def register(self, i: int, k: int) -> int:
        """The register at index i of round k."""
        return gf2.times(self.tile, i) ^ gf2.times(self.rounds, k)


@dataclass(frozen=True)
class MemoryPlan:
    """Stores and loads, in `rounds` rounds of at most `size` elements per CTA.

    Threads with a bit of `idle_lanes` or `idle_warps` hold copies of stored elements, and store nothing. `sync`: the
    scope of the barrier between stores and loads, "warp", "block" or "cluster".
    """

    source: LinearLayout
    target: LinearLayout
    store: Side
    load: Side
    rounds: int
    size: int
    bits: int
    idle_lanes: int
    idle_warps: int
    sync: str

    @property
    def block_bit(self) -> int:
        """The bit of an address at which the CTA rank starts."""
        return self.size.bit_length() - 1

    @property
    def bytes(self) -> int:
        """Bytes of shared memory per CTA."""
        return self.size * self.bits // 8

    def check(self) -> None:
        """Simulate all threads; `AssertionError` where a register ends with a wrong element, two stores collide, or an
        access is wider than the memory of a CTA."""
        assert max(self.store.access.width, self.load.access.width) <= self.size, "elements of several blocks at once"
        final: dict[tuple[int, int], int] = {}
        for k in range(self.rounds):
            memory: dict[int, int] = {}
            for thread, register, at in self._touched(self.store, k, self.source):
                element = _element(self.source, thread, register)
                assert memory.setdefault(at, element) == element, f"two elements are stored at {at}"
            for thread, register, at in self._touched(self.load, k, self.target):
                final[thread, register] = memory[at]
        aliases = self.aliases()
        for thread in range(self.target.size() // self.target.ins["register"]):
            for register in range(self.target.ins["register"]):
                found, wanted = final[thread, aliases[register]], _element(self.target, thread, register)
                assert found == wanted, f"register {register} of thread {thread}: {found} instead of {wanted}"

    def aliases(self) -> dict[int, int]:
        """For each register of the target a loaded one with the same element."""
        side = self.load
        return {
            side.register(i, k): side.register(same, k)
            for k in range(self.rounds)
            for i, same in enumerate(side.access.same)
        }

    def _touched(self, side: Side, k: int, layout: LinearLayout) -> Iterator[tuple[int, int, int]]:
        """(thread, register, address) of the stores or loads of round k."""
        lanes, warps, blocks = (layout.ins[n] for n in ("lane", "warp", "block"))
        storing = side is self.store
        for block in range(blocks):
            for warp in range(warps):
                if storing and warp & self.idle_warps:
                    continue
                for lane in range(lanes):
                    if storing and lane & self.idle_lanes:
                        continue
                    thread = lane | (warp | block * warps) * lanes
                    for register, at in self._by_thread(side, lane, warp, block):
                        yield thread, side.register(register, k), at

    @staticmethod
    def _by_thread(side: Side, lane: int, warp: int, block: int) -> Iterator[tuple[int, int]]:
        """(index within the round, address) of the stores or loads of one thread."""
        access = side.access
        word = max(1, 8 * BANK_BYTES // access.bits)
        for base, registers in access.moves:
            for i, register in enumerate(registers):
                if access.kind == VECTOR:
                    yield register, (base ^ access.address(lane, warp, block)) + i
                    continue
                which, low = divmod(i, word)
                row, column = lane >> 2, (lane & 3) * word + low
                if access.kind == TRANSPOSED:
                    row, column = (lane & 3) * 2 + low, lane >> 2
                yield register, (base ^ access.address(row | which << 3, warp, block)) + column


def _element(layout: LinearLayout, thread: int, register: int) -> int:
    bits = layout.ins["register"].bit_length() - 1
    return gf2.times(layout.columns, register | thread << bits)


# -- the space of one round -------------------------------------------------------------------------------------


@dataclass
class _Tile:
    """The elements of one round in one CTA; vectors of elements are packed coordinates of the tensor."""

    coordinates: gf2.Elimination  # of: the bits of CTAs, the bits of rounds, then those of the tile
    own: list[int]  # CTA bits that select a part of the tensor; the others select copies
    rounds: list[int]
    size: int  # bits of the tile

    def of(self, vector: int) -> int:
        """The coordinates of a vector within the tile."""
        found = self.coordinates.solve(vector)
        assert found is not None
        return found >> (len(self.own) + len(self.rounds))

    def round(self, vector: int) -> int:
        """The round of a vector."""
        found = self.coordinates.solve(vector)
        assert found is not None
        return found >> len(self.own) & ((1 << len(self.rounds)) - 1)

    def block(self, vector: int) -> int:
        """The CTA that stores a vector, without the bits of copies."""
        found = self.coordinates.solve(vector)
        assert found is not None
        return sum((found >> i & 1) << k for i, k in enumerate(self.own))

    def all(self, vectors: Iterable[int]) -> list[int]:
        return [self.of(v) for v in vectors]


def _tile(source: LinearLayout, target: LinearLayout, kept: Sequence[int]) -> _Tile:
    """Rounds consist of the registers that both layouts have and that are not in `kept`."""
    blocks = [(k, c) for k, c in enumerate(source.columns_of("block")) if c]
    inner = gf2.Elimination(c for name in ("register", "lane", "warp") for c in source.columns_of(name))
    if any(not inner.add(c) for _, c in blocks):
        raise ValueError("CTAs of the cluster hold parts of each other's elements")
    fixed = gf2.Elimination(c for _, c in blocks)
    for layout in (source, target):
        for name in ("lane", "warp", "block"):
            for c in layout.columns_of(name):
                fixed.add(c)
    for v in kept:
        fixed.add(v)
    theirs = set(target.columns_of("register"))
    rounds = [c for c in source.columns_of("register") if c in theirs and fixed.add(c)]
    basis = gf2.Elimination()
    columns: list[int] = []
    for v in [c for _, c in blocks] + rounds + gf2.identity(source.out_size().bit_length() - 1):
        if basis.solve(v) is None:
            basis.add(v)
            columns.append(v)
    return _Tile(basis, [k for k, _ in blocks], rounds, len(columns) - len(blocks) - len(rounds))


def _columns(
    layout: LinearLayout, tile: _Tile, memory: gf2.Elimination, copies: Sequence[int]
) -> tuple[dict[str, list[int]], list[int], list[int]]:
    """Columns of addresses for one layout, the registers of a round and those that count rounds."""
    registers = layout.columns_of("register")
    spanned = gf2.Elimination(registers)
    rounds = [n for v in tile.rounds if (n := spanned.solve(v)) is not None]
    picked = gf2.Elimination(rounds)
    numbers = [1 << j ^ gf2.times(rounds, tile.round(c)) for j, c in enumerate(registers) if picked.add(1 << j)]

    def address(vector: int) -> int:
        at = memory.solve(tile.of(vector))
        assert at is not None
        return at | tile.block(vector) << tile.size

    columns = {"register": [address(gf2.times(registers, n)) for n in numbers]}
    for name in ("lane", "warp", "block"):
        columns[name] = [address(c) for c in layout.columns_of(name)]
    for k in copies:
        columns["block"][k] |= 1 << (tile.size + k)
    return columns, numbers, rounds


# -- the order of memory ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AccessCandidate:
    """A form of store and one of load, and the vectors of elements of the lowest bits of an offset."""

    store: str
    load: str
    low: tuple[int, ...]


def _wide(columns: Sequence[int], low: Sequence[int]) -> int:
    """The number of lowest bits that are registers."""
    registers = gf2.Elimination(c for c in columns)
    n = 0
    for v in low:
        if registers.solve(v) is None:
            break
        n += 1
    return n


def _access_candidates(
    source: LinearLayout, target: LinearLayout, bits: int, load_matrix: bool, store_matrix: bool
) -> list[AccessCandidate]:
    """The pairs of accesses that may be possible, with the lowest bits of offsets that they need."""
    ours, theirs = ([c for c in ly.columns_of("register") if c] for ly in (source, target))
    common = [c for c in theirs if c in set(ours)]
    full = (VECTOR_BITS // bits).bit_length() - 1
    shared = common[:full]
    out = []
    for more in (ours, theirs):
        extra = [c for c in more if c not in common][: full - len(shared)]
        candidate = AccessCandidate(VECTOR, VECTOR, (*shared, *extra))
        if candidate not in out:
            out.append(candidate)
    word = max(0, (8 * BANK_BYTES // bits).bit_length() - 1)
    sides = []
    if load_matrix:
        sides.append((target, False))
    if store_matrix:
        sides.append((source, True))
    for layout, storing in sides:
        lanes = layout.columns_of("lane")
        if len(lanes) != 5:
            continue
        kinds = [(MATRIX, (*common[:word], *lanes[:2]))] if bits <= 32 and len(common) >= word else []
        if bits == 16:
            kinds.append((TRANSPOSED, lanes[2:]))
        for kind, low in kinds:
            out.append(AccessCandidate(kind, VECTOR, low) if storing else AccessCandidate(VECTOR, kind, low))
            if storing and load_matrix:
                out += [AccessCandidate(kind, other, low) for other in (MATRIX, TRANSPOSED)]
    return [w for w in out if 0 not in w.low]


def _phase(layout: LinearLayout, tile: _Tile, kind: str, low: Sequence[int], bits: int) -> list[int]:
    """The vectors that the lanes of a phase access, in the tile: the low bits and those of the lanes."""
    lanes = tile.all(layout.columns_of("lane"))
    registers = tile.all(layout.columns_of("register"))
    word = max(0, (8 * BANK_BYTES // bits).bit_length() - 1)
    if kind == MATRIX:
        return [*low, *lanes[2:]]
    if kind == TRANSPOSED:
        spare = gf2.Elimination([*low, *lanes])
        half = next((r for r in registers if spare.solve(r) is None), 0)
        return [*low, half, *lanes[:2]]
    wide = _wide(registers, low)
    together = 5 - max(0, ((bits << wide) // (8 * BANK_BYTES)).bit_length() - 1)
    return [*low[: max(wide, word)], *lanes[:together]]


def _independent(vectors: Iterable[int], given: Sequence[int] = ()) -> list[int]:
    """The vectors that are independent of the previous ones, and of `given`."""
    seen = gf2.Elimination(given)
    return [v for v in vectors if v and seen.add(v)]


def _order(low: Sequence[int], stores: Sequence[int], loads: Sequence[int], bits: int, size: int) -> gf2.Elimination:
    """The vectors of the bits of an offset, lowest first: low bits, banks, the segment."""
    row = min(size, (8 * ROW_BYTES // bits).bit_length() - 1)
    u, v = _independent(stores), _independent(loads)
    both = _meet(u, v)
    # Avoid the low bits while there are others: they must be constant within a thread's access.
    a, b = (_independent(sorted(w, key=lambda x: x in low), both) for w in (u, v))
    neither = _independent(gf2.identity(size), [*both, *a, *b])
    segment = neither[: size - row]
    pairs = [x ^ y for x, y in zip(a, b)]
    segment += pairs[: size - row - len(segment)]
    # Banks: the vectors that lanes step along, so that lane bits become bank bits.
    banks = _independent([*low, *v, *u, *neither, *gf2.identity(size)], segment)
    free = [*low, *[x for x in banks if x not in low]]
    return gf2.Elimination([*_independent([*free[:row], *segment]), *_independent(free[row:], [*free[:row], *segment])])


def _meet(u: Sequence[int], v: Sequence[int]) -> list[int]:
    """A basis of the intersection of two spaces."""
    common = [x for x in u if x in v]
    kernel = gf2.Elimination([*u, *v]).kernel
    mask = (1 << len(u)) - 1
    return _independent([*common, *(gf2.times(u, k & mask) for k in kernel)])


def _plan(source: LinearLayout, target: LinearLayout, bits: int, candidate: AccessCandidate) -> MemoryPlan | None:
    """The plan for one pair of accesses; None where they are impossible after all."""
    kept = list(candidate.low)
    for layout, kind in ((source, candidate.store), (target, candidate.load)):
        if kind != VECTOR:  # so that instructions can move four matrices
            kept += [c for c in layout.columns_of("register") if c and c not in kept][: 2 + (kind == TRANSPOSED)]
    tile = _tile(source, target, kept)
    low = _independent(tile.all(candidate.low))
    if len(low) < len(candidate.low):
        return None
    word = (8 * BANK_BYTES // bits).bit_length() - 1
    if len(low) < word:  # a word has elements of several threads: preferably of several warps
        threads = [v for name in ("warp", "lane") for ly in (source, target) for v in tile.all(ly.columns_of(name))]
        low = _independent([*low, *threads])[: max(word, len(low))]
    phases = [_phase(ly, tile, kind, low, bits) for ly, kind in ((source, candidate.store), (target, candidate.load))]
    memory = _order(low, phases[0], phases[1], bits, tile.size)
    copies = [k for k, c in enumerate(source.columns_of("block")) if not c]
    sides = []
    for layout, kind in ((source, candidate.store), (target, candidate.load)):
        columns, numbers, rounds = _columns(layout, tile, memory, copies)
        access = _access(columns, bits, kind, tile.size)
        if access is None:
            return None
        sides.append((columns, Side(access, tuple(numbers), tuple(rounds))))
    (_, store), (loaded, load) = sides
    idle = source.redundant()
    remote = _leaves_block(loaded, tile.size)
    if (remote and candidate.load != VECTOR) or (idle["lane"] and candidate.store != VECTOR):
        return None
    sync = "cluster" if remote else _sync(source, target)
    return MemoryPlan(
        source, target, store, load, 1 << len(tile.rounds), 1 << tile.size, bits, idle["lane"], idle["warp"], sync
    )


def _access(columns: dict[str, list[int]], bits: int, kind: str, size: int) -> Access | None:
    return vector_access(columns, bits, size) if kind == VECTOR else matrix_access(columns, bits, kind == TRANSPOSED)


def _leaves_block(columns: dict[str, list[int]], size: int) -> bool:
    """Whether some thread loads from the memory of another CTA."""
    inside = all(not c >> size for name in ("register", "lane", "warp") for c in columns[name])
    return not inside or [c >> size for c in columns["block"]] != gf2.identity(len(columns["block"]))


def _sync(source: LinearLayout, target: LinearLayout) -> str:
    """Whether warps read only what they have written, and no other warp writes there."""
    if source.redundant()["warp"] or any(not c for c in target.columns_of("warp")):
        return "block"
    inside = gf2.Elimination([*source.columns_of("register"), *source.columns_of("lane")])
    theirs = [*target.columns_of("register"), *target.columns_of("lane")]
    theirs += [a ^ b for a, b in zip(source.columns_of("warp"), target.columns_of("warp"))]
    return "warp" if all(inside.solve(c) is not None for c in theirs) else "block"


def plan_memory(
    source: LinearLayout, target: LinearLayout, bits: int, load_matrix: bool = False, store_matrix: bool = False
) -> MemoryPlan:
    """The cheapest plan through shared memory.

    Both layouts map register, lane, warp, block to the same dimensions; `bits` of an element: 8, 16, 32 or 64.
    `load_matrix`, `store_matrix`: whether there are ldmatrix and stmatrix. `ValueError` for clusters whose CTAs hold
    elements of each other.
    """
    target = target.reordered(outs=list(source.outs))
    candidates = _access_candidates(source, target, bits, load_matrix, store_matrix)
    best = _cheapest(source, target, bits, candidates)
    if best.store.access.conflicts or best.load.access.conflicts:  # narrower accesses may be better
        shorter = [AccessCandidate(VECTOR, VECTOR, w.low[:n]) for w in candidates[:2] for n in range(len(w.low))]
        best = min(best, _cheapest(source, target, bits, shorter or candidates), key=_merit)
    return best


def _cheapest(
    source: LinearLayout, target: LinearLayout, bits: int, candidates: Iterable[AccessCandidate]
) -> MemoryPlan:
    plans = (_plan(source, target, bits, candidate) for candidate in candidates)
    return min((plan for plan in plans if plan is not None), key=_merit)


def _merit(plan: MemoryPlan) -> tuple[int, int]:
    return memory_cost(plan), plan.bytes


def memory_cost(plan: MemoryPlan) -> int:
    """Issue slots and wavefronts of all rounds, without barriers."""
    sides = (plan.store.access, plan.load.access)
    return plan.rounds * sum(a.instructions + a.passes for a in sides)
