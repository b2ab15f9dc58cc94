"""Files of a kernel's stages, for tools that read them by path as in Triton's cache.

The cache stores a kernel in one file. Listeners, hooks and `kernel.metadata_group` get a path for each stage and for
the metadata (`add.ttir`, `add.ptx`, `add.json`), below `stages/` in the cache's folder, or in a temporary folder that
the process removes at exit if that is not writable. This package never reads them. Files of kernels that are no longer
in the cache are removed when it is pruned or cleared (`inventory`).
"""

from __future__ import annotations

import atexit
import functools
import json
import os
from collections.abc import Mapping

from ..support import settings
from ..support.files import read_regular
from ..support.folders import is_trusted, replace_file
from ..support.lazy import LazyModule

__all__ = ["FOLDER", "stage_paths"]

_shutil, _tempfile = LazyModule("shutil"), LazyModule("tempfile")  # rarely needed

FOLDER = "stages"
_MAX_NAME = 150  # characters of a kernel's name in those of its files, as in Triton


def stage_paths(
    name: str, key: str, stages: Mapping[str, str | bytes | None], metadata: Mapping[str, object]
) -> dict[str, str]:
    """`name.stage` -> path, in the order of the stages, then `name.json`; missing files are written.

    `key` is the kernel's hash; stages that are None were not made and get no file.
    """
    name = name.replace(os.sep, "_")[:_MAX_NAME]
    contents = {f"{name}.{stage}": _bytes(text) for stage, text in stages.items() if text is not None}
    contents[f"{name}.json"] = json.dumps(metadata, default=str).encode()
    try:
        if settings.cache.disable:
            raise OSError("the cache is disabled")
        return _write(os.path.join(settings.cache.dir, FOLDER, key), contents)
    except OSError:
        return _write(os.path.join(_temporary(), key), contents)


def _bytes(stage: str | bytes) -> bytes:
    return stage if isinstance(stage, bytes) else str(stage).encode()


def _write(folder: str, contents: dict[str, bytes]) -> dict[str, str]:
    os.makedirs(folder, 0o700, exist_ok=True)
    if not is_trusted(os.stat(folder)):
        raise OSError("another user could write to it")
    paths = {name: os.path.join(folder, name) for name in contents}
    for name, path in paths.items():
        if not _is_there(path, contents[name]):
            replace_file(path, contents[name])
    return paths


def _is_there(path: str, content: bytes) -> bool:
    """Whether a file that only this user can write has this content: locations in it may be former ones."""
    try:
        status = os.lstat(path)
        if status.st_size != len(content) or not is_trusted(status):
            return False
        return read_regular(path) == content
    except OSError:
        return False


@functools.cache
def _temporary() -> str:
    folder: str = _tempfile.mkdtemp(prefix="tritium-stages-")
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # a forked process must not remove the folder at exit
        _shutil.rmtree(folder, ignore_errors=True)
