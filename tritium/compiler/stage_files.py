"""Stages in folders: written while a kernel is compiled, and taken from there after somebody edited them.

Folders and names are Triton's: `<cache.dump_dir>/<hash of the source>/<kernel>.<stage>`, and the same below
`cache.override_dir`. The hash is that of the source alone (function, types, constants), so that it stays the same
whatever the compiler, target and options are. A stage that is replaced is made all the same: what it says of the
launch is kept.
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

LONGEST_NAME = 150  # of a kernel in file names, as Triton cuts it


def folder_name(source_hash: str) -> str:
    """The name of a source's folder: its hash, a hexadecimal number, to the base 32."""
    return b32encode(bytes.fromhex(source_hash)).decode().rstrip("=")


def dump_stage(src: Any, stage: str, text: str | bytes) -> Path:
    """Write a stage of a kernel to its folder; OSError where that cannot be."""
    folder = Path(settings.cache.dump_dir, folder_name(src.hash()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{src.name[:LONGEST_NAME]}.{stage}"
    write_regular(path, text if isinstance(text, bytes) else text.encode())
    return path


class Replacements:
    """The files that stand for a kernel's stages: those in its folder, or the one that the option `ir_override` names.

    `key` becomes part of the kernel's: it has a hash of every file. SourceError where the option names no file, and for
    what is no regular file.
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
                raise SourceError(f"ir_override={named!r} is no file of a stage; there are: {', '.join(stages)}")
            self.files = {path.suffix[1:]: path}
        self.key = "".join(f"{s}:{sha256(_read(path)).hexdigest()}," for s, path in self.files.items())

    def tell(self) -> None:
        """Say which files are used, as Triton words it."""
        for path in self.files.values():
            print(f"Overriding kernel with file {path}", file=sys.stderr)

    def of(self, stage: str, metadata: dict[str, Any]) -> Any:
        """What stands for a stage, None where nothing does; how its text says it is launched goes into the metadata."""
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
    """A module whose operations are located in its own text, which is written to a file for whoever looks there."""
    folder = cache_folder() / "stages" / folder_name(src.hash())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{src.name[:LONGEST_NAME]}.{stage}"
    text = print_op(module) + "\n"
    write_regular(path, text.encode())
    print(f"Creating new locations for {path}", file=sys.stderr)
    return read_module(text, str(path))
