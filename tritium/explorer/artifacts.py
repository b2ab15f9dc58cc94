"""Compiled kernels kept beside a trace: the stages with locations, machine code and metadata, which a trace lacks."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping

from ..backends.compiler import BaseBackend
from ..backends.errors import BackendError
from ..compiler import CompiledKernel, GPUTarget
from ..compiler.backend import make_backend, named_target
from ..support import TritiumError
from ..support.dataclasses import dataclass
from .json_types import Json, Record

__all__ = ["Artifact", "changed_at", "keep_files", "keep_kernel", "load"]


@dataclass
class Artifact:
    """A compiled kernel: its backend, its stages (text or machine code), and the metadata."""

    backend: BaseBackend
    stages: Record
    metadata: Record


def keep_kernel(folder: str, kernel: CompiledKernel, key: str = "") -> None:
    """Write a compiled kernel into the folder, under its key or another; assembly that is made on demand is made."""
    stages = {}
    for name in kernel.asm:
        try:
            stages[name] = kernel.asm[name]
        except (TritiumError, BackendError, KeyError):
            continue  # a stage that the target does not have
    described = kernel.backend.describe()
    _write(folder, key or kernel.hash, (described.backend, described.arch), kernel.values, stages)


def keep_files(folder: str, metadata: Mapping[str, Json], files: Mapping[str, str]) -> None:
    """The same for the files that a listener of compiles gets: `name.stage` -> path."""
    stages: Record = {}
    for name, path in files.items():
        stage = name.rpartition(".")[2]
        if stage != "json" and os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            stages[stage] = data if stage in ("cubin", "hsaco", "obj") else data.decode(errors="replace")
    target = metadata["target"]
    values = {**metadata, "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size}}
    _write(folder, metadata["hash"], (target.backend, target.arch), values, stages)


def _write(folder: str, key: str, target: tuple[str, object], metadata: Mapping[str, Json], stages: Record) -> None:
    known = {
        name: {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in stages.items()
        if isinstance(value, (str, bytes))
    }
    path = os.path.join(folder, f"{key}.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"target": target, "metadata": metadata, "stages": known}, file, default=str)
    os.replace(path + ".part", path)


def changed_at(folder: str, key: str) -> int:
    """When the kernel was kept, in nanoseconds; 0 if it was not."""
    try:
        return os.stat(os.path.join(folder, f"{key}.json")).st_mtime_ns if key.isalnum() else 0
    except FileNotFoundError:
        return 0


def load(folder: str, key: str) -> Artifact | None:
    """A kernel that was kept; None if it was not."""
    path = os.path.join(folder, f"{key}.json")
    if not key.isalnum() or not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        found: Mapping[str, Json] = json.load(file)
    stages = {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in found["stages"].items()
    }
    backend, arch = found["target"]
    target = GPUTarget("cpu", arch, 1) if backend == "cpu" else named_target(backend, str(arch))
    return Artifact(make_backend(target), stages, dict(found["metadata"]))
