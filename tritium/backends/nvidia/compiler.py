"""The NVIDIA backend as the compiler sees it: options, the table of stages, loading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...support.folders import file_digest
from ...support.lazy import LazyModule
from ..compiler import Language, Mismatch, Stage
from ..gpu import GPUBackend
from ..releases import llvm_release
from .options import CUDAOptions
from .target import CUDATarget
from .toolchain import find_tool, tool_release

if TYPE_CHECKING:
    from .driver import LoadedCubin
    from .inspection import Inspection

__all__ = ["CUDABackend", "min_dot_size", "sm_arch_from_capability"]

_driver = LazyModule(".driver", __package__)
_driver_jit = LazyModule(".driver_jit", __package__)
_inspection = LazyModule(".inspection", __package__)
_codegen = LazyModule(".codegen", __package__)
_llvm = LazyModule("..llvm", __package__)
_disassembler = LazyModule(".disassembler", __package__)


def min_dot_size(target: Any) -> Callable[[Any, Any], tuple[int, int, int]]:
    """The function from the operand types of `tl.dot` to the minimum M, N and K on `target`."""
    cuda = CUDATarget.of(target)

    def check_dot_compatibility(lhs_type: Any, rhs_type: Any) -> tuple[int, int, int]:
        return cuda.min_dot_size(lhs_type.scalar.primitive_bitwidth, rhs_type.scalar.primitive_bitwidth)

    return check_dot_compatibility


def sm_arch_from_capability(capability: int) -> str:
    """The architecture that ptxas compiles for.

    >>> sm_arch_from_capability(80), sm_arch_from_capability(90)
    ('sm_80', 'sm_90a')
    """
    return f"sm_{capability}{'a' if capability >= 90 else ''}"


class CUDABackend(GPUBackend):
    """Compiles for one CUDATarget, or `GPUTarget("cuda", 90, 32)`."""

    kind = "cuda"
    binary_ext = "cubin"
    target_class = CUDATarget
    options_class = CUDAOptions
    stage_functions = LazyModule(".stages", __package__)

    def hash(self) -> str:
        """The target, and what `versions` has; the rest is in the package's own hash."""
        return f"{self.target.key},{self.versions()}"

    def versions(self) -> dict[str, str]:
        """The assembler's and LLVM's, and what the device library holds."""
        assembler, library = find_tool("ptxas"), find_tool("libdevice")
        return {
            "ptxas": self._driver_compiler() or "none" if assembler is None else tool_release(assembler),
            "LLVM": llvm_release(),
            "libdevice": "none" if library is None else file_digest(library.path),
        }

    def _driver_compiler(self) -> str:
        """The compiler in this machine's CUDA driver, used instead of ptxas: "driver 13.0"; "" without one."""
        release = _driver_jit.driver_compiler(self.target.capability)
        return "" if release is None else f"driver {release[0]}.{release[1]}"

    def add_stages(self, stages: dict[str, Any], options: CUDAOptions, language: Any = None) -> None:
        """ttir -> ttgir -> llir -> ptx -> cubin; without an assembler or the driver's compiler, accessing the
        last says what to install."""
        functions = self.stage_functions
        build = _LazyBuild(functions, options)

        def run(stage: str, ours: Callable[[Any, dict[str, Any]], Any]) -> Callable[[Any, dict[str, Any]], Any]:
            return self._replaced(f"make_{stage}", options) or ours

        if language == Language.GLUON:  # its frontend makes tensors with layouts
            stages["ttgir"] = Stage(lambda module, metadata: functions.gluon_to_ttgir(module, metadata, options))
        else:
            stages["ttir"] = Stage(run("ttir", lambda module, metadata: functions.make_ttir(module, metadata, options)))
            stages["ttgir"] = Stage(
                run("ttgir", lambda module, metadata: functions.make_ttgir(module, metadata, options))
            )
        stages["llir"] = Stage(run("llir", lambda module, metadata: build().make_llir(module, metadata)))
        stages["ptx"] = Stage(run("ptx", lambda llir, metadata: build().make_ptx(llir, metadata)))
        stages["cubin"] = Stage(
            run("cubin", lambda ptx, metadata: build().make_cubin(ptx, metadata)),
            source="ptx",
            on_demand=find_tool("ptxas") is None and not self._driver_compiler(),
            expect=build.expect_code,
        )

    @classmethod
    def make_ttir(
        cls, module: Any, metadata: dict[str, Any], options: CUDAOptions, capability: int | None = None
    ) -> Any:
        """The stage, for hooks that wrap it; the target is that of the options."""
        return cls.stage_functions.make_ttir(module, metadata, options)

    @classmethod
    def make_ttgir(
        cls, module: Any, metadata: dict[str, Any], options: CUDAOptions, capability: int | None = None
    ) -> Any:
        """The stage, for hooks that wrap it; the target is that of the options.

        Callers with a metadata dict of their own launch with the warps of the options: no more are chosen for them.
        """
        return cls.stage_functions.make_ttgir(module, metadata, options, keep_warps="num_warps" not in metadata)

    def make_llir(
        self, module: Any, metadata: dict[str, Any], options: CUDAOptions, capability: int | None = None
    ) -> Any:
        """The stage, for callers that run stages one by one; launch metadata is added to `metadata`."""
        return self.stage_functions.Build(options, False).make_llir(module, _launched(metadata, options))

    def make_ptx(self, llir: Any, metadata: dict[str, Any], options: CUDAOptions, capability: int | None = None) -> str:
        """The stage; `metadata` is that of the stages before, or of a text whose warps the options state."""
        return self.stage_functions.Build(options, False).make_ptx(llir, _launched(metadata, options))  # type: ignore[no-any-return]

    def make_cubin(
        self, ptx: str, metadata: dict[str, Any], options: CUDAOptions, capability: int | None = None
    ) -> bytes:
        """The stage; ToolMissing without an assembler."""
        return self.stage_functions.Build(options, True).make_cubin(ptx, _launched(metadata, options))  # type: ignore[no-any-return]

    def _replaced(self, name: str, options: CUDAOptions) -> Callable[[Any, dict[str, Any]], Any] | None:
        """The `make_` method that a subclass or a program has put in the place of ours, as a stage; None for ours.

        Programs assign `CUDABackend.make_cubin`, say, to see or change a stage of every compile. What compiles call
        otherwise shares one `Build`, which these methods, called one by one, cannot.
        """
        method = next(base.__dict__[name] for base in type(self).__mro__ if name in base.__dict__)
        if method is _MAKE[name]:
            return None
        return lambda source, metadata: getattr(self, name)(source, metadata, options, self.target.capability)

    def gluon_to_ttgir(self, module: Any, metadata: dict[str, Any], options: CUDAOptions, capability: int) -> Any:
        """The stage of kernels in Gluon, for callers that run stages one by one; the target is that of the options."""
        return self.stage_functions.gluon_to_ttgir(module, metadata, options)

    def get_target_name(self, options: CUDAOptions) -> str:
        """`cuda:90`: the target of a module, `ttg.target`."""
        return options.target.key

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """`min_dot_size`, the limit that `tl.dot` checks."""
        return {"min_dot_size": min_dot_size(self.target)}

    def extra_texts(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        """`sass`: what NVIDIA's disassembler makes of the machine code."""
        return {"sass": lambda asm: _disassembler.get_sass(asm["cubin"])}

    def load(self, code: bytes, metadata: Mapping[str, Any]) -> LoadedCubin:
        """The kernel for any GPU of this machine that can run it: it is loaded where it is launched."""
        return _driver.LoadedCubin(code, metadata)  # type: ignore[no-any-return]

    def inspect(self, asm: Mapping[str, Any], metadata: Mapping[str, Any], launch: Any = None) -> Inspection:
        """Resources, occupancy, instructions, accesses, what the assembler remarked, and what is slow."""
        return _inspection.inspect(asm, metadata, self.target, launch)  # type: ignore[no-any-return]

    def listing(self, asm: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
        """SASS between the lines of the source; ToolMissing without nvdisasm."""
        return _disassembler.get_listing(asm["cubin"], metadata["name"], asm.get("llir", ""))  # type: ignore[no-any-return]

    def mismatch(self, stage: str, backend: str, arch: str, options: CUDAOptions) -> Mismatch | None:
        """Refuse IR for newer targets, and architecture-specific PTX (`sm_90a`) on all others; warn of older IR."""
        if backend != self.kind or not arch:
            return super().mismatch(stage, backend, arch, options)
        return _mismatch(stage, arch, options.target.capability)

    def prepare(self) -> None:
        """The passes, the conversions and LLVM."""
        _llvm.load_gpu_library_beside()
        _ = self.stage_functions.make_ttir


_MAKE = {name: method for name, method in vars(CUDABackend).items() if name.startswith("make_")}


def _mismatch(stage: str, arch: str, ours: int) -> Mismatch | None:
    """The same for SM versions: `arch` is a capability, with the suffix `a` (this architecture alone) or `f` (its
    family) in PTX."""
    theirs, suffix = int(arch.rstrip("af")), arch.lstrip("0123456789")
    alone = suffix == "a" or (suffix == "f" and theirs // 10 != ours // 10)
    if theirs == ours or (theirs < ours and stage != "ttgir" and not alone):
        return None
    if theirs > ours or alone:
        what = f"is for {'sm_' + arch + ' alone' if alone and theirs < ours else f'cuda:{theirs}'}"
        return Mismatch(
            f"this {stage} {what}, and cannot be compiled for cuda:{ours}",
            f"let the target be cuda:{theirs}, or compile the kernel's ttir for cuda:{ours}",
        )
    return Mismatch(
        f"this ttgir was made for cuda:{theirs}: its layouts and instructions stay those of that target on cuda:{ours}",
        f"the kernel's ttir, compiled for cuda:{ours}, makes use of all that it has",
        fatal=False,
    )


def _launched(metadata: dict[str, Any], options: CUDAOptions) -> dict[str, Any]:
    """`metadata`, completed by what `compile` has in it from the start and stages read."""
    for name, value in (("num_warps", options.num_warps), ("num_ctas", options.num_ctas), ("shared", 0)):
        metadata.setdefault(name, value)
    return metadata


class _LazyBuild:
    """The `Build` of one compile, made when its first stage runs: a cached kernel imports none of it."""

    def __init__(self, functions: Any, options: CUDAOptions) -> None:
        self._functions, self._options = functions, options
        self._assembles = False
        self._build: Any = None

    def expect_code(self) -> None:
        """The last stage will be made, too."""
        self._assembles = True

    def __call__(self) -> Any:
        if self._build is None:
            self._build = self._functions.Build(self._options, self._assembles)
        return self._build
