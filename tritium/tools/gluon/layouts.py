"""Layouts, types and names in a printed kernel."""

from __future__ import annotations

import keyword
import re
from dataclasses import fields

from ...dialects.ttg_memory import MemDescType
from ...frontend.gluon.layout_base import LayoutValue
from ...frontend.gluon.layouts import BlockedLayout, DotOperandLayout, NVMMADistributedLayout, SharedLayout, layout_of
from ...ir import TensorType, Type, Value, element_type

__all__ = ["TYPES", "Layouts", "Names", "tensor_type", "type_text"]

TYPES = {
    "i1": "gl.int1",
    "i8": "gl.int8",
    "i16": "gl.int16",
    "i32": "gl.int32",
    "i64": "gl.int64",
    "ui8": "gl.uint8",
    "ui16": "gl.uint16",
    "ui32": "gl.uint32",
    "ui64": "gl.uint64",
    "f16": "gl.float16",
    "bf16": "gl.bfloat16",
    "f32": "gl.float32",
    "f64": "gl.float64",
    "f8E5M2": "gl.float8e5",
    "f8E4M3FN": "gl.float8e4nv",
}
"""Types of elements in Gluon, by their text in the IR."""

_KINDS = {BlockedLayout: "BLOCKED", NVMMADistributedLayout: "MMA"}


class Names:
    """Python names, each once: those of the source where values have them."""

    def __init__(self) -> None:
        self.taken = {"gl", "gluon", "range", "async_copy"}

    def new(self, wanted: str) -> str:
        """A name that is not taken, as close to the wanted one as can be."""
        base = re.sub(r"\W", "_", wanted)
        base = f"v{base}" if base[0].isdigit() else base
        base = f"{base}_" if keyword.iskeyword(base) else base
        name, count = base, 0
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def of(self, value: Value, default: str = "v") -> str:
        """A name for a value of the IR."""
        hint = value.hint or default
        return self.new(re.sub(r"_\d+$", "", hint) if not hint.isdigit() else default)


class Layouts:
    """The layouts of a kernel as named constants, in the order of their first use."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.found: dict[LayoutValue, str] = {}

    def lines(self) -> list[str]:
        """The definitions."""
        return [f"{name}: gl.constexpr = {self._made(layout)}" for layout, name in self.found.items()]

    def of(self, ty: Type) -> str:
        """The layout of a type of tensors or buffers, as text."""
        assert isinstance(ty, (TensorType, MemDescType)) and ty.encoding is not None
        shape = ty.allocShape[-len(ty.shape) :] if isinstance(ty, MemDescType) else ty.shape
        return self.text(layout_of(ty.encoding, shape))

    def text(self, layout: LayoutValue) -> str:
        """A name, or an expression of one: slices and operands of dots are short."""
        name = type(layout).__name__
        if name == "SliceLayout" or isinstance(layout, DotOperandLayout):
            return self._made(layout)
        if layout not in self.found:
            kind = _KINDS.get(type(layout), "SHARED" if isinstance(layout, SharedLayout) else "LINEAR")
            made = self._made(layout)  # layouts that this one is made of come first
            self.found[layout] = self.names.new(kind)
            assert made
        return self.found[layout]

    def _made(self, layout: LayoutValue) -> str:
        values = ((f.name, getattr(layout, f.name)) for f in fields(layout))
        return f"gl.{type(layout).__name__}({', '.join(f'{k}={self._field(v)}' for k, v in values)})"

    def _field(self, value: object) -> str:
        return self.text(value) if isinstance(value, LayoutValue) else repr(value)


def tensor_type(value: Value) -> TensorType:
    """The type of a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def type_text(ty: Type) -> str | None:
    """The type of elements in Gluon; None for one that it does not have."""
    return TYPES.get(str(element_type(ty)))
