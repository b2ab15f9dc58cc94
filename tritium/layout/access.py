"""How the threads of a CTA read or write shared memory: instructions, addresses, and bank conflicts.

The input is a linear map from register, lane, warp and block to an offset in shared memory, in elements. The result is
which registers move together, in one of three forms (PTX ISA 8.7, sections 9.7.9.8 and 9.7.14.5):

    vector       ld.shared / st.shared of up to 128 bits: registers whose offsets are consecutive
    matrix       ldmatrix / stmatrix: rows of 16 bytes; a group of four lanes has the four words of a row
    transposed   the same with .trans, for 16-bit elements: eight lanes have the eight elements of a row

Addresses are `constant of the move ^ map of the thread`. Shared memory has 32 banks of 4 bytes. An instruction is
executed in phases: lanes whose accesses fill 128 bytes go together, and a phase takes as many passes (wavefronts) as
the maximum number of distinct words in one bank. Since the map is linear, that number is the same for all banks in use:
2 to the difference in dimension between the words and their banks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..support.dataclasses import dataclass
from . import gf2

__all__ = ["BANKS", "BANK_BYTES", "ROW_BYTES", "Access", "Columns", "matrix_access", "vector_access"]

Columns = Mapping[str, Sequence[int]]
"""For `register`, `lane`, `warp`, `block` the offset (in elements) of each bit."""

BANK_BYTES = 4
BANKS = 32
ROW_BYTES = BANKS * BANK_BYTES
VECTOR_BITS = 128
MATRIX_ROW = 16  # bytes


@dataclass(frozen=True)
class Access:
    """The instructions for all registers of a thread.

    `moves`: for each instruction its constant offset and its registers, in the order of the words it moves, the lowest
    elements of a word first. `same`: for each register the one with the same offset that is moved. `lane`, `warp`,
    `block`: offsets of the bits of the thread that provides an address; for `matrix` and `transposed` that of a row.
    `width`: elements that one instruction moves per thread.
    """

    kind: str
    bits: int
    width: int
    moves: tuple[tuple[int, tuple[int, ...]], ...]
    same: tuple[int, ...]
    lane: tuple[int, ...]
    warp: tuple[int, ...]
    block: tuple[int, ...]
    wavefronts: int  # of one instruction

    @property
    def instructions(self) -> int:
        """The number of instructions a warp issues."""
        return len(self.moves)

    @property
    def passes(self) -> int:
        """Wavefronts of all instructions of a warp."""
        return self.wavefronts * len(self.moves)

    @property
    def conflicts(self) -> int:
        """Wavefronts of one instruction beyond the minimum for its size."""
        lanes = 1 << max(5, len(self.lane))
        return self.wavefronts - max(lanes // 32, self.width * self.bits * lanes // (8 * ROW_BYTES))

    def address(self, lane: int, warp: int, block: int) -> int:
        """The thread's part of the offset."""
        return gf2.times(self.lane, lane) ^ gf2.times(self.warp, warp) ^ gf2.times(self.block, block)


def _rank(columns: Sequence[int], mask: int) -> int:
    return gf2.rank([c & mask for c in columns])


def _wavefronts(columns: Sequence[int], element: int, unit: int) -> int:
    """Passes for lanes whose offsets are spanned by `columns`, each accessing `unit` aligned bytes."""
    shift = max(unit, BANK_BYTES).bit_length() - 1
    words = [c * element >> shift for c in columns]
    banks = (ROW_BYTES >> shift) - 1
    return 1 << (gf2.rank(words) - _rank(words, banks))


def _offsets(columns: Columns) -> list[int]:
    """The constant offset of each register."""
    out = [0]
    for c in columns["register"]:
        out += [o ^ c for o in out]
    return out


def _first_of(offsets: Sequence[int]) -> tuple[dict[int, int], tuple[int, ...]]:
    """Offset -> its first register; and for each register that one."""
    first: dict[int, int] = {}
    for r, o in enumerate(offsets):
        first.setdefault(o, r)
    return first, tuple(first[o] for o in offsets)


