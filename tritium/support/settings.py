"""Settings ("knobs"): typed, documented, read from the environment at the moment they are asked for.

A setting is an attribute of a group: `compilation.always_compile`, `runtime.launch_enter_hook`. Its value is what was
assigned to it, else what its environment variable says, else its default. Assigning also sets the environment variable,
so that child processes see it (unless `propagate_env` is False); `None` assigned to a variable's setting removes both.

    with compilation.scope():
        compilation.always_compile = True      # until the end of the block

`generation.value` grows with every assignment, so that a fast path may remember that nothing changed. It does not
notice a changed environment variable: `refresh_knobs()` says that one did.

>>> with compilation.scope():
...     compilation.always_compile = True
...     compilation.always_compile
True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, overload

__all__ = [
    "GROUPS",
    "Flag",
    "Group",
    "HookChain",
    "Hook",
    "Integer",
    "Setting",
    "Size",
    "Text",
    "amd",
    "autotuning",
    "build",
    "cache",
    "compilation",
    "generation",
    "invalidating_environment",
    "language",
    "nvidia",
    "propagate_env",
    "proton",
    "refresh_knobs",
    "runtime",
]

T = TypeVar("T")

propagate_env = True

_TRUE = ("1", "true", "on", "yes", "y")


class _Generation:
    """A number that grows whenever a setting is assigned or a hook added."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


generation = _Generation()


def with_our_names(variables: tuple[str, ...]) -> tuple[str, ...]:
    """Before Triton's variables, the same under our name, which count more.

    >>> with_our_names(("TRITON_DEBUG",))
    ('TRITIUM_DEBUG', 'TRITON_DEBUG')
    """
    ours = (f"TRITIUM_{v[len('TRITON_') :]}" for v in variables if v.startswith("TRITON_"))
    return (*(v for v in ours if v not in variables), *variables)


class Setting(Generic[T]):
    """An attribute backed by environment variables (the first that is set counts).

    `invalidates` marks those that change the code a kernel compiles to: their values are part of cache keys.
    """

    def __init__(self, default: T, *env: str, doc: str = "", invalidates: bool = False) -> None:
        self.default = default
        self.env = with_our_names(env)
        self.invalidates = invalidates
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def parse(self, text: str) -> T:
        """The value that the environment's `text` means."""
        raise NotImplementedError

    def format(self, value: T) -> str:
        """`parse` backwards."""
        return str(value)

    @overload
    def __get__(self, group: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, group: Group, owner: type) -> T: ...
    def __get__(self, group: Group | None, owner: type) -> Any:
        if group is None:
            return self
        values = group.__dict__
        if self.name in values:
            return values[self.name]
        for variable in self.env:
            text = os.environ.get(variable)
            if text is not None:
                return self.parse(text)
        return self.default

    def __set__(self, group: Group, value: T) -> None:
        generation.value += 1
        if value is None and self.env:
            group.__dict__.pop(self.name, None)
        else:
            group.__dict__[self.name] = value
        if self.env and propagate_env:
            for variable in self.env:
                if value is None:
                    os.environ.pop(variable, None)
                else:
                    os.environ[variable] = self.format(value)

    def __delete__(self, group: Group) -> None:
        generation.value += 1
        group.__dict__.pop(self.name, None)


class Flag(Setting[bool]):
    """A boolean: 1, true, on, yes, y in any case are true, everything else is false."""

    def parse(self, text: str) -> bool:
        return text.strip().lower() in _TRUE

    def format(self, value: bool) -> str:
        return "1" if value else "0"


class Text(Setting["str | None"]):
    """A string; an empty variable counts as unset."""

    def parse(self, text: str) -> str | None:
        return text or self.default


class Integer(Setting["int | None"]):
    """An integer; text that is none is an error naming the variable."""

    def parse(self, text: str) -> int | None:
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{' / '.join(self.env)} must be an integer, not {text!r}") from None


class Size(Setting["int | None"]):
    """A number of bytes, such as 500M or 4G (of 1024 each); text that is none is an error naming the variable.

    >>> Size(None).parse("2K")
    2048
    """

    def parse(self, text: str) -> int | None:
        number, unit = text.strip().upper().removesuffix("B").removesuffix("I"), 1
        if number[-1:] in _UNITS:
            number, unit = number[:-1], _UNITS[number[-1]]
        try:
            return int(float(number) * unit)
        except (ValueError, OverflowError):
            raise ValueError(f"{' / '.join(self.env)} must be a size such as 500M or 4G, not {text!r}") from None


_UNITS = {letter: 1 << 10 * power for power, letter in enumerate("KMGT", 1)}


class Hook(Setting["Callable[..., Any] | None"]):
    """A function of the user's, or None. No environment variable."""

    def __init__(self, doc: str = "") -> None:
        super().__init__(None, doc=doc)


