"""Predicated accesses to global memory as PTX.

With a mask, the instruction has a predicate: threads that are masked off touch no memory and branch nowhere. LLVM
cannot express that, so it is inline PTX. Without one it is LLVM's own load or store, whose address LLVM folds into the
instruction.

    tt.load %p, %m, %o         mov.b32 $0, …; @$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.tt_types import CacheModifier, CachePolicy, EvictionPolicy
from ....ir import Operation
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass
from ..target_info import GlobalAccess, ThreadEmitter

__all__ = ["global_access"]

_LOAD_MODIFIERS = (CacheModifier.none, CacheModifier.ca, CacheModifier.cg, CacheModifier.cs, CacheModifier.cv)
_STORE_MODIFIERS = (CacheModifier.none, CacheModifier.wb, CacheModifier.cg, CacheModifier.cs, CacheModifier.wt)


@dataclass(frozen=True)
class _Words(GlobalAccess):
    """`hints` are the qualifiers of `ld` or `st`; `policy` is an operand, the result of createpolicy."""

    hints: str
    policy: str | None

    @property
    def register(self) -> str:
        """The type of a register for a word; there is none of 8 bits."""
        return f"i{max(16, self.bits)}"

    @property
    def constraint(self) -> str:
        """The letter of inline PTX for it."""
        return {16: "h", 32: "r", 64: "l"}[max(16, self.bits)]

    @property
    def suffix(self) -> str:
        """`.v4.b32`"""
        return f"{f'.v{self.count}' if self.count > 1 else ''}.b{self.bits}"

    def load(self, e: ThreadEmitter, address: str, mask: str | None, others: Sequence[str]) -> list[str]:
        """`ld.global`, after moves of `others` where it has a predicate."""
        n = self.count
        if mask is None and not self.hints:
            return self._elements(e, e.op(f"load {self.type}, ptr addrspace(1) {address}, align {self.alignment}"))
        if self.bits < 16:
            others = [v if v.isdigit() else e.op(f"zext i8 {v} to i16") for v in others]
        constraints, operands = [f"={self.constraint}"] * n + ["l"], [("ptr addrspace(1)", address)]
        targets = ", ".join(f"${i}" for i in range(n))
        target = f"{{{targets}}}" if n > 1 else targets
        lines = []
        if mask is not None:
            for i, other in enumerate(others):
                lines.append(
                    f"mov.b{max(16, self.bits)} ${i}, {other if other.isdigit() else f'${n + len(operands)}'};"
                )
                if not other.isdigit():
                    constraints.append(self.constraint)
                    operands.append((self.register, other))
        predicate = _predicate(mask, n, constraints, operands)
        line = f"{predicate}ld{self.hints or '.global'}{self.suffix} {target}, [${n}]"
        lines.append(line + self._hint(n, constraints, operands) + ";")
        struct = self.register if n == 1 else f"{{ {', '.join([self.register] * n)} }}"
        result = e.asm("\n\t".join(lines), ",".join(constraints), operands, struct, attributes="")
        parts = [result] if n == 1 else e.fields(struct, result, n)
        return parts if self.bits >= 16 else [e.op(f"trunc i16 {v} to i8") for v in parts]

    def store(self, e: ThreadEmitter, address: str, values: Sequence[str], mask: str | None) -> None:
        """`st.global`"""
        n = self.count
        if mask is None and not self.hints:
            whole = self._whole(e, values)
            e.stmt(f"store {self.type} {whole}, ptr addrspace(1) {address}, align {self.alignment}")
            return
        if self.bits < 16:
            values = [e.op(f"zext i8 {v} to i16") for v in values]
        operands = [("ptr addrspace(1)", address), *((self.register, v) for v in values)]
        constraints = ["l", *[self.constraint] * n]
        sources = ", ".join(f"${i + 1}" for i in range(n))
        source = f"{{{sources}}}" if n > 1 else sources
        predicate = _predicate(mask, 0, constraints, operands)
        line = f"{predicate}st{self.hints or '.global'}{self.suffix} [$0], {source}"
        e.asm(line + self._hint(0, constraints, operands) + ";", ",".join(constraints), operands, attributes="")

    def _hint(self, results: int, constraints: list[str], operands: list[tuple[str, str]]) -> str:
        if self.policy is None:
            return ""
        constraints.append("l")
        operands.append(("i64", self.policy))
        return f", ${results + len(operands) - 1}"


def _predicate(mask: str | None, results: int, constraints: list[str], operands: list[tuple[str, str]]) -> str:
    if mask is None:
        return ""
    constraints.append("b")
    operands.append(("i1", mask))
    return f"@${results + len(operands) - 1} "


def global_access(e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> _Words:
    """The access of `op`, with its cache policy as qualifiers and, since sm_80, an operand."""
    policy = getattr(op, "cachePolicy", None)
    if getattr(op, "isVolatile", False):
        return _Words(bits, count, ".volatile.global", None)  # hints do not go with it
    if not isinstance(policy, CachePolicy):
        return _Words(bits, count, "", None)
    cache, eviction = policy.cache_modifier, policy.eviction_policy
    if cache not in (_STORE_MODIFIERS if stores else _LOAD_MODIFIERS):
        raise UnsupportedOperation(op, f"cannot have the cache modifier {cache.name}")
    hints, made = ".global", None
    if cache is not CacheModifier.none:
        hints += f".{cache.name}"
    if eviction is not EvictionPolicy.evict_normal:
        if cache is CacheModifier.none:
            hints += f".L1::{eviction.name}"
        if e.module.capability >= 80:
            hints += ".L2::cache_hint"
            made = e.asm(f"createpolicy.fractional.L2::{eviction.name}.b64 $0, 1.0;", "=l", [], "i64", False)
    return _Words(bits, count, "" if hints == ".global" else hints, made)
