"""The command `tritium link` (see `link`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..support import TritiumError
from .aot.interface import AotError
from .aot.link import dispatcher, read_header
from .aot.output import write_together

__all__ = ["main"]


def main(headers: Sequence[str], out: str, prefix: str = "") -> int:
    """Write OUT.h and OUT.c for the kernels of these headers; the exit status."""
    try:
        print("\n".join(map(str, _link(headers, out, prefix))))
    except (TritiumError, OSError) as error:
        print(f"tritium link: error: {error}", file=sys.stderr)
        return 1
    return 0


def _link(headers: Sequence[str], out: str, prefix: str) -> list[Path]:
    missing = next((path for path in headers if not Path(path).is_file()), None)
    if missing is not None:
        raise AotError(f"there is no file {missing!r}")
    paths = {ending: Path(out).with_suffix(ending) for ending in (".h", ".c")}
    # an earlier run's own header may be among those that a pattern names
    chosen = list({p.resolve(): p for p in map(Path, headers) if p.resolve() != paths[".h"].resolve()}.values())
    if not chosen:
        raise AotError(f"{paths['.h']} is what is written; no header of a kernel is named")
    folder = paths[".h"].parent
    variants = [read_header(path, os.path.relpath(path, folder)) for path in chosen]
    files = dispatcher(variants, paths[".h"].stem, prefix)
    return write_together({paths[ending]: contents for ending, contents in files.items()})
