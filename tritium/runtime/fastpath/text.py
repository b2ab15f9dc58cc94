"""The launch fast path as LLVM text: expansion of the macros in the files `*_ir`.

`get TYPE %x.field` and `put TYPE %v, %x.field` expand to a load and a store of a field of the structure named `x`
(`fields.FIELDS`); `$name` expands to a constant.
"""

from __future__ import annotations

import re

from ..arrays import WRITEABLE
from ..grid import PROGRAMS
from ..tensor_descriptor import MAX_RANK
from ..torch_layout import STATE_MASK
from .argument_guards_ir import ARGUMENT_GUARDS
from .bound_launch_ir import BOUND_LAUNCH
from .call_ir import CALL
from .calls_ir import CALLS, OLD_CALLS
from .descriptor_guard_ir import DESCRIPTOR_GUARD
from .fields import DESCRIPTORS, FIELDS, FRAME_HEAD, LATE
from .grid_ir import GRID
from .table import PLANS

__all__ = ["fastpath_text"]

_NUMBERS = {"programs": PROGRAMS, "head": FRAME_HEAD, "plans": PLANS, "guard_bytes": 8 * len(FIELDS["guard"])}
_NUMBERS |= {"state_mask": STATE_MASK, "writeable": WRITEABLE, "late": LATE}
_NUMBERS |= {
    "descriptors": DESCRIPTORS,
    "entries": 8 * FIELDS["memo"].index("entry0"),
    "rank": MAX_RANK,
    "fields": 2 + 2 * MAX_RANK,
}

_GET = re.compile(r"^( *)(%\w+) = get (\w+) %(\w+)\.(\w+)(?: *;.*)?$", re.M)
_PUT = re.compile(r"^( *)put (\w+) ([%@\w.]+), %(\w+)\.(\w+)(?: *;.*)?$", re.M)


def fastpath_text(old: bool = False) -> str:
    """The module for the host; `old` for Python 3.10."""
    parts = CALL, OLD_CALLS if old else CALLS, GRID, ARGUMENT_GUARDS, DESCRIPTOR_GUARD, BOUND_LAUNCH
    text = _GET.sub(_load, "".join(parts))
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
