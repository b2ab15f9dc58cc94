"""Launch plans as native code reads them (`call_ir`), and that code.

All structures are arrays of 64-bit words. A Python object is represented by its address, and kept alive by the plan.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...backends.cpu.loader import LoadedObject
from ...backends.cpu.pool import load_quickly, stored_text
from ...backends.errors import BackendError
from ...support import settings
from ...support.lazy import LazyModule
from ...support.native_function import native_function
from .fields import FIELDS, FRAME_HEAD, LATE
from .launch_backend import ArgumentGuard

__all__ = ["Native", "Plan", "native_fastpath"]

_text = LazyModule(".text", __package__)

_HEAD = 16  # bytes of an object's head; more without the GIL, and where Python is built to find errors of its own

_GENERATION_OFFSET = object.__basicsize__  # where CPython keeps an object's only slot

_tp_call, _tp_clear, _tp_dealloc, _tp_doc, _tp_traverse, _tp_members = 50, 51, 52, 56, 71, 72  # CPython's typeslots.h
_HAVE_VECTORCALL, _HAVE_GC, _NO_INSTANCES = 1 << 11, 1 << 14, 1 << 7
_OBJECT, _SIZE, _READ_ONLY = 16, 19, 1  # kinds of members: Py_T_OBJECT_EX, Py_T_PYSSIZET


class _Slot(ctypes.Structure):
    """`PyType_Slot`"""

    _fields_ = [("number", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Member(ctypes.Structure):
    """`PyMemberDef`"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Spec(ctypes.Structure):
    """`PyType_Spec`"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]


def _offset(structure: str, name: str) -> int:
    return 8 * FIELDS[structure].index(name)


class Native:
    """The loaded code of `fastpath_text`, and the type of `kernel[grid]`."""

    def __init__(self, loaded: LoadedObject) -> None:
        loaded.keep_forever()  # objects of the type may outlive all modules
        self.address = loaded.address
        self._drop = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.address("tt.drop"))
        self.type = self._make_type()
        self._checks: dict[str, int] = {}

    def _make_type(self) -> Any:
        self._members = (_Member * 3)(
            _Member(b"__vectorcalloffset__", _SIZE, _offset("bound", "vectorcall"), _READ_ONLY, None),
            _Member(b"grid", _OBJECT, _offset("bound", "grid"), _READ_ONLY, b"The grid that it launches with."),
        )
        call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p).value
        doc = ctypes.c_char_p(b"A kernel with a grid: called with the kernel's arguments, it launches.")
        self._slots = (_Slot * 7)(
            _Slot(_tp_call, call),
            _Slot(_tp_clear, self.address("tt.clear")),
            _Slot(_tp_dealloc, self.address("tt.dealloc")),
            _Slot(_tp_traverse, self.address("tt.traverse")),
            _Slot(_tp_members, ctypes.addressof(self._members)),
            _Slot(_tp_doc, ctypes.cast(doc, ctypes.c_void_p).value),
        )
        size, flags = 8 * len(FIELDS["bound"]), _HAVE_VECTORCALL | _HAVE_GC | _NO_INSTANCES
        self._spec = _Spec(b"tritium.runtime.Launch", size, 0, flags, self._slots)
        make = ctypes.pythonapi.PyType_FromSpec
        make.argtypes, make.restype = (ctypes.c_void_p,), ctypes.py_object
        return make(ctypes.addressof(self._spec))

    def table(self, owner: Any, slow: Callable[..., Any]) -> tuple[Any, Callable[[Any], Any]]:
        """The words of an empty table of `owner`, and its function `at`."""
        words = (ctypes.c_int64 * len(FIELDS["table"]))()
        for name, value in {"slow": slow, "owner": owner, "type": self.type}.items():
            words[FIELDS["table"].index(name)] = id(value)
        return words, native_function(self.address("tt.at_method"), ctypes.addressof(words), __name__, owner)

    def guard(self, check: str) -> int:
        """The address of the function that makes a check of `argument_guards_ir`."""
        found = self._checks.get(check)
        if found is None:
            found = self._checks[check] = self.address(f"tt.guard_{check}")
        return found

    def drop(self, words: Any) -> None:
        """Free the object that a table keeps for its next launch."""
        self._drop(ctypes.addressof(words))


_lock = threading.Lock()
_found: list[Native | None] = []


def native_fastpath(compiles: bool = True) -> Native | None:
    """The code of the fast path; None in other Pythons than CPython, on machines that the CPU's backend does not
    support, and if it is not on disk, unless `compiles`."""
    with _lock:
        if not _found:
            native = _load(compiles) if _is_supported() else None
            if native is None and not compiles and _is_supported():
                return None
            _found.append(native)
        return _found[0]


def _is_supported() -> bool:
    """Whether objects of this Python have the layout that the code reads."""
    generation = settings.generation
    if sys.implementation.name != "cpython" or object.__basicsize__ != _HEAD:
        return False
    return ctypes.c_void_p.from_address(id(generation) + _GENERATION_OFFSET).value == id(generation.value)


def _load(compiles: bool) -> Native | None:
    old = sys.version_info < (3, 11)
    try:
        key = _sources_key(old)
        if compiles:
            return Native(load_quickly("fastpath", partial(_make_text, old), key))
        loaded = stored_text("fastpath", key)
        return None if loaded is None else Native(loaded)
    except BackendError:
        return None


def _make_text(old: bool) -> str:
    return str(_text.fastpath_text(old=old))


def _sources_key(old: bool) -> str:
    """A key of the text by the times and sizes of the runtime's sources: making the text to hash it takes 3 ms."""
    here = os.path.dirname(os.path.abspath(__file__))
    found = []
    for folder in (here, os.path.dirname(here)):
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append((entry.path, status.st_mtime_ns, status.st_size))
    return repr((old, sorted(found)))


