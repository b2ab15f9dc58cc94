"""A compiled kernel: the text of every stage, metadata, and a way to run it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..support import settings
from ..support.lazy import LazyMethod, LazyModule

__all__ = ["CompiledKernel", "LazyDict", "LazyStages", "StageFiles", "frozen", "launch_with", "recompile_with"]


class LazyStages(dict[str, Any]):
    """Stage name -> text or bytes, in pipeline order. Missing stages are made on first access.

    `absent` has the errors that are raised on access to stages that a target does not have yet. `extra` are functions
    that make further texts by name, which are not stages. `updates` are functions of known stages that return their
    current text, called on first access.

        >>> stages = LazyStages(["ttir", "asm"], {"ttir": "module {}"}, {"asm": lambda stages: "ret"})
        >>> list(stages), stages["asm"]
        (['ttir', 'asm'], 'ret')
    """

    def __init__(
        self,
        names: list[str],
        known: Mapping[str, Any],
        makers: Mapping[str, Callable[[LazyStages], Any]],
        absent: Mapping[str, Exception] | None = None,
        extra: Mapping[str, Callable[[LazyStages], Any]] | None = None,
        updates: Mapping[str, Callable[[str], str]] | None = None,
    ) -> None:
        super().__init__((name, known.get(name)) for name in names)
        self._updates = dict(updates or {})
        self._makers = {name: make for name, make in makers.items() if name not in known}
        self._absent = absent or {}
        self._extra = extra or {}

    def made(self) -> dict[str, Any]:
        """The existing stages, without stages on demand that have not been made."""
        self._update()
        return {name: value for name, value in super().items() if name not in self._makers}

    def _update(self) -> None:
        for name in list(self._updates):
            _ = self[name]

    @property
    def extra_names(self) -> list[str]:
        """The names of further texts."""
        return list(self._extra)

    def __missing__(self, name: str) -> Any:
        if name in self._extra:
            return self._extra[name](self)
        raise self._absent.get(name) or KeyError(name)

    def __getitem__(self, name: str) -> Any:
        make = self._makers.get(name)
        if make is not None:
            self[name] = make(self)
            self._makers.pop(name, None)
        if name in self._updates:
            self[name] = self._updates.pop(name)(super().__getitem__(name))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """`self[name]`, or `default` if there is no such stage."""
        return self[name] if name in self else default  # noqa: SIM401 - self.get is what this is

    def values(self) -> Any:
        """All stages; missing ones are made."""
        return [self[name] for name in self]

    def items(self) -> Any:
        """All (name, stage); missing ones are made."""
        return [(name, self[name]) for name in self]

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def __reduce__(self) -> Any:
        """Pickled as the existing stages, without those on demand."""
        self._update()
        known = {name: value for name, value in super().items() if value is not None}
        return LazyStages, (list(known), known, {})


class LazyDict:
    """A dict that is completed on demand: `get()` calls each added function once for more items."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.extras: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def add(self, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Add the items of the dict `func(*args)`."""
        self.extras.append((func, args))

    def get(self) -> dict[str, Any]:
        """The dict."""
        while self.extras:
            func, args = self.extras.pop(0)
            self.data = {**self.data, **func(*args)}
        return self.data


_package = LazyModule(__name__.partition(".")[0])
_hook_errors = LazyModule("..support.hook_errors", __package__)
_roofline = LazyModule("..backends.roofline", __package__)
_kernel_files = LazyModule(".kernel_files", __package__)
_stage_paths = LazyModule(".stage_paths", __package__)
if TYPE_CHECKING:

    class BoundCalls(Protocol):
        """Launches of a kernel with all arguments checked; see `runtime.fastpath.direct`."""

        def at(self, grid: object) -> Callable[..., None]:
            """A callable that launches with `grid`."""

        def check(self, args: Sequence[object]) -> None:
            """ArgumentError for arguments that the kernel was not compiled for."""

    class KernelLauncher(Protocol):
        """`launcher(grid, args, stream=None)` runs a kernel on its device."""

        @property
        def calls(self) -> BoundCalls:
            """Launches by `kernel[grid](*args)`."""

        def __call__(self, grid: object, args: Sequence[object], stream: object = None) -> None:
            """Launch."""


