"""The structures that the native code of the fast path reads, and Python fills in (see `text`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .table import PLANS

__all__ = ["DESCRIPTORS", "FIELDS", "FRAME_HEAD", "LATE"]

DESCRIPTORS = 4  # descriptors of an argument that native code recognizes

#: the 64-bit fields of each structure, in order
FIELDS: Mapping[str, Sequence[str]] = {
    "plan": (
        "owner", "generation_at", "generation", "positional", "keywords", "keyword_names", "guards", "count",
        "template", "bytes", "names", "defaults", "normalize", "launch", "state", "threads", "record_bytes",
        "stream_kind", "stream_call", "stream_argument", "scratch", "result", "report",
    ),
    "guard": ("check", "type", "slot", "low", "high", "object", "call", "extra"),
    "memo": (  # `descriptors`
        "base", "rank", "block", "padding", "base_name", "shape_name", "strides_name", "block_shape_name",
        "padding_name", "round_f32_to_tf32_name", *(f"entry{i}" for i in range(DESCRIPTORS)),
    ),
    "known": ("fields", "bytes"),  # an entry of a memo
    "table": (*(f"plan{i}" for i in range(PLANS)), "slow", "owner", "spare", "type"),
    "bound": ("references", "class", "vectorcall", "table", "owner", "grid"),
    "frame": ("x", "y", "z", "stream"),
    "list": ("references", "type", "count", "items"),  # PyTupleObject, PyObject
    "torch": (  # `torch_abi`
        "at", "data_ptr", "dtype", "device_type", "device_index", "marks_at", "marks",
        "methods", "storage", "offset", "elements", "state", "address", "flags", "special",
    ),
    "array": ("references", "type", "data", "nd", "shape", "strides", "base", "dtype", "flags"),  # PyArrayObject
}  # fmt: skip

FRAME_HEAD = 64  # bytes of a frame in front of the parameters
LATE = 1 << 55  # of a guard's slot: it calls Python