def vector_access(columns: Columns, bits: int, size: int = 64, most: int = VECTOR_BITS) -> Access:
    """Loads or stores as wide as the map allows; at most `most` bits each.

    `bits` of an element: a multiple of 8. Offsets have `size` bits; higher ones select the memory of another CTA.
    """
    first, same = _first_of(_offsets(columns))
    thread = [c for name in ("lane", "warp", "block") for c in columns[name]]
    k = 0
    while k < size and bits << (k + 1) <= most:
        low = (2 << k) - 1
        full = all(o ^ (1 << k) in first for o in first)
        if not full or any(c & low for c in thread):
            break
        k += 1
    moves = [(o, tuple(first[o + i] for i in range(1 << k))) for o in sorted(first) if not o & ((1 << k) - 1)]
    unit = bits << k >> 3
    together = 5 - max(0, (unit // BANK_BYTES).bit_length() - 1)  # lane bits of one phase
    lanes = tuple(columns["lane"])
    phases = 1 << max(0, len(lanes) - together)
    inside = [c & ((1 << size) - 1) for c in lanes[:together]]
    wavefronts = phases * _wavefronts(inside, bits // 8, unit)
    rest = tuple(columns["warp"]), tuple(columns["block"])
    return Access("vector", bits, 1 << k, tuple(moves), same, lanes, *rest, wavefronts)


def matrix_access(columns: Columns, bits: int, transposed: bool, most: int = 4) -> Access | None:
    """ldmatrix or stmatrix of up to `most` matrices at a time, or None where the map has no such tiles."""
    if bits not in (8, 16, 32) or len(columns["lane"]) != 5 or (transposed and bits != 16):
        return None
    return _transposed(columns, most) if transposed else _plain(columns, bits, most)


def _plain(columns: Columns, bits: int, most: int) -> Access | None:
    element = bits // 8
    word = BANK_BYTES // element
    lanes, row = columns["lane"], MATRIX_ROW // element - 1
    first, same = _first_of(_offsets(columns))
    others = [*lanes[2:], *columns["warp"], *columns["block"]]
    if list(lanes[:2]) != [word, 2 * word] or any(c & row for c in others):
        return None
    groups = {o: [o + i for i in range(word)] for o in first if not o & (word - 1)}
    if any(o & row for o in groups) or len(groups) * word != len(first):
        return None
    if any(o not in first for members in groups.values() for o in members):
        return None
    registers = {o: tuple(first[m] for m in members) for o, members in groups.items()}
    return _matrices(columns, bits, "matrix", registers, same, lanes[2:], most)


def _transposed(columns: Columns, most: int) -> Access | None:
    """For 16-bit elements; the two in a word are adjacent along the rows."""
    lanes = columns["lane"]
    first, same = _first_of(_offsets(columns))
    others = [*lanes[:2], *columns["warp"], *columns["block"]]
    if list(lanes[2:]) != [1, 2, 4] or any(c & 7 for c in others) or any(o & 7 for o in first):
        return None
    halves = [c for c in columns["register"] if c]
    if not halves:
        return None
    half = min(halves, key=lambda c: _wavefronts([c, *lanes[:2]], 2, MATRIX_ROW))
    low = half & -half
    registers: dict[int, tuple[int, ...]] = {o: (first[o], first[o ^ half]) for o in first if not o & low}
    return _matrices(columns, 16, "transposed", registers, same, (half, *lanes[:2]), most)


def _matrices(
    columns: Columns,
    bits: int,
    kind: str,
    registers: dict[int, tuple[int, ...]],
    same: tuple[int, ...],
    rows: Sequence[int],
    most: int,
) -> Access:
    """Matrices at the constant offsets of `registers`, whose `rows` are given by three bits, several at a time.

    Those in adjacent registers go together: an instruction fills adjacent registers, and MMA instructions need them
    adjacent; otherwise each would have to be moved.
    """
    steps = gf2.Elimination()
    picked: list[int] = []
    in_order = sorted(registers, key=lambda o: registers[o])
    for o in in_order:
        if o and 1 << len(picked) < most and steps.add(o):
            picked.append(o)
    moves = []
    left = set(registers)
    for o in in_order:
        if o not in left:
            continue
        members = [o ^ gf2.times(picked, i) for i in range(1 << len(picked))]
        left.difference_update(members)
        moves.append((o, tuple(r for m in members for r in registers[m])))
    lanes = (*rows, *picked, *[0] * (2 - len(picked)))
    one = _wavefronts(rows, bits // 8, MATRIX_ROW)
    wavefronts = one << len(picked)
    rest = tuple(columns["warp"]), tuple(columns["block"])
    width = len(moves[0][1])
    return Access(kind, bits, width, tuple(moves), same, lanes, *rest, wavefronts)
