"""Code that runs under a condition, as basic blocks around it."""

from __future__ import annotations

from .emitter import Emitter

__all__ = ["guarded", "op_where"]


class guarded:
    """A block of code that runs where an i1 operand holds (always for None); nothing in it is used behind it.

    >>> e = Emitter()
    >>> with guarded(e, "%owner"):
    ...     e.stmt("store i32 0, ptr %p")
    >>> print(e.text())
      br i1 %owner, label %only1, label %all2
    only1:
      store i32 0, ptr %p
      br label %all2
    all2:
    """

    def __init__(self, e: Emitter, condition: str | None) -> None:
        self.e, self.condition = e, condition

    def __enter__(self) -> None:
        if self.condition is None:
            return
        e = self.e
        body, self.done = e.fresh_label("only"), e.fresh_label("all")
        e.stmt(f"br i1 {self.condition}, label %{body}, label %{self.done}")
        e.label(body)

    def __exit__(self, *_: object) -> None:
        if self.condition is None:
            return
        self.e.stmt(f"br label %{self.done}")
        self.e.label(self.done)


def op_where(e: Emitter, condition: str | None, text: str, ty: str) -> str:
    """The result of type `ty` of an instruction that is done where an i1 operand holds (always for None); else zero."""
    if condition is None:
        return e.op(text)
    before = e.block
    with guarded(e, condition):
        result, body = e.op(text), e.block
    return e.op(f"phi {ty} [ {result}, %{body} ], [ zeroinitializer, %{before} ]")
