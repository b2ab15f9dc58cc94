"""The target stated in the text of a stage, and its check against the target of the compile.

`ttgir` states it in an attribute (`ttg.target = "cuda:90"`), `llir` by LLVM's triple, `ptx` by `.target sm_90a`,
`amdgcn` by `.amdgcn_target`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from ..backends.compiler import BaseBackend, GPUTarget, Mismatch
from ..support import Diagnostic
from .backend import named_target
from .source import IRSource, SourceError

__all__ = ["StatedTarget", "TargetWarning", "check_target", "choose_target", "other_target_hint", "stated_target"]

_SAYS = {
    "ttgir": re.compile(r'\bttg\.target"?\s*=\s*"(?P<kind>\w+):(?P<arch>\w+)"'),
    "llir": re.compile(r'^target triple = "(?P<kind>[\w.]+)[^"\n]*"', re.M),
    "amdgcn": re.compile(r'^[ \t]*\.amdgcn_target "(?P<kind>amdgcn)-amd-amdhsa--(?P<arch>gfx\w+)', re.M),
    "ptx": re.compile(r"^[ \t]*\.target\s+(?P<kind>sm)_(?P<arch>\d+[af]?)\b", re.M),
}
_LANES = re.compile(r'\bttg\.threads-per-warp"?\s*=\s*(\d+)')
_STAGES = ("ttir", "ttgir", "ttcir", "llir", "ptx", "amdgcn")
_KINDS = {"sm": "cuda", "nvptx64": "cuda", "nvptx": "cuda", "amdgcn": "hip"}


class TargetWarning(UserWarning):
    """A text for another GPU of the same kind: it runs, and may be slower than necessary."""


class StatedTarget(NamedTuple):
    """`backend` and `arch` (empty if not stated) as in targets, and the position in the text."""

    backend: str
    arch: str
    start: int
    end: int

    @property
    def target(self) -> GPUTarget | None:
        """The target by name; None if the text does not state the architecture."""
        arch = self.arch.rstrip("af") if self.backend == "cuda" else self.arch
        if not arch or self.backend == "cpu":
            return None
        return named_target(self.backend, arch)


def stated_target(text: str, stage: str) -> StatedTarget | None:
    """The target stated in the text of a stage, None without one.

    >>> stated_target('module attributes {ttg.target = "cuda:90"} {}', "ttgir")[:2]
    ('cuda', '90')
    """
    found = _SAYS[stage].search(text) if stage in _SAYS else None
    if found is None:
        return None
    kind, arch = found["kind"], found.groupdict().get("arch") or ""
    if stage == "llir" and kind not in _KINDS:
        kind, arch = "cpu", kind
    return StatedTarget(_KINDS.get(kind, kind), arch, found.start(), found.end())


def choose_target(src: Any, active: Callable[[], Any]) -> Any:
    """The target of a source without an explicit one: the active one, unless the text is for another kind of device."""
    target = active()
    stated = stated_target(src.src, src.ext) if isinstance(src, IRSource) else None
    if stated is None or stated.target is None or stated.backend == target.backend:
        return target
    return stated.target


def check_target(src: IRSource, backend: BaseBackend, options: Any) -> None:
    """SourceError, or a TargetWarning, if the text was made for another target, or for warps of another size."""
    stated = stated_target(src.src, src.ext)
    found = None if stated is None else backend.mismatch(src.ext, stated.backend, stated.arch, options)
    if found is not None and stated is not None:
        message = _rendered(src, found, stated.start, stated.end)
        if found.fatal:
            raise SourceError(message)
        warnings.warn(message, TargetWarning, stacklevel=4)
    lanes = _LANES.search(src.src) if src.ext == "ttgir" else None
    target = backend.describe()
    if lanes is not None and int(lanes[1]) != target.warp_size:
        what = f"this ttgir has warps of {int(lanes[1])} threads, those of {target.backend}:{target.arch} have "
        hint = f"compile the kernel's ttir for {target.backend}:{target.arch}"
        raise SourceError(_rendered(src, Mismatch(f"{what}{target.warp_size}", hint), lanes.start(), lanes.end()))


def _rendered(src: IRSource, found: Mismatch, start: int, end: int) -> str:
    """The message of a mismatch, at a range of the text."""
    return Diagnostic(
        found.message,
        src.path.name,
        src.src.count("\n", 0, start) + 1,
        start - src.src.rfind("\n", 0, start),
        src.src.split("\n"),
        found.hint,
        length=end - start,
        severity="error" if found.fatal else "warning",
        context=0,
    ).render()


def other_target_hint(src: IRSource) -> str:
    """A hint for a file whose stage the target does not have, for an error message; may be empty."""
    stated = stated_target(src.src, src.ext)
    if stated is not None and stated.target is not None:
        return f"\nhint: the file says that it was made for {stated.backend}:{stated.target.arch}: give that as target"
    if src.ext not in _STAGES:
        return f"\nhint: the end of a file's name says which stage it is: {', '.join(_STAGES)}"
    return "\nhint: give a target that has it, such as cuda:90" if src.ext in _SAYS else ""
