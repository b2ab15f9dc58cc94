"""The interface of a backend to the compiler, one per target family; backends are independent.

A backend turns a TTIR module into machine code by a table of stages, and loads machine code into the process.
Third parties add theirs through the entry point group `tritium.backends`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..support import UnsupportedStage
from ..support.dataclasses import dataclass, fields
from .errors import BackendError

__all__ = ["BaseBackend", "GPUTarget", "Language", "Mismatch", "Stage", "UserText"]


class GPUTarget(NamedTuple):
    """A target by name: `GPUTarget("cuda", 90, 32)`, `GPUTarget("cpu", "x86-64-v4", 1)`."""

    backend: str
    arch: int | str
    warp_size: int


class Mismatch(NamedTuple):
    """What speaks against compiling a text, which says whom it was made for, for another target.

    Where it is not `fatal`, the text can be compiled and run, and it is worth a warning.
    """

    message: str
    hint: str
    fatal: bool = True


class Language:
    """The language a kernel is written in (Triton's name for it)."""

    TRITON = "triton"
    GLUON = "gluon"


@dataclass(frozen=True, slots=True)
class Stage:
    """One row of a backend's table: `run(input, metadata) -> output`.

    The input is the output of the stage `source`, or of the stage before where that is None or was not made. An output
    is an IR module, text or bytes. A stage that is `on_demand` is run when its text is read; nothing may follow from
    it. `expect` is called before a compile makes its first stage, if this one is among those that it makes: what takes
    a while to start can then be started early.
    """

    run: Callable[[Any, dict[str, Any]], Any]
    source: str | None = None
    on_demand: bool = False
    expect: Callable[[], None] | None = None

    def __call__(self, source: Any, metadata: dict[str, Any]) -> Any:
        return self.run(source, metadata)


class BaseBackend(ABC):
    """One target and how to compile for it."""

    #: launches specialize tensors in native code, by `get_tensor_specialization` of this class
    supports_native_tensor_specialization = True
    #: the last stage, which holds the machine code
    binary_ext: str
    #: stages that this target should have, and has not yet
    planned_stages: tuple[str, ...] = ()

    def __init__(self, target: Any) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        """Pickled as its class and target."""
        return type(self), (self.target,)

    @staticmethod
    @abstractmethod
    def supports_target(target: Any) -> bool:
        """Can this backend compile for `target`?"""

    @abstractmethod
    def hash(self) -> str:
        """All that decides what code comes out besides source and options: target, versions of tools."""

    def versions(self) -> dict[str, str]:
        """The versions of tools and libraries that are part of `hash`, by name."""
        return {}

    def keeps_places(self, options: Any) -> bool:
        """Whether machine code contains source locations: then a kernel that was moved is recompiled.

        Otherwise the key leaves positions out, and the locations in the text of stages follow the functions on a cache
        hit (`compiler.moved_locations`).
        """
        return True

    @abstractmethod
    def parse_options(self, options: Mapping[str, Any]) -> Any:
        """A frozen dataclass of options with a `key` for the cache; ignores names that are no option, as in Triton."""

    def option_names(self) -> Iterable[str]:
        """The names of all options: by default the fields of what `parse_options` makes."""
        return [field.name for field in fields(self.parse_options({}))]

    @abstractmethod
    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        """Add name -> Stage (or a function of input and metadata) to `stages`, in order, from `ttir` on."""

    def prepare(self) -> None:  # noqa: B027
        """Import what compiling needs, so that no stage is charged for it in a process's first compile."""

    def load(self, code: bytes, metadata: Mapping[str, Any]) -> Any:
        """Machine code in this process: `.launch(args, x, y, z, num_threads, bounds)`, and what keeps it alive.

        BackendError for a backend that only compiles.
        """
        raise BackendError(f"{type(self).__name__} compiles only: it has no `load` for its {self.binary_ext}")

    def describe(self) -> GPUTarget:
        """The target as Triton's three values."""
        return GPUTarget(self.target.backend, self.target.arch, getattr(self.target, "warp_size", 1))

    def text_of(self, value: Any) -> str | bytes:
        """The serialized form of a stage: bytes unchanged, modules as text with the location of every operation."""
        if hasattr(value, "to_text"):
            return str(value.to_text(value, locations=True)) + "\n"
        return value if isinstance(value, bytes) else str(value)

    def extra_texts(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        """Artifacts in a kernel's `asm` beside stages, made on demand: name -> function of the stages."""
        return {}

    def inspect(self, asm: Mapping[str, Any], metadata: Mapping[str, Any], launch: Any = None) -> Any:
        """The inspection of a compiled kernel (with the roofline bound of a `roofline.Launch`); BackendError if
        unsupported."""
        raise BackendError(f"kernels for {self.describe().backend} cannot be inspected, only those for cuda and cpu")

    def listing(self, asm: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
        """The machine code interleaved with source lines; BackendError if unsupported."""
        raise BackendError(f"machine code for {self.describe().backend} cannot be listed, only that for cuda and cpu")

    def located_options(self) -> dict[str, Any]:
        """The options that have machine code name its lines, where it does not by itself."""
        return {}

    def mismatch(self, stage: str, backend: str, arch: str, options: Any) -> Mismatch | None:
        """What speaks against compiling the text of `stage`, which says that it was made for `backend:arch` (of `arch`
        nothing where it is empty), for this target with these options; None: nothing does."""
        target = self.describe()
        if backend == target.backend and arch in ("", str(target.arch)):
            return None
        ours, theirs = f"{target.backend}:{target.arch}", f"{backend}:{arch}" if arch else backend
        hint = f"let the target be {theirs if arch else f'one of {backend}'}, or compile the kernel's ttir for {ours}"
        return Mismatch(f"this {stage} is for {theirs}, and cannot be compiled for {ours}", hint)

    def missing_stage(self, name: str, stages: list[str]) -> Exception:
        """Why there is no stage `name`, one of `planned_stages`; `stages` are those there are."""
        target = self.describe()
        return UnsupportedStage(name, f"{target.backend}:{target.arch}", stages[-1])

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """The meaning of a specialization's letters: D, divisible by 16."""
        return [["tt.divisibility", 16]] if "D" in desc else []

    @staticmethod
    def get_int_specialization(arg: int, **kwargs: Any) -> str:
        """The specialization of an integer: "D" for a multiple of 16, where `align` asks for it."""
        return "D" if kwargs.get("align", False) and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, **kwargs: Any) -> str:
        """The specialization of an array: "D" for an address that is a multiple of 16, where `align` asks."""
        return "D" if kwargs.get("align", False) and arg.data_ptr() % 16 == 0 else ""

    def load_dialects(self, context: Any) -> None:  # noqa: B027
        """Nothing: dialects are imported where text or a compile names them."""

    def get_module_map(self) -> dict[str, Any]:
        """Modules of the language that mean something else on this target."""
        return {}

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """Functions of the target for the frontend."""
        return {}

    def pack_metadata(self, metadata: Any) -> tuple[int, ...]:
        """The interface of Triton's launch hooks."""
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)


class UserText(str):
    """The text of a late stage that a person wrote or edited, and the `name` of its file for messages.

    It is compiled in a process of its own, because what LLVM makes of text that no compiler of ours wrote may end the
    process.
    """

    __slots__ = ("name",)
    name: str

    def __new__(cls, text: str, name: str = "the text") -> UserText:
        made = super().__new__(cls, text)
        made.name = name
        return made
