"""The store of a tile runs beside the first product of the next one: a loop over tiles whose end is a tile behind.

    scf.for %tile … {                                    scf.if there are tiles, and products in them {
      acc = scf.for %k = %lb … { products }                acc = scf.for %k = %lb … { products }     of the first tile
      c = truncf(acc)                                      c = truncf(acc)
      store c at %i, %j                            =>      scf.for %tile = the second … iter_args(%c, %i, %j) {
    }                                                        first = product of %k = %lb             issued
                                                             store %c at %i, %j                      meanwhile
                                                             acc = scf.for %k = %lb + %s … { products } from first
                                                             c = truncf(acc)
                                                           }
                                                           store c at %i, %j
                                                         } else { as it was }

One buffer serves all stores of a type: whoever writes it waits until the copy engine has read what it held.

The loads of a tile are ahead of its products in any case, since the producer is. What is left to hide is the store: all
warps convert, write to shared memory and meet, while the tensor cores rest. It is hidden by one product, which needs no
warp once it is issued. Its sums and the tile before are in registers together.

**When.** The loop over tiles has one loop in it, with bounds from outside, and behind it nothing but arithmetic and
stores through descriptors; what is stored and the sums have room in the registers. A loop without iterations has no
first product, so the old loop stays for that case.

Loads stand for visits of rings here: the copies that `origin` tells apart do not load, they only say where the consumer
visits.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf, tt, ttg, ttng
from ....ir import Builder, IntegerType, Operation, TensorType, Value, memory_effects
from ...regions import defined_in
from ..tma_copies import buffer_type, start_store
from .residency import registers_of

__all__ = ["LateStores", "late_stores_of"]

MOST = 200
"""Registers for sums and tiles to be stored: 232 that a consumer gets, less what addresses and counters take."""


class LateStores:
    """A loop over tiles: `before`, the loop with products `inner`, `after`, `stores`; `kept` is what stores take."""

    def __init__(self, outer: Any, inner: Any) -> None:
        *ops, self.end = outer.body
        at = ops.index(inner)
        self.outer, self.inner = outer, inner
        self.before, rest = ops[:at], ops[at + 1 :]
        self.stores: list[Any] = [op for op in rest if op.__class__ is tt.DescriptorStore]
        self.after = [op for op in rest if op.__class__ is not tt.DescriptorStore]
        taken = [v for op in self.stores for v in op.operands if defined_in(v, outer)]
        self.kept: list[Value] = list(dict.fromkeys(taken))
        self.origin: dict[Operation, Operation] = {}
        self.buffers: dict[Any, Value] = {}

    def rewrite(self) -> Any:
        """Put the new loop in front of the old one, which stays as it is; the new operation."""
        outer = self.outer
        b = Builder(outer.parent, outer, outer.loc)
        runs = b.add(arith.AndI(_runs(b, outer), _runs(b, self.inner)))
        branch = scf.If.build(runs, [r.type for r in outer.results])
        b.insert(branch)
        b.at_end(branch.then_block)
        self._tiles(b)
        assert branch.else_block is not None
        b.at_end(branch.else_block)
        mapping: dict[Any, Any] = {}
        self._copy([outer], b, mapping)
        b.insert(scf.Yield([mapping[r] for r in outer.results], loc=outer.loc))
        return branch

    def _tiles(self, b: Builder) -> None:
        """The first tile without its store, the loop over the others, the store of the last."""
        outer, body = self.outer, self.outer.body
        mapping: dict[Any, Any] = dict(zip(body.args, [outer.lb, *outer.init_args]))
        self._copy([*self.before, self.inner, *self.after], b, mapping)
        start = b.add(arith.AddI(outer.lb, outer.step))
        for ty in dict.fromkeys(buffer_type(op.desc, op.src.type) for op in self.stores):
            self.buffers[ty] = b.add(ttg.LocalAlloc(result=ty))
        new = scf.For.build(start, outer.ub, outer.step, self._handed(mapping))
        new.attributes.update(outer.attributes)
        new.loc = outer.loc
        self._steady(new)
        b.insert(new)
        count = len(outer.results)
        self._store(b, dict(zip(self.kept, new.results[count:])))
        b.insert(ttng.TMAStoreWait(0))
        for buffer in self.buffers.values():
            b.insert(ttg.LocalDealloc(buffer))
        b.insert(scf.Yield(list(new.results[:count]), loc=outer.loc))

    def _steady(self, new: Any) -> None:
        """The body: a tile, and the store of the one before."""
        args, inner = new.body.args, self.inner
        count = 1 + len(self.outer.results)
        b = Builder(new.body, None, self.outer.loc)
        mapping: dict[Any, Any] = dict(zip(self.outer.body.args, args[:count]))
        self._copy(self.before, b, mapping)
        first = dict(mapping)
        starts = [mapping.get(v, v) for v in inner.init_args]
        first.update(zip(inner.body.args, [inner.lb, *starts]))
        *ops, end = inner.body
        self._copy(ops, b, first)
        self._store(b, dict(zip(self.kept, args[count:])))
        second = b.add(arith.AddI(inner.lb, inner.step))
        rest = scf.For.build(second, inner.ub, inner.step, [first.get(v, v) for v in end.operands])
        rest.attributes.update(inner.attributes)
        rest.loc = inner.loc
        mapping.update(zip(inner.body.args, rest.body.args))
        with b.saved():
            b.at_end(rest.body)
            self._copy(ops, b, mapping)
            b.insert(scf.Yield([mapping.get(v, v) for v in end.operands], loc=end.loc))
        b.insert(rest)
        mapping.update(zip(inner.results, rest.results))
        self._copy(self.after, b, mapping)
        b.insert(scf.Yield(self._handed(mapping), loc=self.outer.loc))

    def _store(self, b: Builder, mapping: dict[Any, Any]) -> None:
        """Begin the stores. A buffer is written once the copy engine has read what it held."""
        for op in self.stores:
            store = op.clone(mapping)
            buffer = self.buffers[buffer_type(store.desc, store.src.type)]
            b.insert(ttng.TMAStoreWait(0, read_only=True))
            b.insert(ttg.LocalStore(store.src, buffer))
            b.insert(ttng.FenceAsyncShared(False))
            start_store(b, store, buffer)
            store.drop_references()

    def _handed(self, mapping: dict[Any, Any]) -> list[Any]:
        """What one tile hands to the next: what the loop carried, and what is to be stored."""
        return [mapping.get(v, v) for v in (*self.end.operands, *self.kept)]

    def _copy(self, ops: list[Any], b: Builder, mapping: dict[Any, Any]) -> None:
        for op in ops:
            copy = b.insert(op.clone(mapping))
            for old, new in zip(op.walk(), copy.walk()):
                if old.__class__ is tt.DescriptorLoad:
                    self.origin[new] = old


def late_stores_of(outer: Any, warps: int) -> LateStores | None:
    """The parts of a loop over tiles, if its stores can be hidden."""
    ops = list(outer.body)[:-1]
    loops = [op for op in ops if op.__class__ is scf.For]
    if len(loops) != 1:
        return None
    (inner,) = loops
    if any(defined_in(v, outer) for v in inner.operands[:3]) or not _multiplies(inner):
        return None
    found = LateStores(outer, inner)
    alone = all(memory_effects(op) == 0 for op in (*found.before, *found.after))
    carried = [v for v in (*inner.results, *found.kept) if isinstance(v.type, TensorType)]
    alone = alone and all(isinstance(v.type, (TensorType, IntegerType)) for v in found.kept)
    fits = sum(registers_of(v, warps) for v in carried) <= MOST
    return found if found.stores and alone and fits else None


def _multiplies(loop: Any) -> bool:
    """Whether a loop does nothing but load by descriptors and multiply."""
    effects = [op for op in loop.body if op is not loop.body.last and memory_effects(op) and not _is_read(op)]
    return not effects and any(op.__class__ is ttng.WarpGroupDot for op in loop.body)


def _is_read(op: Operation) -> bool:
    return op.__class__ in (tt.DescriptorLoad, ttng.WarpGroupDot)


def _runs(b: Builder, loop: Any) -> Any:
    """Whether a loop has iterations."""
    less = arith.CmpIPredicate.ult if loop.unsignedCmp else arith.CmpIPredicate.slt
    return b.add(arith.CmpI(less, loop.lb, loop.ub))
