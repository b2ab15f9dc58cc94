"""The AMD backend as the compiler sees it: options, the table of stages, loading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...support import settings
from ...support.lazy import LazyModule
from ..compiler import Language, Mismatch, Stage
from ..errors import BackendError
from ..gpu import GPUBackend
from ..releases import llvm_release
from .options import HIPOptions
from .target import GENERATED, HIPTarget

__all__ = ["HIPBackend"]

_llvm = LazyModule("..llvm", __package__)
_inspection = LazyModule(".inspection", __package__)
_libamdhip64 = LazyModule(".libamdhip64", __package__)
_loader = LazyModule(".loader", __package__)


SMALL_BYTES = (1 << 31) - 1
"""The largest array that buffer instructions reach: they check 32-bit offsets."""


def _storage_bytes(arg: object) -> float:
    """The size of what an array is a view of, by `ptr_range()` or torch's `untyped_storage()`; infinite if unknown."""
    if hasattr(arg, "ptr_range"):
        return float(arg.ptr_range())
    return float(arg.untyped_storage().size()) if hasattr(arg, "untyped_storage") else float("inf")


class HIPBackend(GPUBackend):
    """Compiles for one HIPTarget, or `GPUTarget("hip", "gfx942", 64)`."""

    kind = "hip"
    binary_ext = "hsaco"
    target_class = HIPTarget
    options_class = HIPOptions
    stage_functions = LazyModule(".stages", __package__)

    def __init__(self, target: object) -> None:
        super().__init__(target)
        if not self.target.has_code_generation:
            self.planned_stages = ("ttgir", "llir", "amdgcn", "hsaco")

    def hash(self) -> str:
        """The target, and what `versions` has; the rest is in the package's own hash."""
        return f"{self.target.key},{self.versions()}"

    def versions(self) -> dict[str, str]:
        """LLVM's."""
        return {"LLVM": llvm_release()}

    @staticmethod
    def parse_attr(desc: str) -> list[list[object]]:
        """The meaning of a specialization's letters: D, divisible by 16; S, an array below 2 GB."""
        small: list[list[object]] = [["tt.pointer_range", 32]] if "S" in desc else []
        return [*GPUBackend.parse_attr(desc), *small]

    @staticmethod
    def get_tensor_specialization(arg: object, **kwargs: object) -> str:
        """The specialization of an array: as on all GPUs, and "S" where its storage has less than 2 GB."""
        small = "S" if _storage_bytes(arg) <= SMALL_BYTES else ""
        return GPUBackend.get_tensor_specialization(arg, **kwargs) + small

    def add_stages(self, stages: dict[str, Any], options: HIPOptions, language: object = None) -> None:
        """ttir -> ttgir -> llir -> (amdgcn, on demand) hsaco; only the first without code generation for the target.

        Kernels in Gluon start at ttgir, and need a target with code generation.

        LLVM generates code for an object file or for text, not for both at once: the text is generated when it is read.
        The emulator executes the text: for it, hsaco is made on demand instead. Both are made at once where the text
        may be replaced (`compilation.override`, hooks) or is to be shown (`amd.dump_amdgcn`, traces).
        """
        functions, build = self.stage_functions, _LazyBuild(self.stage_functions, options)
        if language == Language.GLUON:  # its frontend makes tensors with layouts
            if self.planned_stages:
                raise BackendError(
                    f"kernels in Gluon are compiled for {' and '.join(GENERATED)} of AMD's GPUs, not for"
                    f" {self.target.arch}\nhint: TRITIUM_TARGET=emulated:gfx942 runs them on the emulator"
                )
            stages["ttgir"] = Stage(lambda module, metadata: functions.gluon_to_ttgir(module, metadata, options))
        else:
            stages["ttir"] = Stage(lambda module, metadata: functions.make_ttir(module, metadata, options))
            if self.planned_stages:
                return
            stages["ttgir"] = Stage(lambda module, metadata: functions.make_ttgir(module, metadata, options))
        stages["llir"] = Stage(lambda module, metadata: build().make_llir(module, metadata))
        whole = _needs_assembly_text()
        stages["amdgcn"] = Stage(
            lambda llir, metadata: build().make_amdgcn(llir, metadata),
            source="llir",
            on_demand=not (whole or options.emulated),
        )
        stages["hsaco"] = Stage(
            lambda code, metadata: build().make_hsaco(code, metadata),
            source="amdgcn" if whole else "llir",
            on_demand=options.emulated and not whole,
        )

    @classmethod
    def make_ttir(cls, module: object, metadata: dict[str, object], options: HIPOptions) -> object:
        """The stage, for hooks that wrap it."""
        return cls.stage_functions.make_ttir(module, metadata, options)

    @classmethod
    def make_ttgir(cls, module: object, metadata: dict[str, object], options: HIPOptions) -> object:
        """The stage, for hooks that wrap it."""
        return cls.stage_functions.make_ttgir(module, metadata, options)

    def make_llir(self, module: object, metadata: dict[str, object], options: HIPOptions) -> object:
        """The stage, for callers that run stages one by one."""
        return self.stage_functions.Build(options).make_llir(module, metadata)

    def make_amdgcn(self, llir: object, metadata: dict[str, object], options: HIPOptions) -> object:
        """The stage, for callers that run stages one by one."""
        return self.stage_functions.Build(options).make_amdgcn(llir, metadata)

    def make_hsaco(self, code: object, metadata: dict[str, object], options: HIPOptions) -> object:
        """The stage, for callers that run stages one by one: `code` is LLVM IR, or assembly."""
        return self.stage_functions.Build(options).make_hsaco(code, metadata)

    def gluon_to_ttgir(self, module: object, metadata: dict[str, object], options: HIPOptions) -> object:
        """The stage of kernels in Gluon, for callers that run stages one by one."""
        return self.stage_functions.gluon_to_ttgir(module, metadata, options)

    def load(self, code: bytes, metadata: Mapping[str, object]) -> object:
        """The code object, for each GPU; BackendError where there is no HIP runtime."""
        if self.planned_stages:
            return super().load(code, metadata)
        try:
            hip = _libamdhip64.library()
        except _libamdhip64.NoHIPError as error:
            raise BackendError(
                f"kernels for {self.target.key} cannot be launched here: {error}\n"
                f"hint: TRITIUM_TARGET=emulated:{self.target.arch} runs them on the emulator"
            ) from None
        return _loader.LoadedModules(code, metadata, hip)

    def get_target_name(self, options: HIPOptions) -> str:
        """`hip:gfx942`: the target of a module, `ttg.target`."""
        return f"hip:{options.target.arch}"

    def inspect(self, asm: Mapping[str, object], metadata: Mapping[str, object], launch: object = None) -> object:
        """Resources, occupancy, instructions by unit; BackendError for a roofline bound, whose rates are not known."""
        if launch is not None:
            raise BackendError(f"the roofline bound of {self.target.key} is not known: inspect it without a grid")
        return _inspection.inspect(asm, metadata, self.target)

    def listing(self, asm: Mapping[str, object], metadata: Mapping[str, object]) -> str:
        """Assembly between the lines of the source."""
        return str(_inspection.get_listing(asm))

    def missing_stage(self, name: str, stages: list[str]) -> Exception:
        """As for other backends, with the architectures that have all stages."""
        error = super().missing_stage(name, stages)
        error.args = (f"{error}\nhint: machine code is generated for {' and '.join(GENERATED)}",)
        return error

    def mismatch(self, stage: str, backend: str, arch: str, options: HIPOptions) -> Mismatch | None:
        """Accept `llir`, which names no architecture."""
        if backend == self.kind and not arch:
            return None
        return super().mismatch(stage, backend, arch, options)

    def prepare(self) -> None:
        """The passes, the conversions and LLVM."""
        _llvm.load_gpu_library_beside()
        _ = self.stage_functions.make_ttir


def _needs_assembly_text() -> bool:
    """Whether settings show assembly to somebody during a compile."""
    compilation, runtime = settings.compilation, settings.runtime
    shown = settings.amd.dump_amdgcn or compilation.trace is not None
    return bool(shown or compilation.override or runtime.add_stages_inspection_hook is not None)


class _LazyBuild:
    """The `Build` of one compile, made when its first stage runs: a cached kernel imports none of it."""

    def __init__(self, functions: LazyModule, options: HIPOptions) -> None:
        self._make: Callable[[], Any] = lambda: functions.Build(options)
        self._build: object = None

    def __call__(self) -> Any:
        if self._build is None:
            self._build = self._make()
        return self._build
