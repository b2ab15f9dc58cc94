"""Pieces of HTML for notebooks, with styles that follow the notebook's light or dark theme and no scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["code", "folded", "framed", "table"]

_STYLE = """<style>
.tritium{font-size:13px;line-height:1.45}
.tritium pre{margin:4px 0;padding:6px 8px;max-height:28em;overflow:auto;white-space:pre}
.tritium pre{background:rgba(127,127,127,.08);font-size:12px;line-height:1.4}
.tritium summary{cursor:pointer}
.tritium table{border-collapse:collapse;margin:4px 0}
.tritium th,.tritium td{padding:1px 10px 1px 0;text-align:left;vertical-align:top}
.tritium th{font-weight:600;border-bottom:1px solid rgba(127,127,127,.5)}
.tritium td.n,.tritium th.n{text-align:right;font-variant-numeric:tabular-nums}
.tritium .dim{opacity:.65}
.tritium .op{color:#2f6fb5}.tritium .ty{color:#2d7d46}.tritium .cm{color:#888}.tritium .st{color:#a3562b}
.tritium .bar{display:inline-block;height:9px;background:#4c8bd0}
@media(prefers-color-scheme:dark){.tritium .op{color:#7db4ec}.tritium .ty{color:#7fcf97}.tritium .st{color:#dd9d76}}
</style>"""

_TOKENS = re.compile(
    r"(?P<cm>//[^\n]*|^\s*[;#](?![a-z])[^\n]*)|(?P<st>\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<ty>\b(?:tensor|memdesc|ptr|tensordesc)(?=<)|\b(?:i\d+|f\d+|bf16|f8E\w+|index)\b)"
    r"|(?P<op>\b(?:tt|ttg|ttng|ttc|scf|arith|math|cf|builtin|llvm|nvvm|gluon|amdg|rocdl)\.[\w.]+)",
    re.M,
)


def code(text: str) -> str:
    """A text in a frame that scrolls; operations, types, strings and comments of IR have colours."""
    out, at = [], 0
    for token in _TOKENS.finditer(text):
        out += escape(text[at : token.start()]), f'<span class="{token.lastgroup}">{escape(token[0])}</span>'
        at = token.end()
    return f"<pre>{''.join(out)}{escape(text[at:])}</pre>"


def folded(summary: str, body: str, is_open: bool = False) -> str:
    """A part that opens when its summary (text) is clicked."""
    return f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>{body}</details>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of numbers, right aligned, and texts; cells that are `Markup` are taken as they are."""
    rows = list(rows)
    numbers = [bool(rows) and all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(columns))]
    marks = [' class="n"' if number else "" for number in numbers]
    head = "".join(f"<th{mark}>{escape(name)}</th>" for mark, name in zip(marks, columns))
    body = "".join(
        "<tr>" + "".join(f"<td{mark}>{_cell(value)}</td>" for mark, value in zip(marks, row)) + "</tr>" for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if any(columns) else ''}{body}</table>"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return value
    return f"{value:,}" if isinstance(value, int) else escape(str(value))


def framed(title: str, *parts: str) -> str:
    """A whole output: a title (text) above its parts (HTML)."""
    return f'{_STYLE}<div class="tritium"><div><b>{escape(title)}</b></div>{"".join(parts)}</div>'
