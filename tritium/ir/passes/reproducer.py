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

import re
from typing import NamedTuple

from ...support.text import quote, unescape

__all__ = ["Reproducer", "read_reproducer", "reproducer_text", "without_sections"]

_section = re.compile(r"\{-#(.*?)#-\}", re.DOTALL)
_record = re.compile(r"\bmlir_reproducer\s*:\s*\{([^{}\"]*(?:\"(?:[^\"\\]|\\.)*\"[^{}\"]*)*)\}", re.DOTALL)
_pipeline = re.compile(r"\bpipeline\s*:\s*\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_flag = re.compile(r"\b(verify_each|disable_threading)\s*:\s*(true|false)")


class Reproducer(NamedTuple):
    """What a reproducer asks for; `at` is where in the file the pipeline's text stands."""

    pipeline: str
    verify_each: bool
    at: int


def reproducer_text(ir: str, pipeline: str, *, verify_each: bool = True) -> str:
    """The content of a reproducer file."""
    flag = "true" if verify_each else "false"
    return (
        f"{ir.rstrip()}\n\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n"
        f"      pipeline: {quote(pipeline)},\n      disable_threading: true,\n      verify_each: {flag}\n"
        "    }\n  }\n#-}\n"
    )


def read_reproducer(text: str) -> Reproducer | None:
    """What the sections `{-# … #-}` of a file say about passes; None when they say nothing."""
    for section in _section.finditer(text):
        record = _record.search(section[1])
        pipeline = _pipeline.search(record[1]) if record else None
        if record is None or pipeline is None:
            continue
        flags = dict(_flag.findall(record[1][: pipeline.start()] + record[1][pipeline.end() :]))
        at = section.start(1) + record.start(1) + pipeline.start(1)
        return Reproducer(unescape(pipeline[1]), flags.get("verify_each") == "true", at)
    return None


def without_sections(text: str) -> str:
    """`text` with blanks where its sections `{-# … #-}` are, so that places in it stay the same."""
    return _section.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text) if "{-#" in text else text
