"""Messages about scripts and compiles, with the places that they name."""

from __future__ import annotations

import os
import re

from .children import ended
from .model import Place, Problem

__all__ = ["place_in", "script_problem"]

_FRAME = re.compile(r'^  File "(.*?)", line (\d+)', re.M)
_PLACE = re.compile(r"^(.+?):(\d+):(\d+): error: ", re.M)


def script_problem(path: str, output: str, status: int) -> Problem:
    """The end of a script that failed: the error after its frames, and the innermost frame in the script."""
    lines = [line for line in output.strip().split("\n") if line.strip()]
    message = f"the script {ended(status)}"
    place = None
    start = output.rfind("Traceback (most recent call last)")
    if status > 0 and start >= 0:
        frames = [m for m in _FRAME.finditer(output, start) if os.path.abspath(m[1]) == os.path.abspath(path)]
        place = Place(path, int(frames[-1][2])) if frames else None
        after = output[start:].split("\n")[1:]
        message = next((line for line in after if line and not line.startswith(" ")), message)
        compiled = _PLACE.search(output, start)
        if compiled is not None:  # the compiler's own message, after the name of its class
            message, place = output[compiled.start() :].split("\n")[0], place_in(compiled[0])
    return Problem("error", message, output[start:] if start >= 0 else "\n".join(lines[-20:]), place)


def place_in(message: str) -> Place | None:
    """The place at the beginning of a compiler's message.

    >>> place_in("k.py:3:5: error: no such name")
    Place(file='k.py', line=3, column=5)
    """
    found = _PLACE.search(message)
    return None if found is None else Place(found[1], int(found[2]), int(found[3]))