class HookChain:
    """Several functions called one after another; `add` and `remove` them. `backwards` calls the last first.

    >>> chain, seen = HookChain(), []
    >>> chain.add(seen.append); chain(3); seen
    [3]
    """

    def __init__(self, backwards: bool = False) -> None:
        self.calls: list[Callable[..., Any]] = []
        self.backwards = backwards

    def add(self, function: Callable[..., Any]) -> None:
        """Call `function` too; a function that is in the chain already stays there once."""
        generation.value += 1
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function: Callable[..., Any]) -> None:
        """Call `function` no more; nothing happens if it is not in the chain."""
        generation.value += 1
        if function in self.calls:
            self.calls.remove(function)

    def __bool__(self) -> bool:
        return bool(self.calls)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for function in reversed(self.calls) if self.backwards else list(self.calls):
            function(*args, **kwargs)


class Chain(Setting[HookChain]):
    """A HookChain. Assigning a function makes it the only one, assigning None empties the chain."""

    def __init__(self, doc: str = "", backwards: bool = False) -> None:
        super().__init__(HookChain(backwards), doc=doc)
        self.backwards = backwards

    def __get__(self, group: Group | None, owner: type) -> Any:
        if group is None:
            return self
        return group.__dict__.setdefault(self.name, HookChain(self.backwards))

    def __set__(self, group: Group, value: Any) -> None:
        generation.value += 1
        if not isinstance(value, HookChain):
            chain = HookChain(self.backwards)
            chain.calls = [] if value is None else [value]
            value = chain
        group.__dict__[self.name] = value


