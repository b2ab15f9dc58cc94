"""Launching a loaded CUDA function: what is fixed for all launches, and the one call that each of them is.

On CPython a launcher is a built-in function whose code is made by the CPU's side of the compiler (`launch_text`), which
costs a fraction of a microsecond beside the driver's own time; elsewhere it goes through ctypes.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...support.native_function import native_function
from .launch_ir import LAUNCH, PYTHON
from .libcuda import Library

__all__ = [
    "MAX_X",
    "MAX_YZ",
    "Attributes",
    "Native",
    "State",
    "launch_attributes",
    "launch_text",
    "make_launcher",
    "new_number",
    "recent",
]

MAX_X, MAX_YZ = (1 << 31) - 1, 65535  # blocks of a grid by dimension, of every capability since 3.0
RECENT = 16  # launches that are remembered, to be named when one of them turns out to have failed
TOO_LARGE = -1  # what a launch says of a grid that no GPU takes

Launcher = Callable[[int, int, int, int, int], "int | None"]


class State(ctypes.Structure):
    """The arguments of native code."""

    _fields_ = [
        ("launch", ctypes.c_void_p),
        ("get_context", ctypes.c_void_p),
        ("push_context", ctypes.c_void_p),
        ("pop_context", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("ctas", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("shared", ctypes.c_uint32),
        ("attribute_count", ctypes.c_uint32),
        ("attributes", ctypes.c_void_p),
        ("params_bytes", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
    ]


class Config(ctypes.Structure):
    """`CUlaunchConfig`."""

    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("attribute_count", ctypes.c_uint32),
    ]


class _Attribute(ctypes.Structure):
    """`CUlaunchAttribute`: a number, and 64 bytes of a value."""

    _fields_ = [("id", ctypes.c_int), ("unused", ctypes.c_int), ("value", ctypes.c_int * 16)]


_COOPERATIVE, _CLUSTER, _CLUSTER_POLICY, _DEPENDENT = 2, 4, 5, 6
_SPREAD = 1


def launch_attributes(metadata: Mapping[str, Any]) -> list[tuple[int, tuple[int, ...]]]:
    """The numbers (`CUlaunchAttributeID`) and values of what a kernel's options ask of its launches."""
    ctas = metadata.get("num_ctas") or 1
    rows: list[tuple[int, tuple[int, ...]]] = []
    if metadata.get("launch_pdl"):
        rows.append((_DEPENDENT, (1,)))
    if metadata.get("launch_cooperative_grid"):
        rows.append((_COOPERATIVE, (1,)))
    if ctas > 1:
        rows += [(_CLUSTER, (ctas, 1, 1)), (_CLUSTER_POLICY, (_SPREAD,))]
    return rows


class Attributes:
    """The launch attributes that a kernel's options ask for, as the driver reads them."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        rows = launch_attributes(metadata)
        self.count = len(rows)
        self._array = (_Attribute * len(rows))()
        for row, (number, values) in zip(self._array, rows):
            row.id = number
            row.value[: len(values)] = values

    @property
    def address(self) -> int:
        """Where the driver finds them; 0 if there is none."""
        return ctypes.addressof(self._array) if self.count else 0


def launch_text(python: bool) -> str:
    """The module for the host; `python` adds the function that CPython calls."""
    numbers: dict[str, int] = {
        "recent_count": RECENT,
        "config_bytes": ctypes.sizeof(Config),
        "max_x": MAX_X,
        "max_yz": MAX_YZ,
        **{name: getattr(State, name).offset for name, *_ in State._fields_},
    }
    text = LAUNCH + (PYTHON if python else "")
    for name in sorted(numbers, key=len, reverse=True):
        text = text.replace(f"${name}", str(numbers[name]))
    return text


class Native(NamedTuple):
    """The loaded code of `launch_text`: addresses, and the objects that own them."""

    method: int
    launch: int
    recent: int
    launches: int
    keep: Any


_names: list[str] = [""]  # number of a launcher -> the kernel's name
_recent: deque[int] = deque(maxlen=RECENT)  # of launches through ctypes
_native: list[Native] = []


def new_number(name: str) -> int:
    """A number for a launcher, under which its launches are remembered."""
    _names.append(name)
    return len(_names) - 1


def recent(but: int = 0) -> list[str]:
    """The kernels launched last without the last `but`, the latest last; several launches in a row count as one."""
    numbers = list(_recent)
    for native in _native:  # a process has the one or the other
        count = ctypes.c_uint64.from_address(native.launches).value
        ring = (ctypes.c_uint64 * RECENT).from_address(native.recent)
        numbers += [ring[turn % RECENT] for turn in range(max(0, count - RECENT), count)]
    names = [_names[n] for n in numbers[: len(numbers) - but] if 0 < n < len(_names)]
    return [name for i, name in enumerate(names) if i + 1 == len(names) or names[i + 1] != name]


def make_launcher(cuda: Library, state: State, keep: Any, native: Native | None) -> Launcher:
    """`launch(params, x, y, z, stream)`: run a grid; None, or a status of the driver (TOO_LARGE for the grid).

    All five are integers: the address of the parameters as one block, the grid, the stream's handle. An empty grid
    runs nothing. The GIL is released meanwhile. `keep` lives as long as the launcher.
    """
    if native is None or not native.method:
        return _ctypes_launcher(cuda, state, keep)
    if native not in _native:
        _native.append(native)
    return native_function(native.method, ctypes.addressof(state), __name__, (state, keep, native))


def _ctypes_launcher(cuda: Library, state: State, keep: Any) -> Launcher:
    """A launcher for Pythons without CPython's C API."""
    run = cuda.function("launch")
    get, push, pop = map(cuda.function, ("get_context", "push_context", "pop_context"))

    def launch(params: int, x: int, y: int, z: int, stream: int, _keep: Any = keep) -> int | None:
        if min(x, y, z) <= 0:
            return None
        if x * state.ctas > MAX_X or max(y, z) > MAX_YZ:
            return TOO_LARGE
        size = ctypes.c_size_t(state.params_bytes)
        extra = (ctypes.c_void_p * 5)(1, params, 2, ctypes.addressof(size), 0)
        config = Config(
            (x * state.ctas, y, z),
            (state.threads, 1, 1),
            state.shared,
            stream or None,
            state.attributes,
            state.attribute_count,
        )
        _recent.append(state.number)
        now = ctypes.c_void_p()
        get(ctypes.addressof(now))
        elsewhere = now.value != state.context
        status = push(state.context) if elsewhere else 0
        if not status:
            status = run(ctypes.addressof(config), state.function, None, ctypes.addressof(extra))
            if elsewhere:
                pop(ctypes.addressof(now))
        return status or None

    return launch
