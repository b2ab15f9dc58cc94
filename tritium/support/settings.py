"""Settings ("knobs"): typed, documented, read from the environment at the moment they are asked for.

A setting is an attribute of a group: `compilation.always_compile`, `runtime.launch_enter_hook`. Its value is what was
assigned to it, else what its environment variable says, else its default. Assigning also sets the environment variable,
so that child processes see it (unless `propagation.on` is False); `None` assigned to a variable's setting removes both.

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
from typing import Any

from .device_settings import AmdSettings, NvidiaSettings, ProtonSettings
from .lazy import LazyModule
from .option_classes import HINT, INSTRUMENTATION, SEMANTIC
from .setting import (
    Chain,
    ClassName,
    Flag,
    Folder,
    Group,
    Hook,
    HookChain,
    Integer,
    Setting,
    Size,
    Text,
    UnsupportedFlag,
    UnsupportedText,
    generation,
    insertions,
)

__all__ = [
    "GROUPS",
    "Flag",
    "Group",
    "Hook",
    "HookChain",
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
    "insertions",
    "invalidating_environment",
    "language",
    "nvidia",
    "proton",
    "redis",
    "refresh_knobs",
    "runtime",
]


class BuildSettings(Group):
    """Kept for scripts that set them: nothing is built with a C compiler here."""

    cc = Text(None, "CC", doc="a C compiler; nothing here is built with one", kind=HINT)
    cudacrt_path = Text(
        None, "TRITON_CUDACRT_PATH", doc="no effect: a folder of CUDA's headers, for that compiler", kind=HINT
    )
    cudart_path = Text(None, "TRITON_CUDART_PATH", doc="no effect: the same", kind=HINT)
    impl = Hook("called in place of a C compiler; nothing here is built with one", kind=HINT)

    @property
    def backend_dirs(self) -> set[str]:
        """The two folders that are named."""
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class RedisSettings(Group):
    """Where compiled kernels are shared through a Redis server."""

    key_format = Text(
        "triton:{key}:{filename}", "TRITON_REDIS_KEY_FORMAT", doc="the server's key of an entry's file", kind=SEMANTIC
    )
    host = Text("localhost", "TRITON_REDIS_HOST", doc="the server", kind=SEMANTIC)
    port = Integer(6379, "TRITON_REDIS_PORT", doc="its port", kind=SEMANTIC)
    database = Integer(0, "TRITIUM_REDIS_DATABASE", doc="the number of its database", kind=SEMANTIC)
    username = Text(None, "TRITIUM_REDIS_USERNAME", doc="the user to log in as", kind=SEMANTIC)
    password = Text(None, "TRITIUM_REDIS_PASSWORD", doc="the password to log in with", kind=SEMANTIC)
    tls = Flag(False, "TRITIUM_REDIS_TLS", doc="encrypt the connection", kind=SEMANTIC)
    keep_for = Integer(
        30 * 86400, "TRITIUM_REDIS_KEEP_FOR", doc="seconds after which it forgets a kernel; 0 for never", kind=SEMANTIC
    )


def _default_folder() -> str:
    return cache.get_triton_dir("cache")


class CacheSettings(Group):
    """Where compiled kernels are kept."""

    home_dir = Folder(
        lambda: os.path.expanduser("~/"),
        "~/",
        "TRITON_HOME",
        doc="the folder that default folders are made in",
        kind=SEMANTIC,
    )
    dir = Folder(
        _default_folder,
        "`.tritium/cache` in `home_dir`",
        "TRITON_CACHE_DIR",
        doc="folder of compiled kernels",
        kind=SEMANTIC,
    )
    dump_dir = Folder(
        lambda: cache.get_triton_dir("dump"),
        "`.tritium/dump` in `home_dir`",
        "TRITON_DUMP_DIR",
        doc="where compilation.dump_ir writes stages",
        kind=SEMANTIC,
    )
    override_dir = Folder(
        lambda: cache.get_triton_dir("override"),
        "`.tritium/override` in `home_dir`",
        "TRITON_OVERRIDE_DIR",
        doc="where compilation.override reads stages",
        kind=SEMANTIC,
    )
    manager_class = ClassName(
        "CacheManager", "TRITON_CACHE_MANAGER", doc="what keeps compiled kernels in place of `dir`", kind=SEMANTIC
    )
    remote_manager_class = ClassName(
        "RemoteCacheBackend",
        "TRITON_REMOTE_CACHE_BACKEND",
        doc="what shares compiled kernels with other machines",
        kind=SEMANTIC,
    )
    remote_timeout = Integer(
        300,
        "TRITIUM_REMOTE_CACHE_TIMEOUT",
        doc="milliseconds that may be waited for what shares kernels",
        kind=SEMANTIC,
    )
    remote_secret = Text(
        None,
        "TRITIUM_REMOTE_CACHE_SECRET",
        doc="shared kernels are signed with it, and others are not used",
        kind=SEMANTIC,
    )
    max_size = Size(
        4 << 30,
        "TRITIUM_CACHE_MAX_SIZE",
        doc="bytes of compiled kernels to keep, those used last; 0 for no limit",
        kind=SEMANTIC,
    )
    disable = Flag(False, "TRITIUM_CACHE_DISABLE", doc="neither read nor write compiled kernels", kind=SEMANTIC)

    def get_triton_dir(self, dirname: str) -> str:
        """A default folder: `.tritium/<dirname>` in `home_dir`."""
        return os.path.join(self.home_dir, ".tritium", dirname)


class CompilationSettings(Group):
    """How kernels are compiled, and who listens."""

    always_compile = Flag(False, "TRITON_ALWAYS_COMPILE", doc="do not read the cache", kind=SEMANTIC)
    dump_ir = Flag(False, "TRITON_KERNEL_DUMP", doc="write every stage's text to cache.dump_dir", kind=INSTRUMENTATION)
    override = Flag(
        False, "TRITON_KERNEL_OVERRIDE", doc="take stages from cache.override_dir where they are there", kind=SEMANTIC
    )
    store_binary_only = Flag(
        False, "TRITON_STORE_BINARY_ONLY", doc="keep only machine code in the cache, no text", kind=SEMANTIC
    )
    use_ir_loc = Text(
        None,
        "USE_IR_LOC",
        doc="a stage whose text the locations of later stages refer to",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    disable_line_info = Flag(
        False,
        "TRITON_DISABLE_LINE_INFO",
        doc="leave source positions out of what is compiled",
        invalidates=True,
        kind=SEMANTIC,
    )
    source_root = Text(
        None,
        "TRITIUM_SOURCE_ROOT",
        doc="positions in compiled code name files below this folder from it on, so that machines share cached kernels",
        kind=SEMANTIC,
    )
    dump_ir_extract_di_local_variables = UnsupportedFlag(
        False,
        "LLVM_EXTRACT_DI_LOCAL_VARIABLES",
        doc="debug information has lines, and no local variables",
        kind=INSTRUMENTATION,
    )
    enable_asan = Flag(
        False,
        "TRITON_ENABLE_ASAN",
        doc="check the bounds of every access of a launch, as `runtime.sanitize`",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    fpsan_homomorphic_casts = Flag(
        False,
        "TRITON_FPSAN_HOMOMORPHIC_CASTS",
        doc="belongs to the mode fpsan, and is refused with it",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    front_end_debugging = Flag(
        False, "TRITON_FRONT_END_DEBUGGING", doc="show the compiler's frames in tracebacks", kind=SEMANTIC
    )
    allow_non_constexpr_globals = Flag(
        False, "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", doc="kernels may read any global", invalidates=True, kind=SEMANTIC
    )
    dump_passes = Text(
        None,
        "MLIR_ENABLE_DUMP",
        doc="print the IR before passes: 1 for every kernel, or a kernel's name",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    dump_path = Text(
        None, "MLIR_DUMP_PATH", doc="a file for what dump_passes prints, instead of stderr", kind=INSTRUMENTATION
    )
    print_passes = Text(
        None,
        "TRITIUM_PRINT_IR",
        doc="what to print around passes: before, after, change (each also with :PASS), failure, diff, function:NAME, "
        "module, generic, locations, to:FOLDER, with commas between",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    timing = Flag(
        False, "MLIR_ENABLE_TIMING", doc="print the time of every pass, and what passes counted", kind=INSTRUMENTATION
    )
    diagnostics = Text(
        None,
        "MLIR_ENABLE_DIAGNOSTICS",
        doc="what passes tell: remarks, warnings; with operations, with stacktraces",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    disable_multithreading = Flag(
        False, "MLIR_DISABLE_MULTITHREADING", doc="no effect: passes run one after another", kind=HINT
    )
    max_operations = Integer(
        1_000_000,
        "TRITIUM_MAX_OPERATIONS",
        doc="operations that a kernel may have in a stage, and instructions for LLVM; 0: any number",
        kind=SEMANTIC,
    )
    verify_each = Flag(
        False,
        "TRITIUM_VERIFY_EACH",
        doc="verify the IR after every pass, and that dataflow analyses are monotone",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    pass_fuel = Text(
        None,
        "TRITIUM_PASS_FUEL",
        doc="run the first N passes; N:M: and of the last, M rewrites",
        invalidates=True,
        kind=SEMANTIC,
    )
    reproducer_path = Text(
        None,
        "TRITON_REPRODUCER_PATH",
        doc="write every stage's input and passes to PATH.make_<stage>.repro.mlir",
        kind=INSTRUMENTATION,
    )
    trace = Text(
        None,
        "TRITIUM_TRACE",
        doc="a file to which compiles add records of stages, passes and rewrites",
        kind=INSTRUMENTATION,
    )
    crash_path = Text(
        None, "TRITIUM_CRASH_REPRODUCER", doc="where a pass that fails leaves its input", kind=INSTRUMENTATION
    )
    dump_llvm = Flag(
        False,
        "LLVM_IR_ENABLE_DUMP",
        doc="print LLVM's IR before and after its passes",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    time_llvm = Flag(False, "LLVM_ENABLE_TIMING", doc="print the time of LLVM's passes", kind=INSTRUMENTATION)
    disable_llvm_opt = Flag(False, "DISABLE_LLVM_OPT", doc="as optimization level 0", invalidates=True, kind=SEMANTIC)
    plugins = Text(
        None,
        "TRITIUM_PLUGINS",
        doc="modules to import before compiling, with commas between: dialects, passes, functions of the language",
        invalidates=True,
        kind=SEMANTIC,
    )
    instrumentation_mode = Text(
        "",
        "TRITON_INSTRUMENTATION_MODE",
        doc="the option `instrumentation_mode` of launches that name none: consan, iisan",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    enable_experimental_consan = Flag(
        False,
        "TRITON_ENABLE_EXPERIMENTAL_CONSAN",
        doc="as `instrumentation_mode` consan, where that is not set",
        invalidates=True,
        kind=INSTRUMENTATION,
    )
    consan_init_allocations = Flag(
        True,
        "TRITON_CONSAN_INIT_ALLOCATIONS",
        doc="no effect: shared memory is always filled before an emulated launch",
        kind=HINT,
    )
    enable_llvm_debug = UnsupportedFlag(
        False, "TRITON_ENABLE_LLVM_DEBUG", doc="LLVM here has no debug output", kind=INSTRUMENTATION
    )
    llvm_debug_only = UnsupportedText(
        None, "TRITON_LLVM_DEBUG_ONLY", doc="LLVM here has no debug output", kind=INSTRUMENTATION
    )
    llvm_pass_plugin_path = UnsupportedText(
        None,
        "LLVM_PASS_PLUGIN_PATH",
        doc="LLVM here loads no plugins; passes of IR are inserted by `plugins`",
        kind=SEMANTIC,
    )
    plugin_paths = UnsupportedText(
        None, "TRITON_PLUGIN_PATHS", doc="plugins are Python modules, which TRITIUM_PLUGINS names", kind=SEMANTIC
    )
    enable_python_stacktrace = Flag(
        False, "TRITON_ENABLE_PYTHON_STACKTRACE", doc="no effect: the compiler is Python, and has its stack", kind=HINT
    )
    partition_scheduling_enable_dump_dot = UnsupportedFlag(
        False,
        "TRITON_PARTITION_SCHEDULING_ENABLE_DUMP_DOT",
        doc="partitions are printed by `print_passes`",
        kind=INSTRUMENTATION,
    )
    listener = Hook(
        "called as listener(src=, metadata=, metadata_group=, times=, cache_hit=) once a compile", kind=SEMANTIC
    )


class AutotuningSettings(Group):
    """How the autotuner behaves."""

    cache = Flag(False, "TRITON_CACHE_AUTOTUNING", doc="keep tuning results on disk", kind=SEMANTIC)
    print = Flag(False, "TRITON_PRINT_AUTOTUNING", doc="say what was tuned, and what won", kind=INSTRUMENTATION)
    warmup = Integer(5, "TRITON_BENCH_WARMUP", doc="milliseconds of running before timing", kind=SEMANTIC)
    rep = Integer(25, "TRITON_BENCH_REP", doc="milliseconds of timing", kind=SEMANTIC)
    processes = Integer(
        0,
        "TRITIUM_AUTOTUNE_PROCESSES",
        doc="processes that compile configurations; 1: none but this one; 0: as many as cores, if there are four",
        kind=HINT,
    )
    listener = Hook(
        "called as listener(fn=, key=, best_config=, configs_timings=, duration=, cache_hit=)", kind=SEMANTIC
    )


class RuntimeSettings(Group):
    """What happens around launches."""

    interpret = Flag(False, "TRITON_INTERPRET", doc="run kernels in Python instead of compiling them", kind=SEMANTIC)
    debug = Flag(
        False,
        "TRITON_DEBUG",
        doc="keep device_assert in kernels that do not ask for it",
        invalidates=True,
        kind=SEMANTIC,
    )
    sanitize = Flag(
        False, "TRITIUM_SANITIZE", doc="check the bounds of every access", invalidates=True, kind=INSTRUMENTATION
    )
    num_threads = Integer(0, "TRITIUM_NUM_THREADS", doc="threads of a launch on the CPU; 0 for all cores", kind=HINT)
    target = Text(
        None,
        "TRITIUM_TARGET",
        doc="where kernels run that no argument ties to a device: cpu or cuda; by default a GPU if there is one; "
        "emulated:90 runs all kernels on an emulated GPU of that capability, emulated:gfx942 on an emulated AMD GPU",
        kind=SEMANTIC,
    )
    default_backend = Text(
        None,
        "TRITON_DEFAULT_BACKEND",
        doc="nvidia, amd or cpu: `target` by the names of Triton's backends, where that is not set",
        kind=SEMANTIC,
    )
    override_arch = Text(
        None,
        "TRITON_OVERRIDE_ARCH",
        doc="compile for this architecture in place of the device's",
        invalidates=True,
        kind=SEMANTIC,
    )
    progress = Flag(
        True,
        "TRITIUM_PROGRESS",
        doc="show work that lasts over a second, on a terminal (stderr) or in a notebook",
        kind=SEMANTIC,
    )
    launch_enter_hook = Chain("called with the launch's metadata before a kernel runs", kind=SEMANTIC)
    launch_exit_hook = Chain("called with the launch's metadata after a kernel ran", backwards=True, kind=SEMANTIC)
    kernel_load_start_hook = Chain(
        "called as hook(module, function, name, metadata_group, hash) before code is loaded", kind=SEMANTIC
    )
    kernel_load_end_hook = Chain("the same after it was loaded", backwards=True, kind=SEMANTIC)
    kernel_unload_hook = Chain("called when code is unloaded", backwards=True, kind=SEMANTIC)
    jit_cache_hook = Hook("called before a compile; a true answer cancels it", kind=SEMANTIC)
    jit_post_compile_hook = Hook("called after a compile", kind=SEMANTIC)
    add_stages_inspection_hook = Hook("may look at and change a compile's stages", kind=SEMANTIC)


_deprecations = LazyModule(".deprecations", __package__)


class LanguageSettings(Group):
    """Meaning of kernels."""

    fp32_default = Text(
        None, "TRITON_F32_DEFAULT", doc="input precision of tl.dot on f32", invalidates=True, kind=SEMANTIC
    )
    default_fp_fusion = Flag(
        True, "TRITON_DEFAULT_FP_FUSION", doc="a*b + c may be one operation", invalidates=True, kind=SEMANTIC
    )
    force_disable_fp_fusion = Flag(
        False,
        "TRITON_FORCE_DISABLE_FP_FUSION",
        doc="never fuse a multiplication and an addition into one instruction",
        invalidates=True,
        kind=SEMANTIC,
    )

    def fp_fusion_enabled(self, requested: bool | None) -> bool:
        """Whether a kernel for a GPU that asks so (None: it does not say) may fuse multiplications and additions.

        Warns once where neither the kernel nor a setting says: the default changes in Triton 3.10.
        """
        if requested is None and not self.force_disable_fp_fusion and "TRITON_DEFAULT_FP_FUSION" not in os.environ:
            _deprecations.warn_once(_deprecations.FP_FUSION_DEFAULT_WARNING)
        return not self.force_disable_fp_fusion and (self.default_fp_fusion if requested is None else requested)


build = BuildSettings()
redis = RedisSettings()
cache: CacheSettings = CacheSettings()
compilation = CompilationSettings()
autotuning = AutotuningSettings()
runtime = RuntimeSettings()
language = LanguageSettings()
nvidia = NvidiaSettings()
amd = AmdSettings()
proton = ProtonSettings()

GROUPS: dict[str, Group] = {
    "build": build,
    "redis": redis,
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