class Group:
    """Settings that belong together."""

    @classmethod
    def settings(cls) -> dict[str, Setting[Any]]:
        """The settings of this group by name."""
        return {name: value for name, value in vars(cls).items() if isinstance(value, Setting)}

    @property
    def knobs(self) -> dict[str, Any]:
        """The current values by name."""
        return {name: getattr(self, name) for name in self.settings()}

    def copy(self: T) -> T:
        """A group of its own with the same assigned values."""
        twin = type(self)()
        twin.__dict__.update(self.__dict__)
        return twin

    def reset(self: T) -> T:
        """Forget what was assigned: the environment and the defaults count again."""
        generation.value += 1
        self.__dict__.clear()
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo on leaving whatever was assigned inside, in the environment too."""
        variables = [v for s in self.settings().values() for v in s.env]
        before = {v: os.environ.get(v) for v in variables}
        values = dict(self.__dict__)
        chains = {name: list(v.calls) for name, v in values.items() if isinstance(v, HookChain)}
        try:
            yield
        finally:
            generation.value += 1
            self.__dict__.clear()
            self.__dict__.update(values)
            for name, calls in chains.items():
                values[name].calls[:] = calls
            for variable, text in before.items():
                if text is None:
                    os.environ.pop(variable, None)
                else:
                    os.environ[variable] = text


class BuildSettings(Group):
    """Kept for scripts that set them: nothing is built with a C compiler here."""

    cc = Text(None, "CC", doc="a C compiler; nothing here is built with one")
    impl = Hook("called in place of a C compiler; nothing here is built with one")


class CacheSettings(Group):
    """Where compiled kernels are kept."""

    dir = Text(None, "TRITIUM_CACHE_DIR", "TRITON_CACHE_DIR", doc="folder of compiled kernels")
    home_dir = Text(None, "TRITIUM_HOME", "TRITON_HOME", doc="the folder that default folders are made in")
    dump_dir = Text(None, "TRITIUM_DUMP_DIR", "TRITON_DUMP_DIR", doc="where compilation.dump_ir writes stages")
    override_dir = Text(
        None, "TRITIUM_OVERRIDE_DIR", "TRITON_OVERRIDE_DIR", doc="where compilation.override reads stages"
    )
    max_size = Size(
        4 << 30, "TRITIUM_CACHE_MAX_SIZE", doc="bytes of compiled kernels to keep, those used last; 0 for no limit"
    )
    disable = Flag(False, "TRITIUM_CACHE_DISABLE", doc="neither read nor write compiled kernels")


class CompilationSettings(Group):
    """How kernels are compiled, and who listens."""

    always_compile = Flag(False, "TRITON_ALWAYS_COMPILE", doc="do not read the cache")
    dump_ir = Flag(False, "TRITON_KERNEL_DUMP", doc="write every stage's text to cache.dump_dir")
    override = Flag(False, "TRITON_KERNEL_OVERRIDE", doc="take stages from cache.override_dir where they are there")
    store_binary_only = Flag(False, "TRITON_STORE_BINARY_ONLY", doc="keep only machine code in the cache, no text")
    use_ir_loc = Text(
        None, "USE_IR_LOC", doc="a stage whose text the locations of later stages refer to", invalidates=True
    )
    disable_line_info = Flag(
        False, "TRITON_DISABLE_LINE_INFO", doc="leave source positions out of what is compiled", invalidates=True
    )
    source_root = Text(
        None,
        "TRITIUM_SOURCE_ROOT",
        doc="positions in compiled code name files below this folder from it on, so that machines share cached kernels",
    )
    front_end_debugging = Flag(False, "TRITON_FRONT_END_DEBUGGING", doc="show the compiler's frames in tracebacks")
    allow_non_constexpr_globals = Flag(
        False, "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", doc="kernels may read any global", invalidates=True
    )
    dump_passes = Text(
        None,
        "MLIR_ENABLE_DUMP",
        doc="print the IR before passes: 1 for every kernel, or a kernel's name",
        invalidates=True,
    )
    dump_path = Text(None, "MLIR_DUMP_PATH", doc="a file for what dump_passes prints, instead of stderr")
    print_passes = Text(
        None,
        "TRITIUM_PRINT_IR",
        doc="what to print around passes: before, after, change (each also with :PASS), failure, diff, function:NAME, "
        "module, generic, locations, to:FOLDER, with commas between",
        invalidates=True,
    )
    timing = Flag(False, "MLIR_ENABLE_TIMING", doc="print the time of every pass, and what passes counted")
    diagnostics = Text(
        None, "MLIR_ENABLE_DIAGNOSTICS", doc="what passes tell: remarks, warnings; with operations, with stacktraces"
    )
    disable_multithreading = Flag(False, "MLIR_DISABLE_MULTITHREADING", doc="no effect: passes run one after another")
    verify_each = Flag(False, "TRITIUM_VERIFY_EACH", doc="verify the IR after every pass", invalidates=True)
    pass_fuel = Text(
        None, "TRITIUM_PASS_FUEL", doc="run the first N passes; N:M: and of the last, M rewrites", invalidates=True
    )
    reproducer_path = Text(
        None,
        "TRITON_REPRODUCER_PATH",
        doc="write every stage's input and passes to PATH.make_<stage>.repro.mlir",
    )
    trace = Text(None, "TRITIUM_TRACE", doc="a file to which compiles add records of stages, passes and rewrites")
    crash_path = Text(None, "TRITIUM_CRASH_REPRODUCER", doc="where a pass that fails leaves its input")
    dump_llvm = Flag(False, "LLVM_IR_ENABLE_DUMP", doc="print LLVM's IR before and after its passes", invalidates=True)
    time_llvm = Flag(False, "LLVM_ENABLE_TIMING", doc="print the time of LLVM's passes")
    disable_llvm_opt = Flag(False, "DISABLE_LLVM_OPT", doc="as optimization level 0", invalidates=True)
    instrumentation_mode = Text(
        "", "TRITON_INSTRUMENTATION_MODE", doc="which checks to build into kernels; none is there yet", invalidates=True
    )
    listener = Hook("called as listener(src=, metadata=, metadata_group=, times=, cache_hit=) once a compile")


class AutotuningSettings(Group):
    """How the autotuner behaves."""

    cache = Flag(False, "TRITON_CACHE_AUTOTUNING", doc="keep tuning results on disk")
    print = Flag(False, "TRITON_PRINT_AUTOTUNING", doc="say what was tuned, and what won")
    warmup = Integer(5, "TRITON_BENCH_WARMUP", doc="milliseconds of running before timing")
    rep = Integer(25, "TRITON_BENCH_REP", doc="milliseconds of timing")
    processes = Integer(
        0,
        "TRITIUM_AUTOTUNE_PROCESSES",
        doc="processes that compile configurations; 1: none but this one; 0: as many as cores, if there are four",
    )
    listener = Hook("called as listener(fn=, key=, best_config=, configs_timings=, duration=, cache_hit=)")


class RuntimeSettings(Group):
    """What happens around launches."""

    interpret = Flag(False, "TRITON_INTERPRET", doc="run kernels in Python instead of compiling them")
    debug = Flag(False, "TRITON_DEBUG", doc="keep device_assert in kernels that do not ask for it", invalidates=True)
    sanitize = Flag(False, "TRITIUM_SANITIZE", doc="check the bounds of every access", invalidates=True)
    num_threads = Integer(0, "TRITIUM_NUM_THREADS", doc="threads of a launch on the CPU; 0 for all cores")
    target = Text(
        None,
        "TRITIUM_TARGET",
        doc="where kernels run that no argument ties to a device: cpu or cuda; by default a GPU if there is one; "
        "emulated:90 runs all kernels on an emulated GPU of that capability",
    )
    override_arch = Text(
        None, "TRITON_OVERRIDE_ARCH", doc="compile for this architecture in place of the device's", invalidates=True
    )
    progress = Flag(
        True, "TRITIUM_PROGRESS", doc="show work that lasts over a second, on a terminal (stderr) or in a notebook"
    )
    launch_enter_hook = Chain("called with the launch's metadata before a kernel runs")
    launch_exit_hook = Chain("called with the launch's metadata after a kernel ran", backwards=True)
    kernel_load_start_hook = Chain("called as hook(module, function, name, metadata_group, hash) before code is loaded")
    kernel_load_end_hook = Chain("the same after it was loaded", backwards=True)
    kernel_unload_hook = Chain("called when code is unloaded", backwards=True)
    jit_cache_hook = Hook("called before a compile; a true answer cancels it")
    jit_post_compile_hook = Hook("called after a compile")
    add_stages_inspection_hook = Hook("may look at and change a compile's stages")


class LanguageSettings(Group):
    """Meaning of kernels."""

    fp32_default = Text(None, "TRITON_F32_DEFAULT", doc="input precision of tl.dot on f32", invalidates=True)
    default_fp_fusion = Flag(True, "TRITON_DEFAULT_FP_FUSION", doc="a*b + c may be one operation", invalidates=True)
    force_disable_fp_fusion = Flag(
        False,
        "TRITON_FORCE_DISABLE_FP_FUSION",
        doc="never make one multiply-add of a product and a sum",
        invalidates=True,
    )


class NvidiaSettings(Group):
    """Tools of the NVIDIA backend."""

    cuobjdump = Text(None, "TRITON_CUOBJDUMP_PATH", doc="the program cuobjdump")
    nvdisasm = Text(None, "TRITON_NVDISASM_PATH", doc="the program nvdisasm")
    ptxas = Text(None, "TRITON_PTXAS_PATH", doc="the assembler ptxas")
    disable_ptxas_opt = Flag(False, "DISABLE_PTXAS_OPT", doc="have ptxas optimize nothing", invalidates=True)
    ptxas_options = Text(None, "PTXAS_OPTIONS", doc="more options for ptxas", invalidates=True)
    dump_ptxas_log = Flag(False, "TRITON_DUMP_PTXAS_LOG", doc="print what ptxas tells of each kernel")
    dump_nvptx = Flag(False, "NVPTX_ENABLE_DUMP", doc="print the assembly of NVIDIA kernels")
    libdevice_path = Text(None, "TRITON_LIBDEVICE_PATH", doc="the bitcode of NVIDIA's math functions")
    libcuda_path = Text(None, "TRITON_LIBCUDA_PATH", doc="the folder of libcuda.so")
    launch_blocking = Flag(
        False,
        "TRITIUM_LAUNCH_BLOCKING",
        "CUDA_LAUNCH_BLOCKING",
        doc="wait for every kernel after its launch, so that an error names the kernel it is of",
    )


class AmdSettings(Group):
    """Choices of the AMD backend."""

    use_buffer_ops = Flag(
        True, "AMDGCN_USE_BUFFER_OPS", doc="access memory by buffer instructions on AMD GPUs", invalidates=True
    )
    dump_amdgcn = Flag(False, "AMDGCN_ENABLE_DUMP", doc="print the assembly of AMD kernels")
    libhip_path = Text(None, "TRITON_LIBHIP_PATH", doc="the library libamdhip64.so")


class ProtonSettings(Group):
    """The profiler."""

    disable = Flag(False, "TRITON_PROTON_DISABLE", doc="do not profile")


build = BuildSettings()
cache = CacheSettings()
compilation = CompilationSettings()
autotuning = AutotuningSettings()
runtime = RuntimeSettings()
language = LanguageSettings()
nvidia = NvidiaSettings()
amd = AmdSettings()
proton = ProtonSettings()

GROUPS: dict[str, Group] = {
    "build": build,
    "cache": cache,
    "compilation": compilation,
    "autotuning": autotuning,
    "runtime": runtime,
    "language": language,
    "nvidia": nvidia,
    "amd": amd,
    "proton": proton,
}


def _invalidating() -> tuple[tuple[str, Group, str, Any], ...]:
    return tuple(
        (f"{group_name}.{name}", group, name, setting.default)
        for group_name, group in GROUPS.items()
        for name, setting in group.settings().items()
        if setting.invalidates
    )


_INVALIDATING = _invalidating()


def invalidating_environment() -> dict[str, Any]:
    """The settings that change compiled code and differ from their defaults, by "group.name"."""
    found = {}
    for label, group, name, default in _INVALIDATING:
        value = getattr(group, name)
        if value != default:
            found[label] = value
    return found


def refresh_knobs() -> None:
    """Say that environment variables changed: kernels look at their settings again before the next launch."""
    generation.value += 1
