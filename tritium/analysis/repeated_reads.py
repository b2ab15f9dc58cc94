"""Loads in loops that read what loads of other loops read before or after them.

    for %i = 0 to %n step 1024 {
      %x = load x[%i : %i + 1024]              read again by the second loop
    }
    for %i = 0 to %n step 1024 {
      %x = load x[%i : %i + 1024]              the last read
    }

Addresses are compared as polynomials (`affine_addresses`) of the iteration counts t of the loops around each load: the
induction variable is `lb + step * t`. Two loads read the same memory if

- their polynomials are equal: iteration t of both loops accesses the same elements; or
- the second one is `first + k * c - 2 * c * t`, where c is what the first advances by in an iteration and k an
  invariant value or a positive number: it reads tiles in reverse order, beginning a whole number of iterations ahead.

Loops count if one precedes the other in a block; branches of an `if` exclude each other. Masks, trip counts that are
not constant, and stores in between are not considered: the answer is good enough for hints, not for reusing values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ..dialects.constraints import bit_width
from ..dialects.tt_types import PointerType
from ..ir import Block, CountedLoop, IfLike, Operation, PlainLoad, TensorType, element_type, shape_of
from ..ir.dominance import ancestor_in
from .affine_addresses import Affine, AffineAddresses, NotAffine
from .polynomials import Polynomial

__all__ = ["AFTER_KEPT_ROWS", "RepeatedRead", "repeated_reads", "tile_bytes"]

AFTER_KEPT_ROWS = "tritium.after_kept_rows"
"""Marks a loop over what is left of a row whose first iterations read shared memory (`keep-rows`)."""


class RepeatedRead(NamedTuple):
    """A load of memory that other loops read: `again` after it, `before` it.

    `loop`: the innermost loop around it. `bytes`: what the load reads in the loops around it that are not around the
    other one; None if it is not constant.
    """

    load: PlainLoad
    loop: CountedLoop
    again: bool
    before: bool
    bytes: int | None


class _Read(NamedTuple):
    load: PlainLoad
    loops: tuple[CountedLoop, ...]  # those around it, outermost first
    form: Affine


def repeated_reads(entry: Block) -> list[RepeatedRead]:
    """The loads of a function, with this entry block, that read what loads of other loops read, in program order."""
    loads = [(load, loops) for load, loops in _loads(entry)]
    if len({loops[-1] for _, loops in loads}) < 2:
        return []
    addresses = AffineAddresses(entry)
    groups: dict[object, list[_Read]] = {}
    for load, loops in loads:
        try:
            form = addresses.affine(load.pointer)
        except NotAffine:
            continue
        if form.base is not None and any(form.steps):
            groups.setdefault((form.base, form.steps, shape_of(load.pointer.type)), []).append(_Read(load, loops, form))
    found = [read for reads in groups.values() if len(reads) > 1 for read in _Group(addresses, reads).find()]
    order = {load: at for at, (load, _) in enumerate(loads)}
    return sorted(found, key=lambda read: order[read.load])


def _loads(entry: Block) -> Iterator[tuple[PlainLoad, tuple[CountedLoop, ...]]]:
    """The loads of tensors of a function in counted loops, and the loops around each."""
    func = entry.parent_op
    for op in func.walk() if func is not None else ():
        if isinstance(op, PlainLoad) and isinstance(op.results[0].type, TensorType):
            loops = _loops_around(op)
            if loops:
                yield op, loops


def _loops_around(op: Operation) -> tuple[CountedLoop, ...]:
    found: list[CountedLoop] = []
    around = op.parent_op
    while around is not None:
        if isinstance(around, CountedLoop):
            found.append(around)
        around = around.parent_op
    return tuple(reversed(found))


class _Group:
    """Loads from one base with equal steps along the dimensions of tiles of one shape, in program order."""

    def __init__(self, addresses: AffineAddresses, reads: list[_Read]) -> None:
        self._addresses, self._reads = addresses, reads

    def find(self) -> Iterator[RepeatedRead]:
        """The repeated reads of the group."""
        again: dict[_Read, list[int | None]] = {}
        before: dict[_Read, list[int | None]] = {}
        for at, first in enumerate(self._reads):
            for later in self._reads[at + 1 :]:
                own = _loops_apart(first, later)
                if own is not None and self._reads_the_same(first, later, own):
                    again.setdefault(first, []).append(_bytes_of(first, own[0]))
                    before.setdefault(later, []).append(_bytes_of(later, own[1]))
        for read in self._reads:
            sizes = again.get(read, []) + before.get(read, [])
            if sizes:
                known = [size for size in sizes if size is not None]
                yield RepeatedRead(
                    read.load, read.loops[-1], read in again, read in before, min(known) if known else None
                )

    def _reads_the_same(self, first: _Read, later: _Read, own: _Apart) -> bool:
        if len(own[0]) != len(own[1]):
            return False
        one, other = (self._by_iterations(read, loops) for read, loops in zip((first, later), own, strict=True))
        return one is not None and other is not None and (one == other or self._is_reversed(one, other, len(own[0])))

    def _by_iterations(self, read: _Read, loops: tuple[CountedLoop, ...]) -> Polynomial | None:
        """The offset as a polynomial of iteration counts; None where bounds are unknown."""
        offset, addresses = read.form.offset, self._addresses
        for depth, loop in enumerate(loops):
            try:
                low, step = addresses.affine(loop.lb).offset, addresses.affine(loop.step).offset
            except NotAffine:
                return None
            (index,) = addresses.atoms.polynomial(loop.induction_variable).atoms
            offset = _substitute(offset, index, low + step * addresses.atoms.polynomial(("iteration", depth)))
        return offset

    def _is_reversed(self, one: Polynomial, other: Polynomial, depth: int) -> bool:
        """Whether `other` is `one + k * c - 2 * c * t` for the iteration count t of one of the loops, and k > 0."""
        for k in range(depth):
            (count,) = self._addresses.atoms.polynomial(("iteration", k)).atoms
            forth, rest = _split(one, count)
            back, other_rest = _split(other, count)
            if len(forth.terms) == 1 and back == -forth:
                ahead = (other_rest - rest).quotient(forth)
                if ahead is not None and (ahead.number is None or ahead.number > 0):
                    return True
        return False


_Apart = tuple[tuple[CountedLoop, ...], tuple[CountedLoop, ...]]


def _loops_apart(first: _Read, later: _Read) -> _Apart | None:
    """The loops around each of two loads that the other is not in, of which those of `first` end before those of
    `later` start; None if that is not so."""
    shared = 0
    while shared < min(len(first.loops), len(later.loops)) and first.loops[shared] is later.loops[shared]:
        shared += 1
    own = first.loops[shared:], later.loops[shared:]
    if not own[0] or not own[1]:
        return None
    inner: Operation = own[0][0]
    while inner.parent is not None:
        other = ancestor_in(inner.parent, own[1][0])
        if other is not None:
            return own if inner is not other and inner.is_before(other) else None
        around = inner.parent_op
        if not isinstance(around, IfLike):
            return None
        inner = around
    return None


def _bytes_of(read: _Read, loops: tuple[CountedLoop, ...]) -> int | None:
    """The bytes that a load reads in all iterations of these loops; None if their number is not constant."""
    trips = [loop.trip_count() for loop in loops]
    return None if None in trips else tile_bytes(read.load) * math.prod(n for n in trips if n is not None)


def tile_bytes(load: PlainLoad) -> int:
    """The bytes that a load reads at once."""
    element = element_type(load.pointer.type)
    assert isinstance(element, PointerType)
    return math.prod(shape_of(load.pointer.type)) * max(8, bit_width(element.pointee)) // 8


def _substitute(polynomial: Polynomial, atom: int, by: Polynomial) -> Polynomial:
    """The polynomial with another one for an atom."""
    found = Polynomial.of(0)
    for monomial, n in polynomial:
        term = Polynomial({tuple(number for number in monomial if number != atom): n})
        for _ in range(monomial.count(atom)):
            term = term * by
        found += term
    return found


def _split(polynomial: Polynomial, atom: int) -> tuple[Polynomial, Polynomial]:
    """The coefficient of an atom, and the terms without it."""
    inside = {m: n for m, n in polynomial if atom in m}
    outside = {m: n for m, n in polynomial if atom not in m}
    return Polynomial({tuple(number for number in m if number != atom): n for m, n in inside.items()}), Polynomial(
        outside
    )
