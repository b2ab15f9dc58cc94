"""Dumped and overriding stages: written to a folder during a compile, and read from a folder of edited stages.

Folders and names are Triton's: `<cache.dump_dir>/<hash of the source>/<kernel>.<stage>`, and the same below
`cache.override_dir`. The hash is that of the source alone (function, types, constants), so that it does
not depend on compiler, target and options. An overridden stage is still made: its launch metadata is kept.
"""

from __future__ import annotations

import sys
from base64 import b32encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..ir.printer import print_op
from ..support import settings
from ..support.files import read_regular, write_regular
from ..support.folders import cache_folder
from ..support.hashing import sha256
from .source import IRSource, SourceError
from .stage_text import MLIR_STAGES, stated_options
from .text import read_module

__all__ = ["Replacements", "dump_stage", "folder_name", "with_text_locations"]

LONGEST_NAME = 150  # characters of a kernel's name in file names, as in Triton


def folder_name(source_hash: str) -> str:
    """The name of a source's folder: its hash, a hexadecimal number, to the base 32."""
    return b32encode(bytes.fromhex(source_hash)).decode().rstrip("=")


def dump_stage(src: Any, stage: str, text: str | bytes) -> Path:
    """Write a stage of a kernel to its folder; OSError if that is not possible."""
    folder = Path(settings.cache.dump_dir, folder_name(src.hash()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{src.name[:LONGEST_NAME]}.{stage}"
    write_regular(path, text if isinstance(text, bytes) else text.encode())
    return path


class Replacements:
    """The files that override a kernel's stages: those in its folder, or the one named by the option `ir_override`.

    `key`, with a hash of every file, becomes part of the kernel's. SourceError if the option names no file, and for
    files that are not regular.
    """

    def __init__(self, src: Any, options: Any, stages: Iterable[str]) -> None:
        self.files: dict[str, Path] = {}
        named = getattr(options, "ir_override", None)
        if settings.compilation.override:
            folder = Path(settings.cache.override_dir, folder_name(src.hash()))
            names = {stage: folder / f"{src.name[:LONGEST_NAME]}.{stage}" for stage in stages}
            self.files = {stage: path for stage, path in names.items() if path.exists()}
        elif named:
            path = Path(named)
            if not path.is_file() or path.suffix[1:] not in stages:
                raise SourceError(
                    f"ir_override={named!r} is not a file of a stage; the stages are: {', '.join(stages)}"
                )
            self.files = {path.suffix[1:]: path}
        self.key = "".join(f"{s}:{sha256(_read(path)).hexdigest()}," for s, path in self.files.items())

    def tell(self) -> None:
        """Print the used files, in Triton's words."""
        for path in self.files.values():
            print(f"Overriding kernel with file {path}", file=sys.stderr)

    def of(self, stage: str, metadata: dict[str, Any]) -> Any:
        """The override of a stage, None without one; launch options in its text are added to the metadata."""
        path = self.files.get(stage)
        if path is None:
            return None
        data = _read(path)
        if b"\0" in data:
            return data
        source = IRSource(path)
        if stage not in MLIR_STAGES:
            stated = stated_options(source.src)
            names = {"num_warps": "num_warps", "num_ctas": "num_ctas", "min_shared_mem": "shared"}
            metadata.update({names[name]: value for name, value in stated.items()})
        return source.make_ir(None, None)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise SourceError(f"the file of a stage cannot be read: {error}") from None


def with_text_locations(src: Any, stage: str, module: Any) -> Any:
    """A module whose locations are lines of its own text, which is written to a file."""
    folder = cache_folder() / "stages" / folder_name(src.hash())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{src.name[:LONGEST_NAME]}.{stage}"
    text = print_op(module) + "\n"
    write_regular(path, text.encode())
    print(f"Creating new locations for {path}", file=sys.stderr)
    return read_module(text, str(path))
