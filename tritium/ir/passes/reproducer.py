"""A reproducer: a file with IR and the passes to run on it, in the form that MLIR's tools write and read.

module { … }

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse,dce)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""

from __future__ import annotations

from typing import NamedTuple

from ..parser import parse_module
from ..resources import Resources, resources_text

__all__ = ["Reproducer", "read_reproducer", "reproducer_text", "take_reproducer"]

SECTION, OWNER = "external_resources", "mlir_reproducer"


class Reproducer(NamedTuple):
    """What a reproducer asks for."""

    pipeline: str
    verify_each: bool


def reproducer_text(ir: str, pipeline: str, *, verify_each: bool = True) -> str:
    """The content of a reproducer file."""
    note: Resources = {SECTION: {OWNER: {"pipeline": pipeline, "disable_threading": True, "verify_each": verify_each}}}
    return f"{ir.rstrip()}\n\n{resources_text(note)}\n"


def take_reproducer(resources: Resources) -> Reproducer | None:
    """What the resources of a file say about passes, taken out of them; None when they say nothing."""
    owners = resources.get(SECTION, {})
    note = owners.pop(OWNER, {})
    if not owners:
        resources.pop(SECTION, None)
    pipeline = note.get("pipeline")
    return Reproducer(pipeline, bool(note.get("verify_each"))) if isinstance(pipeline, str) else None


def read_reproducer(text: str) -> Reproducer | None:
    """What the text of a file says about passes; None when it says nothing."""
    resources: Resources = {}
    parse_module(text, allow_unregistered=True, resources=resources)
    return take_reproducer(resources)
