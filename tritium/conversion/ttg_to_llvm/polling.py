"""The loop of `tt.atomic_poll`: read a word until it has the value that is waited for, or until a time has come."""

from __future__ import annotations

from collections.abc import Callable

from .context import FunctionContext

__all__ = ["poll"]


def poll(
    e: FunctionContext,
    is_seen: Callable[[], str],
    now: Callable[[FunctionContext], str],
    condition: str | None,
    end: str | None,
) -> str:
    """Whether the value was seen: the condition of the loop that reads it. False for threads that do not read.

    `is_seen` emits the read and the comparison, `now` the time that is compared with `end`.
    """
    before, body, done = e.block, e.fresh_label("poll"), e.fresh_label("polled")
    e.stmt(f"br label %{body}" if condition is None else f"br i1 {condition}, label %{body}, label %{done}")
    e.label(body)
    seen = over = is_seen()
    if end is not None:
        late = e.op(f"icmp uge i64 {now(e)}, {end}")
        over = e.op(f"or i1 {seen}, {late}")
    e.stmt(f"br i1 {over}, label %{done}, label %{body}")
    e.label(done)
    if condition is None:
        return seen
    return e.op(f"phi i1 [ {seen}, %{body} ], [ false, %{before} ]")
