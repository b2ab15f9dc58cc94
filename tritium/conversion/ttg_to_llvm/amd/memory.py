"""Predicated accesses to memory as branches.

A wave executes a block of code with the lanes of its EXEC mask, and skips the block if that is empty, which is what a
predicate costs here:

    tt.load %p, %m, %o         br %m, then, join
                         then: %v = load <4 x i32>, ptr addrspace(1) %p
                         join: phi [%v, then], [%o, entry]

Loads in the blocks of one chain can be in flight together: LLVM inserts `s_waitcnt` before the first use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from ....dialects.tt_types import CacheModifier, CachePolicy, EvictionPolicy
from ....ir import Operation
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass
from ..target_info import GlobalAccess, ThreadEmitter

__all__ = ["EMPTY", "NON_TEMPORAL", "Policy", "Written", "global_access", "policy_of", "store_where", "where"]

NON_TEMPORAL = 3 << 20  # the number of the metadata node of streaming accesses
EMPTY = 7 << 20  # the number of an empty metadata node
_VOLATILE = (CacheModifier.cv, CacheModifier.wt)


def where(e: ThreadEmitter, condition: str | None, ty: str, other: str, emit: Callable[[], str]) -> str:
    """The result of type `ty` of what `emit` writes where a condition holds (always for None), else `other`."""
    if condition is None:
        return emit()
    before, then, join = e.block, e.fresh_label("then"), e.fresh_label("join")
    e.stmt(f"br i1 {condition}, label %{then}, label %{join}")
    e.conditional(then)
    result, end = emit(), e.block
    e.stmt(f"br label %{join}")
    e.continue_at(join, before)
    return "" if ty == "void" else e.op(f"phi {ty} [ {result}, %{end} ], [ {other}, %{before} ]")


class Written:
    """Writes one instruction with a result, for `where`."""

    def __init__(self, e: ThreadEmitter, line: str) -> None:
        self.e, self.line = e, line

    def __call__(self) -> str:
        return self.e.op(self.line)


def _stated(e: ThreadEmitter, line: str) -> str:
    e.stmt(line)
    return ""


def store_where(e: ThreadEmitter, condition: str | None, line: str) -> None:
    """An instruction without a result, where a condition holds."""
    where(e, condition, "void", "", lambda: _stated(e, line))


@dataclass(frozen=True)
class _Words(GlobalAccess):
    """`volatile` accesses are neither cached nor merged; `hints` are metadata of the instruction."""

    volatile: bool
    hints: str

    def load(self, e: ThreadEmitter, address: str, mask: str | None, others: Sequence[str]) -> list[str]:
        """`global_load`, in a branch where it has a mask."""
        self.note_mergeable(e)
        kind = "load volatile" if self.volatile else "load"
        line = f"{kind} {self.type}, ptr addrspace(1) {address}, align {self.alignment}{self.hints}"
        other = "zeroinitializer" if mask is None or set(others) == {"0"} else self._whole(e, others)
        return self._elements(e, where(e, mask, self.type, other, lambda: e.op(line)))

    def store(self, e: ThreadEmitter, address: str, values: Sequence[str], mask: str | None) -> None:
        """`global_store`, in a branch where it has a mask."""
        self.note_mergeable(e)
        kind = "store volatile" if self.volatile else "store"
        whole = self._whole(e, values)
        line = f"{kind} {self.type} {whole}, ptr addrspace(1) {address}, align {self.alignment}{self.hints}"
        store_where(e, mask, line)


class Policy(Enum):
    """How an access treats caches."""

    CACHED = 0
    STREAMS = 1
    VOLATILE = 2


def policy_of(op: Operation, stores: bool) -> Policy:
    """`.cs` and evict_first are non-temporal, `.cv` and `.wt` volatile; others are hints without an equivalent here.

    Raises UnsupportedOperation for a modifier of stores on a load, or of loads on a store.
    """
    if getattr(op, "isVolatile", False):
        return Policy.VOLATILE
    policy = getattr(op, "cachePolicy", None)
    if not isinstance(policy, CachePolicy):
        return Policy.CACHED
    cache, eviction = policy.cache_modifier, policy.eviction_policy
    if cache in ((CacheModifier.wt, CacheModifier.wb) if not stores else (CacheModifier.ca, CacheModifier.cv)):
        raise UnsupportedOperation(op, f"cannot have the cache modifier {cache.name}")
    if cache in _VOLATILE:
        return Policy.VOLATILE
    streams = cache is CacheModifier.cs or eviction is EvictionPolicy.evict_first
    return Policy.STREAMS if streams else Policy.CACHED


def global_access(e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> _Words:
    """The access of `op`, with its policy."""
    policy = policy_of(op, stores)
    hints = f", !nontemporal !{NON_TEMPORAL}" if policy is Policy.STREAMS else ""
    return _Words(bits, count, policy is Policy.VOLATILE, hints)