class Plan:
    """One kind of launch: the form of its call, guards of its arguments, and the launcher's part.

    `keywords` are the names of the arguments after the `positional` ones. `guards` has one for each argument in the
    order of the call, then others that read no argument. `template` are the parameter bytes before arguments are
    stored; `names` and `defaults` make the dict that a grid's function is called with (None: not in it), where
    `defaults` has all of its names, so that a copy of the dict need not grow. `backend` has the other fields of a plan;
    `keep` owns the memory at their addresses.
    """

    def __init__(
        self,
        native: Native,
        positional: int,
        keywords: Sequence[str],
        guards: Sequence[ArgumentGuard],
        template: bytes,
        names: Sequence[str | None],
        defaults: dict[str, Any],
        backend: Mapping[str, Any],
        keep: Any = None,
    ) -> None:
        self.native = native
        self._keep: list[Any] = [keep]
        generation = settings.generation
        values = {
            "owner": id(self),
            "generation_at": id(generation) + _GENERATION_OFFSET,
            "generation": self._object(generation.value),
            "positional": positional,
            "keywords": len(keywords),
            "keyword_names": self._objects(keywords),
            "guards": self._guards(native, guards),
            "count": len(guards),
            "template": self._bytes(template),
            "bytes": len(template),
            "names": self._objects(names),
            "defaults": self._object(defaults),
        }
        for name, value in backend.items():
            values[name] = value if type(value) is int else self._object(value)
        if backend.get("stream_kind") == 2:
            values["stream_argument"] = self._object(backend["stream_argument"])
        get = values.get
        self._words = _PLAN(*[get(name, 0) for name in FIELDS["plan"]])

    @property
    def address(self) -> int:
        """Of the structure."""
        return ctypes.addressof(self._words)

    def _object(self, value: Any) -> int:
        """The address of an object that the plan keeps alive."""
        self._keep.append(value)
        return id(value)

    def _kept(self, array: Any) -> int:
        self._keep.append(array)
        return ctypes.addressof(array)

    def _objects(self, values: Sequence[Any]) -> int:
        self._keep.append(values)
        return self._kept((ctypes.c_int64 * (len(values) + 1))(*[0 if v is None else id(v) for v in values]))

    def _bytes(self, data: bytes) -> int:
        return self._kept(ctypes.create_string_buffer(data, len(data) + 1))

    def _guards(self, native: Native, guards: Sequence[ArgumentGuard]) -> int:
        """The guards one after another, each in a cache line of its own."""
        words: list[int] = []
        for guard in guards:
            words += self._guard(native, guard)
        memory = ctypes.create_string_buffer(8 * len(words) + _CACHE_LINE)
        start = -(-ctypes.addressof(memory) // _CACHE_LINE) * _CACHE_LINE
        ctypes.memmove(start, (ctypes.c_int64 * len(words))(*words), 8 * len(words))
        self._keep.append(memory)
        return start

    def _guard(self, native: Native, guard: ArgumentGuard) -> list[int]:
        """The words of a guard, `FIELDS["guard"]`: integers as they are, objects as their addresses."""
        get, check = guard.get, guard["check"]
        slot = get("at", 0) + FRAME_HEAD | get("size", 0) << 32 | get("mask", 0) << 48 | get("want", 0) << 56
        words = [native.guard(check), 0, slot | (LATE if check in _LATE else 0), 0, 0, 0, 0, 0]
        objects, keep = _OBJECTS.get(check, ()), self._keep.append
        for name, at in _PLACES:
            if name in guard:
                value = guard[name]
                if type(value) is not int or name in objects:
                    keep(value)
                    value = id(value)
                words[at] = value
        if "base" in guard:  # of a descriptor
            guard["call"].set_base(self._kept(_GUARD(*self._guard(native, guard["base"]))))
            words[_OBJECT_AT] = ctypes.addressof(guard["call"].words)
        return words


_PLAN = ctypes.c_int64 * len(FIELDS["plan"])
_GUARD = ctypes.c_int64 * len(FIELDS["guard"])
_CACHE_LINE = ctypes.sizeof(_GUARD)
_OBJECT_AT = FIELDS["guard"].index("object")

#: the names of a guard's operands and their words
_PLACES = [
    (name, FIELDS["guard"].index(word))
    for name, word in (
        *((name, name) for name in ("type", "low", "high", "object", "call")),
        ("place", "high"),
        ("expected", "extra"),
    )
]
#: checks that call Python for an argument, or read what such a check stores
_LATE = frozenset(("array", "address", "bytes", "derived", "descriptor"))

#: operands that may be an int as an object, by check
_OBJECTS = {
    "equal": {"object"},
    "is": {"object"},
    "entry": {"expected"},
    "holds": {"expected", "object"},
    "array": {"expected"},
}