class StageFiles(MutableMapping[str, str]):
    """The files of a compile, `name.stage` -> path: what the compiler passes to `CompiledKernel`, in Triton's form.

    Programs replace `CompiledKernel.__init__` and read or change this mapping. Files are written when a name or path is
    read; as long as none is changed, the kernel takes the stages themselves.
    """

    def __init__(
        self, backend: object, metadata: Mapping[str, Any], stages: LazyStages, times: dict[str, float] | None = None
    ) -> None:
        self.content = backend, metadata, stages, times or {}
        self.changed = False
        self._paths: dict[str, str] | None = None

    @property
    def paths(self) -> dict[str, str]:
        """All paths; missing files are written."""
        if self._paths is None:
            _, metadata, stages, _ = self.content
            self._paths = _stage_paths.stage_paths(metadata["name"], metadata["hash"], stages.made(), metadata)
        return self._paths

    def __getitem__(self, name: str) -> str:
        return self.paths[name]

    def __setitem__(self, name: str, path: str) -> None:
        self.paths[name] = path
        self.changed = True

    def __delitem__(self, name: str) -> None:
        del self.paths[name]
        self.changed = True

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


_launcher: list[Callable[[CompiledKernel], KernelLauncher]] = []
_compiler: list[Callable[..., CompiledKernel]] = []


def launch_with(make: Callable[[CompiledKernel], KernelLauncher]) -> None:
    """Set the function that makes launchers: `make(kernel)(grid, args, stream)`; the runtime does so at import.

    The stream is the handle of a GPU's, or None for the current one.
    """
    _launcher[:] = [make]


def recompile_with(compile: Callable[..., CompiledKernel]) -> None:
    """Set the `compile(src, target, options)` of `CompiledKernel.compiled_with`; `compile` does so at import."""
    _compiler[:] = [compile]


def frozen(value: object) -> Any:
    """Lists as tuples: JSON has no tuples, and metadata is equal from a compile and from the cache."""
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


