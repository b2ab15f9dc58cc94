"""Small pieces of Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any

NOTE = "<!-- Written by `make docs` from the sources; change those. -->\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing when it has no rows."""
    body = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    if not body:
        return ""
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body])


def fence(text: str, language: str = "mlir") -> str:
    """A fenced block."""
    return f"```{language}\n{text.rstrip()}\n```"


def sections(*parts: str) -> str:
    """Parts with a blank line between them; empty ones are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def anchor(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def raw_doc(thing: Any) -> str:
    """The docstring without the indentation of the place where it stands; what is indented in it stays so."""
    text = thing.__doc__ or ""
    thing = getattr(thing, "fget", thing)
    inside = 0 if inspect.ismodule(thing) else 4 * thing.__qualname__.count(".") + 4
    lines = [line[inside:] if line[:inside].isspace() else line for line in text.split("\n")]
    return "\n".join(lines).strip()


def doc_of(thing: Any) -> str:
    """The docstring as Markdown: indented parts become code, names in them stay as they are."""
    return _code_blocks(raw_doc(thing))


def first_sentence(text: str) -> str:
    """The first paragraph up to its first full stop that ends a sentence, on one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    m = re.match(r"(.*?[.!?])(?= [A-Z`(]|$)", paragraph)
    return m[1] if m else paragraph


_MARKUP = re.compile(r"(?<!\*)\*(?=\w)|(?<!\w)_(?=\w)|<(?=[A-Za-z/!])|(?<=\])\(|\[(?=\w+\]\[)")


def escape(text: str) -> str:
    """Text outside of code with a backslash where Markdown would see markup that is none: `*x`, `<f32>`.

    Bold text (`**Warps.**`) is markup.
    """
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else _MARKUP.sub(r"\\\g<0>", part) for i, part in enumerate(parts))


def _code_blocks(text: str) -> str:
    out: list[str] = []
    code: list[str] = []

    def close() -> None:
        if code:
            while code and not code[-1].strip():
                code.pop()
            width = min(len(line) - len(line.lstrip()) for line in code if line.strip())
            out.extend(["```text", *(line[width:] for line in code), "```", ""])
            code.clear()

    listed = False
    for line in text.split("\n"):
        listed = bool(re.match(r"\s*[-|]", line)) or (listed and line.startswith("  ") and not code)
        indented = line.startswith("    ") or line.strip() == "=>"
        if (indented and not listed) or (code and not line.strip()):
            code.append(line)
        else:
            close()
            out.append(line if re.match(r"\s*\|", line) else escape(line))
    close()
    return "\n".join(out).strip("\n")
