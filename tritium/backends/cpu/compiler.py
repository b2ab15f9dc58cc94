"""The CPU backend as the compiler sees it: options, the stage table, loading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...support.dataclasses import fields
from ...support.lazy import LazyModule
from ..compiler import BaseBackend, GPUTarget, Language, Mismatch, Stage
from ..releases import llvm_release
from .driver import LoadedKernel, load_kernel
from .errors import BackendError
from .llvm import warm_up
from .options import CPUOptions
from .printing import print_callback
from .target import CPUTarget, named_target

if TYPE_CHECKING:
    from .inspection import Inspection

__all__ = ["CPUBackend"]

_stages = LazyModule(".stages", __package__)
_gluon_stages = LazyModule(".gluon_stages", __package__)
_inspection = LazyModule(".inspection", __package__)

CODE_VERSION = "1"


class CPUBackend(BaseBackend):
    """Compiles for one CPUTarget, or `GPUTarget("cpu", name, ...)`.

    The name is one of `target_names()`; "", 0 (as in Triton's plugins for CPUs), "host" and the host's own name mean
    this machine.
    """

    binary_ext = "obj"

    def __init__(self, target: Any) -> None:
        if not isinstance(target, CPUTarget):
            host = named_target("host")
            name = str(target.arch)
            target = host if name in ("", "0", "host", host.cpu, host.arch) else named_target(name)
        super().__init__(target)

    @staticmethod
    def supports_target(target: Any) -> bool:
        """Any target whose backend is called "cpu"."""
        return getattr(target, "backend", None) == "cpu"

    def hash(self) -> str:
        """The target with all its features, and LLVM; the rest is in the package's own hash."""
        return f"{self.target.key},{self.versions()}"

    def versions(self) -> dict[str, str]:
        """LLVM's."""
        return {"LLVM": llvm_release()}

    def keeps_places(self, options: CPUOptions) -> bool:
        """Only checks and line tables say where they stand."""
        return options.sanitize or options.guard_stores or options.debug or options.line_info

    def parse_options(self, options: Mapping[str, Any]) -> CPUOptions:
        """See `CPUOptions.parse`."""
        return CPUOptions.parse(options)

    def option_names(self) -> Iterable[str]:
        """The fields of `CPUOptions`."""
        return [f.name for f in fields(CPUOptions)]

    def add_stages(self, stages: dict[str, Any], options: CPUOptions, language: Any = None) -> None:
        """(ttgir, in Gluon ->) ttir -> ttcir -> llir -> (asm, on demand) obj"""
        target = self.target
        functions = _stages
        if language == Language.GLUON:
            stages["ttgir"] = Stage(lambda module, metadata: _gluon_stages.make_ttgir(module))
            functions = _gluon_stages
        stages["ttir"] = Stage(lambda module, metadata: functions.make_ttir(module, metadata, options))
        stages["ttcir"] = Stage(lambda module, metadata: _stages.make_ttcir(module, metadata, target, options))
        stages["llir"] = Stage(lambda module, metadata: _stages.make_llir(module, metadata, target, options))
        stages["asm"] = Stage(
            lambda text, metadata: _stages.make_asm(text, target, options.opt_level, options.line_info),
            source="llir",
            on_demand=True,
        )
        stages["obj"] = Stage(lambda text, metadata: _stages.make_obj(text, target, options.opt_level), source="llir")

    def mismatch(self, stage: str, backend: str, arch: str, options: Any) -> Mismatch | None:
        """Code for another kind of processor, as LLVM's triple names it."""
        if backend == "cpu" and arch.replace("arm64", "aarch64") == self.target.arch:
            return None
        return super().mismatch(stage, backend, arch, options)

    def prepare(self) -> None:
        """The passes, the conversions and LLVM."""
        _ = _stages.make_ttir
        warm_up(self.target)

    def load(self, code: bytes, metadata: Mapping[str, Any]) -> LoadedKernel:
        """Machine code into this process; BackendError for code of another machine."""
        if self.target.arch != named_target("host").arch:
            raise BackendError(f"the kernel was compiled for {self.target.arch} and cannot run on this machine")
        sites = metadata.get("sites", [])
        callback = print_callback(sites) if any(s["kind"] == "print" for s in sites) else None
        return load_kernel(code, metadata["name"], callback)

    def inspect(self, asm: Mapping[str, Any], metadata: Mapping[str, Any], launch: Any = None) -> Inspection:
        """Vectors, spills, calls and loops of the machine code, and what is slow."""
        return _inspection.inspect(asm, metadata, self.target, launch)  # type: ignore[no-any-return]

    def listing(self, asm: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
        """Assembly between the lines of the source."""
        return _inspection.get_listing(asm, metadata)  # type: ignore[no-any-return]

    def located_options(self) -> dict[str, Any]:
        """Line information is omitted unless requested."""
        return {"line_info": True}

    def describe(self) -> GPUTarget:
        """Triton's three values."""
        return GPUTarget("cpu", self.target.cpu or self.target.arch, 1)
