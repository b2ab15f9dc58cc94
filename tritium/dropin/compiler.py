"""`triton.compiler.compiler`: reading texts of stages, times of a compile, kernels from files."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..compiler import CompileTimes
from ..compiler.module_views import Context
from ..compiler.stage_text import MLIR_STAGES
from ..compiler.text import read_module
from ..compiler.version import package_key
from ..support import TritiumError
from ..support.lazy import LazyModule
from ..support.settings import compilation
from .refusal import refused_attributes

__all__ = ["AsmDict", "CompileTimer", "convert_type_repr", "filter_traceback", "get_cache_key", "parse"]

_disassembler = LazyModule("..backends.nvidia.disassembler", __package__)


def parse(full_name: str | Path, ext: str, context: Any = None) -> Any:
    """The stage in a file: a module for MLIR, bytes for machine code, else the text; TritiumError for no stage."""
    path = Path(full_name)
    if ext in ("cubin", "hsaco", "obj"):
        return path.read_bytes()
    if ext in ("llir", "ptx", "amdgcn", "asm"):
        return path.read_text(encoding="utf-8")
    if ext not in MLIR_STAGES:
        raise TritiumError(f"{path.name}: there is no stage {ext!r}")
    module = read_module(path.read_text(encoding="utf-8"), str(path))
    module.context = Context() if context is None else context
    return module


def get_cache_key(src: Any, backend: Any, backend_options: Any, env_vars: Mapping[str, Any]) -> str:
    """A text that is equal for equal compiles: source, target and tools, options, settings.

    It is for caches of other programs; `kernel.hash` is another key, which includes stages of hooks.
    """
    parts = (package_key(), src.hash(), backend.hash(), backend_options.hash(), sorted(env_vars.items()))
    return "-".join(map(str, parts))


_FRONTEND = ("/tritium/frontend/", "/ast.py")


def filter_traceback(error: BaseException) -> None:
    """Drop the frames of the frontend from the traceback of an error, its cause and its context, so that the user's
    remain; all are kept with the setting `compilation.front_end_debugging`."""
    if compilation.front_end_debugging:
        return
    for other in (error.__cause__, error.__context__):
        if other is not None:
            filter_traceback(other)
    kept = []
    trace = error.__traceback__
    while trace is not None:
        if not any(part in trace.tb_frame.f_code.co_filename.replace("\\", "/") for part in _FRONTEND):
            kept.append(trace)
        trace = trace.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    error.__traceback__ = kept[0] if kept else None


class CompileTimer:
    """Times a compile of the caller: IR, stages, storing; `end()` returns the CompileTimes for listeners."""

    def __init__(self) -> None:
        self._last = time.perf_counter_ns()
        self._times = CompileTimes()
        self._hit = True

    def _passed(self) -> int:
        now = time.perf_counter_ns()
        passed, self._last = (now - self._last) // 1000, now
        return passed

    def finished_ir_initialization(self) -> None:
        """Record the end of the first IR."""
        self._times.ir_initialization, self._hit = self._passed(), False

    def stage_finished(self, stage_name: str) -> None:
        """Record the end of a stage."""
        self._times.lowering_stages.append((stage_name, self._passed()))

    def end(self) -> CompileTimes:
        """Record the end of storing; after a hit all of the time is that of the lookup."""
        if self._hit:
            self._times.ir_initialization = self._passed()
        else:
            self._times.store_results = self._passed()
        return self._times


class AsmDict(dict[str, Any]):
    """Stages by name; `sass` is made from `cubin` on demand."""

    def __missing__(self, key: str) -> Any:
        if key != "sass" or "cubin" not in self:
            raise KeyError(key)
        self[key] = made = _disassembler.get_sass(self["cubin"])
        return made


def convert_type_repr(x: str) -> str:
    """The type of an argument in MLIR text as signatures spell pointers.

    >>> convert_type_repr("!tt.ptr<f32> {tt.divisibility = 16 : i32}"), convert_type_repr("i32")
    ('*f32', 'i32')
    """
    text = re.sub(r" \{[^}]*\}", "", x)
    pointer = re.search(r"!tt\.ptr<([^,>]+)", text)
    return text if pointer is None else f"*{pointer[1]}"


_READ = "IRSource(path).signature has the types of the kernel in a text"

__getattr__ = refused_attributes(
    __name__, {"arg_type_pattern prototype_pattern ptx_arg_type_pattern ptx_prototype_pattern": _READ}
)
