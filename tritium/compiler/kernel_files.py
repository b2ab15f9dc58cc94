"""A kernel from the files of its stages: `CompiledKernel(src, kernel.metadata_group, kernel.hash)`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..backends.compiler import BaseBackend, GPUTarget
from .backend import make_backend
from .source import SourceError

__all__ = ["read_group"]


def read_group(group: Mapping[str, str], key: str) -> tuple[BaseBackend, dict[str, Any], dict[str, str | bytes]]:
    """The backend, the metadata and the stages in files (`name.stage` -> path, and one `name.json`).

    SourceError for a group without metadata, or whose metadata names no target; OSError for files that are not there.
    """
    described = next((path for name, path in group.items() if name.endswith(".json")), None)
    if described is None:
        raise SourceError(
            f"a kernel's files need one with metadata (name.json); there are: {', '.join(group) or 'none'}"
        )
    metadata = json.loads(Path(described).read_bytes())
    target = metadata.get("target")
    if isinstance(target, list) and len(target) == len(GPUTarget._fields):
        metadata["target"] = target = dict(
            zip(GPUTarget._fields, target)
        )  # a GPUTarget, which `json` writes as a tuple
    if not isinstance(target, dict):
        raise SourceError(f"{described} holds no metadata of a kernel: it names no target")
    backend = make_backend(GPUTarget(target["backend"], target["arch"], target["warp_size"]))
    stages: dict[str, str | bytes] = {}
    for name, path in group.items():
        if not name.endswith(".json"):
            stage = name.rpartition(".")[2]
            data = Path(path).read_bytes()
            stages[stage] = data if stage == backend.binary_ext else data.decode()
    metadata["hash"] = key
    return backend, metadata, stages
