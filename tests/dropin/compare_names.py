"""How names of Triton's modules stand here: `standing()` of each name that `triton_3_9_names.json` lists.

The file is written by `triton_names.py`, run by an interpreter that has Triton 3.9, torch and NumPy.
"""

from __future__ import annotations

import functools
import importlib
import json
import subprocess
import sys
from pathlib import Path

from tests.dropin.triton_names import parameters

HERE = Path(__file__).parent
NAMES: dict[str, dict[str, list[str] | None]] = json.loads((HERE / "triton_3_9_names.json").read_text())


def accepts(theirs: list[str], ours: list[str]) -> bool:
    """Does a function with the parameters `ours` take every call that one with `theirs` takes, in the same meaning?"""
    (positions, keywords, star, rest), (own, own_keywords, own_star, own_rest) = map(_parts, (theirs, ours))
    if (star and not own_star) or (rest and not own_rest):
        return False
    for i, (name, optional) in enumerate(positions):
        if i < len(own) and (own[i][0] != name or (optional and not own[i][1])):
            return False
        if i >= len(own) and not own_star:
            return False
    known = {**dict(own), **own_keywords}
    if any(not known.get(name, own_rest) and (optional or name not in known) for name, optional in keywords.items()):
        return False
    return all(optional for name, optional in known.items() if name not in {**dict(positions), **keywords})


def _parts(parameters: list[str]) -> tuple[list[tuple[str, bool]], dict[str, bool], bool, bool]:
    """(positional parameters, keyword-only ones, has *args, has **kwargs); a parameter with whether it is optional."""
    positions, keywords, star, rest, after = [], {}, False, False, False
    for text in parameters:
        name, optional = text.rstrip("="), text.endswith("=")
        if text.startswith("**"):
            rest = True
        elif text.startswith("*"):
            after, star = True, star or text != "*"
        elif after:
            keywords[name] = optional
        else:
            positions.append((name, optional))
    return positions, keywords, star, rest


def standing(module: str, name: str, theirs: list[str] | None) -> str:
    """`same`, `wider` (takes every call that Triton's does, and others), `other` or `missing`."""
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return "missing"
    ours = parameters(found)
    if theirs is None or ours == theirs:
        return "same"
    return "other" if ours is None or not accepts(theirs, ours) else "wider"


@functools.cache
def all_standing() -> dict[str, dict[str, str]]:
    """Module -> name -> standing, found by a process of its own, as `import triton` must mean this package there."""
    program = "from tests.dropin.compare_names import print_all; print_all()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=HERE.parents[1]
    )
    return json.loads(done.stdout)


def print_all() -> None:
    """What `all_standing` reads."""
    import tritium

    tritium.install()
    found = {m: {n: standing(m, n, theirs) for n, theirs in names.items()} for m, names in NAMES.items()}
    print(json.dumps(found))