class CompiledKernel:
    """A kernel compiled for one specialization.

        `asm` has every stage by name (`source` first), `metadata` the options and results of the compile, `times` the
        milliseconds of each stage (empty if the kernel came from the cache), `kernel` the machine code.
        `kernel[grid](...)` launches it with all of the function's arguments, or with all but the compile-time ones.

        `CompiledKernel(src, metadata_group, hash)` makes one from the files of its stages (`metadata_group` of
        another).

    State of this process is in slots: PyTorch's compiler transfers `__dict__` to another one. `deferred`: the launch
    predicate of another version, for which the kernel was to be compiled; None without one.
    """

    __slots__ = ("__dict__", "__weakref__", "_files", "_load", "_loaded", "_metadata", "_run")
    _files: dict[str, str] | None
    _load: Callable[[], Any] | None
    _loaded: Any
    _metadata: Any
    _run: Any
    deferred: str | None = None

    def __new__(cls, *_: Any, **__: Any) -> CompiledKernel:
        self = super().__new__(cls)
        self._files = self._metadata = self._loaded = self._load = self._run = None
        return self

    def __init__(self, src: Any, metadata_group: Mapping[str, str], hash: str) -> None:
        backend: Any
        metadata: Mapping[str, Any]
        if isinstance(metadata_group, StageFiles) and not metadata_group.changed:
            backend, metadata, asm, times = metadata_group.content
        else:
            backend, metadata, stages = _kernel_files.read_group(metadata_group, hash)
            asm, times = LazyStages(list(stages), stages, {}, None, backend.extra_texts()), {}
            self._files = dict(metadata_group)
        self.src = src
        self.backend = backend
        self.asm = asm
        self.times = times
        self.hash: str = metadata["hash"]
        self.name: str = metadata["name"]
        self.values = metadata
        self.n_regs = metadata.get("n_regs", 0)
        self.n_spills = metadata.get("n_spills", 0)
        self.n_max_threads = metadata.get("n_max_threads", 1)

    def __repr__(self) -> str:
        return f"<CompiledKernel {self.name} for {self.values['target']['arch']}>"

    _repr_mimebundle_ = LazyMethod("..support.display", __package__)  # what notebooks show

    @property
    def metadata(self) -> Any:
        """The metadata as a named tuple."""
        if self._metadata is None:
            values = {name: frozen(value) for name, value in self.values.items()}
            values["target"] = self.backend.describe()
            self._metadata = namedtuple("KernelMetadata", sorted(values))(**values)
        return self._metadata

    @property
    def packed_metadata(self) -> Any:
        """The metadata for Triton's launch hooks: (num_warps, num_ctas, shared)."""
        return self.backend.pack_metadata(self.metadata)

    @property
    def metadata_group(self) -> dict[str, str]:
        """The files of the stages and of the metadata, `name.stage` -> path, as Triton's; written on demand."""
        if self._files is None:
            self._files = _stage_paths.stage_paths(self.name, self.hash, self.asm.made(), self.values)
        return dict(self._files)

    @property
    def kernel(self) -> bytes:
        """The machine code."""
        return self.asm[self.backend.binary_ext]

    def inspect(
        self, grid: tuple[int, ...] | None = None, arguments: Mapping[str, Any] | None = None, rates: Any = None
    ) -> Any:
        """Resources, instructions and performance findings: a `backends.nvidia.inspection.Inspection`, or that of
        `backends.cpu`. Nothing is run.

        With a `grid` and `arguments` (by name: numbers, and for pointers arrays, shapes, or numbers of elements) it has
        the roofline bound of such a launch, for the GPU that represents the target or for other `rates`
        (`roofline.Rates`).
        BackendError for other targets; WorkloadError for arguments that the kernel does not have.
        """
        launch = None if grid is None else _roofline.Launch(grid, arguments or {}, rates)
        kernel = self._located()
        return self.backend.inspect(kernel.asm, kernel.values, launch)

    def listing(self) -> str:
        """The machine code interleaved with the source lines. BackendError if it cannot be read."""
        kernel = self._located()
        return self.backend.listing(kernel.asm, kernel.values)  # type: ignore[no-any-return]

    def _located(self) -> CompiledKernel:
        """The same code with line information: compiled again if that was omitted to save time."""
        wanted = self.backend.located_options()
        if all(self.values[name] == value for name, value in wanted.items()):
            return self
        return self.compiled_with(**wanted)

    def compiled_with(self, **wanted: Any) -> CompiledKernel:
        """The same kernel compiled with some options changed."""
        options = {name: self.values[name] for name in self.backend.option_names() if name in self.values}
        return _compiler[0](self.src, self.backend.target, {**options, **wanted})

    @property
    def loaded(self) -> Any:
        """The code in this process, loaded now if needed."""
        if self._loaded is None:
            if settings.runtime.kernel_load_start_hook:
                settings.runtime.kernel_load_start_hook(None, None, self.name, self.metadata_group, self.hash)
            self._loaded = self.backend.load(self.kernel, self.values) if self._load is None else self._load()
            if settings.runtime.kernel_load_end_hook:
                about = (self.name, self.metadata_group, self.hash)
                settings.runtime.kernel_load_end_hook(self._loaded, self.function, *about)
        return self._loaded

    def load_with(self, load: Callable[[], Any]) -> None:
        """Set the function that loads the code, for emulated code."""
        self._load, self._loaded = load, None

    def __del__(self) -> None:
        """Call the hook of unloaded code."""
        loaded = getattr(self, "_loaded", None)
        if loaded is not None and settings.runtime.kernel_unload_hook:
            about = (self.name, self.metadata_group, self.hash)
            settings.runtime.kernel_unload_hook(loaded, loaded.address, *about)

    def _init_handles(self) -> None:
        """Load the code now. (Scripts for Triton call it before they read `n_regs`.)"""
        _ = self.function

    @property
    def module(self) -> Any:
        """The loaded code (Triton's name for it)."""
        return self.loaded

    @property
    def function(self) -> Any:
        """The address of the entry point."""
        return self.loaded.address

    @property
    def launcher(self) -> KernelLauncher:
        """`launcher(grid, args, stream=None)`: launch with a grid of up to three integers, and arguments."""
        if self._run is None:
            if not _launcher:  # a process that has only compiled: importing the runtime sets the launcher
                _ = _package.runtime
            self._run = _launcher[0](self)
        return self._run

    @property
    def run(self) -> Callable[..., None]:
        """`run(x, y, z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args)`: a launch as
        Triton's own launchers are called (by PyTorch's compiler, for one)."""
        return self._run_like_triton

    def _run_like_triton(
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Callable[[Any], Any] | None,
        exit_hook: Callable[[Any], Any] | None,
        *args: Any,
    ) -> None:
        self.launcher.calls.check(args)
        if enter_hook is not None:
            _hook_errors.call_hook("launch_enter_hook", enter_hook, launch_metadata)
        self.launcher((x, y, z), args, stream)
        if exit_hook is not None:
            _hook_errors.call_hook("launch_exit_hook", exit_hook, launch_metadata)

    def launch_metadata(self, grid: tuple[int, ...], stream: Any, *args: Any) -> LazyDict:
        """The metadata for launch hooks; `get()` adds that of the function's `launch_metadata`."""
        _ = self.launcher  # the launcher of an emulated GPU loads the code
        found = LazyDict({"name": self.name, "function": self.function, "stream": stream})
        extra = getattr(getattr(self.src, "fn", None), "launch_metadata", None)
        if extra is not None:
            found.add(extra, (grid, self.metadata, dict(zip(self.src.fn.arg_names, args))))
        return found

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """`kernel[grid](*args, stream=None)`; the stream is the current one unless one is given."""
        return self.launcher.calls.at(grid)
