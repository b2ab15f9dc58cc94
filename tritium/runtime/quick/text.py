"""Quick launches as LLVM text: the structures that it reads, and what stands for the lines that read them.

`get TYPE %x.field` and `put TYPE %v, %x.field` stand for a load and a store of a field of the structure that `%x` is
called like (`fields.FIELDS`); `$name` is a number.
"""

from __future__ import annotations

import re

from ..arrays import WRITEABLE
from ..grid import PROGRAMS
from ..torch_layout import STATE_MASK
from .call_ir import CALL
from .calls_ir import CALLS, OLD_CALLS
from .fields import FIELDS, FRAME_HEAD, LATE
from .grid_ir import GRID
from .rows_ir import ROWS
from .sites_ir import SITES
from .table import PLANS

__all__ = ["quick_text"]

_NUMBERS = {"programs": PROGRAMS, "head": FRAME_HEAD, "plans": PLANS, "row_bytes": 8 * len(FIELDS["row"])}
_NUMBERS |= {"state_mask": STATE_MASK, "writeable": WRITEABLE, "late": LATE}

_GET = re.compile(r"^( *)(%\w+) = get (\w+) %(\w+)\.(\w+)(?: *;.*)?$", re.M)
_PUT = re.compile(r"^( *)put (\w+) ([%@\w.]+), %(\w+)\.(\w+)(?: *;.*)?$", re.M)


def quick_text(old: bool = False) -> str:
    """The module for the host; `old` for Python 3.10."""
    text = _GET.sub(_load, CALL + (OLD_CALLS if old else CALLS) + GRID + ROWS + SITES)
    count = iter(range(1 << 20))
    text = _PUT.sub(lambda m: _store(m, next(count)), text)
    for name in sorted(_NUMBERS, key=len, reverse=True):
        text = text.replace(f"${name}", str(_NUMBERS[name]))
    return text


def _field(structure: str, name: str) -> int:
    return 8 * FIELDS[structure].index(name)


def _load(m: re.Match[str]) -> str:
    indent, to, ty, base, name = m.groups()
    at = f"{indent}{to}.at = getelementptr i8, ptr %{base}, i64 {_field(base, name)}\n"
    return f"{at}{indent}{to} = load {ty}, ptr {to}.at"


def _store(m: re.Match[str], number: int) -> str:
    indent, ty, value, base, name = m.groups()
    at = f"{indent}%to{number} = getelementptr i8, ptr %{base}, i64 {_field(base, name)}\n"
    return f"{at}{indent}store {ty} {value}, ptr %to{number}"
