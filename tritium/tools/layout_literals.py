"""Layouts of Gluon on a command line, as a kernel writes them: `gl.BlockedLayout([4], [32], [4], [0])`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from ..support.lazy import LazyModule

__all__ = ["is_layout", "layout_value"]

_layouts = LazyModule("..frontend.gluon.layouts", __package__)
_CALL = re.compile(r"(?:\w+\.)*\w*Layout\(")


def is_layout(text: str) -> bool:
    """Whether a text is written as a layout."""
    return _CALL.match(text) is not None


def layout_value(text: str) -> object:
    """The layout that a text writes. ValueError where it is none, with what is wrong.

    >>> layout_value("gl.SliceLayout(0, gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]))").dim
    0
    """
    try:
        return _value(ast.parse(text, mode="eval").body)
    except SyntaxError:
        raise ValueError(f"{text} is not an expression") from None
    except TypeError as error:
        raise ValueError(str(error).replace("__init__() ", "")) from None


def _value(node: ast.expr) -> object:
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    made: Callable[..., object] | None = getattr(_layouts, name, None) if name.endswith("Layout") else None
    if made is None:
        raise ValueError(f"there is no layout {name or ast.unparse(node.func)}")
    return made(*map(_value, node.args), **{str(k.arg): _value(k.value) for k in node.keywords})
