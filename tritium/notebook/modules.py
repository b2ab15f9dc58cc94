"""Operations and modules of the IR: the text, and how often each operation occurs."""

from __future__ import annotations

from collections import Counter

from ..ir import Operation
from ..support.display import formats
from .html import code, folded, framed, table

__all__: list[str] = []


@formats(Operation)
def _operation(op: Operation) -> str:
    counts = Counter(inner.name for inner in op.walk())
    total = sum(counts.values())
    several = total > 1
    rows = [(name, number) for name, number in counts.most_common()]
    parts = [folded(f"{total:,} operations", table(("operation", "count"), rows))] if several else []
    return framed(op.name, *parts, code(str(op)))
