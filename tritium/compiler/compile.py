"""`compile`: run a source through the stages of a target's backend, or read the result from the cache."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..backends.compiler import BaseBackend
from ..backends.errors import OutOfResources
from ..backends.options import check_known
from ..support import OptionError, TritiumError, settings
from ..support.collection import paused
from ..support.dataclasses import asdict
from ..support.errors import interrupts
from ..support.generated import keep_generated
from ..support.lazy import LazyModule
from ..support.progress import shown
from ..support.recursion import with_deep_recursion
from .backend import make_backend
from .cache import KernelCache
from .cache_choice import open_cache
from .entry import Entry
from .kernel import CompiledKernel, LazyStages, StageFiles, recompile_with
from .key import as_json, describe_key, get_cache_key
from .run_stages import CompileTimes, Lowering, dump_rest
from .source import IRSource, SourceError
from .stage_text import MLIR_STAGES

if TYPE_CHECKING:
    from .moved_locations import PositionedSource
    from .workers import CompilerPool

__all__ = ["CompileTimes", "compile", "compile_for", "default_target", "stages_hook_key"]


_copy = LazyModule("copy")
_why = LazyModule(".why", __package__)
_hook_errors = LazyModule("..support.hook_errors", __package__)
_launch_predicate = LazyModule("..support.launch_predicate", __package__)
_cpu_target = LazyModule("..backends.cpu.target", __package__)
_files = LazyModule(".stage_files", __package__)
_moved = LazyModule(".moved_locations", __package__)
_plugins = LazyModule(".plugins", __package__)
_stated = LazyModule(".stated_target", __package__)
_trace = LazyModule(".trace", __package__)
_views = LazyModule(".module_views", __package__)


def default_target() -> Any:
    """The host CPU."""
    return _cpu_target.host_target()


_current_target: list[Callable[[], Any]] = [default_target]


def compile_for(current_target: Callable[[], Any]) -> None:
    """Set the default target of `compile`; the runtime, which has the active driver, does so at import."""
    _current_target[:] = [current_target]


@with_deep_recursion("the compiler")
def compile(
    src: Any,
    target: Any = None,
    options: Mapping[str, Any] | None = None,
    until: str | None = None,
    elsewhere: CompilerPool | None = None,
    launch: Mapping[str, object] | None = None,
    _env_vars: Mapping[str, Any] | None = None,
) -> CompiledKernel:
    """Compile `src` (an ASTSource, an IRSource, or the path of a file with a stage's text) for `target`.

    `target` is a target value (default: that of the active driver), `options` a mapping of option names; `until` names
    the last stage (default: machine code), `elsewhere` worker processes for the later stages. Raises CompilationError
    for wrong kernels, BackendError for code that the target refuses, KeyError for unknown options, SourceError for a
    stage that the target does not have, UnsupportedStage for one that is not implemented yet (without `until`, machine
    code). `launch` has the `grid` and `arguments` of the launch that this compile is for, if it is known: where it
    cannot run the version that the options ask for (`support/launch_predicate`), the result is the version that any
    launch can run, and its attribute `deferred` says which launches can run the other one. `_env_vars` is Triton's:
    settings for the key in place of the current ones.
    """
    start = time.perf_counter_ns()
    settings.compilation.check_supported()
    if settings.compilation.plugins:
        _plugins.load_plugins()
    if isinstance(src, (str, os.PathLike)):
        src = IRSource(src)
    elif isinstance(src, IRSource):
        src = src.plain()
    elif not hasattr(src, "parse_options"):
        call = "tritium.ASTSource(kernel, signature, constexprs)"
        raise SourceError(
            f"compile takes an ASTSource or a path, not {type(src).__name__}\nhint: wrap a kernel: {call}"
        )
    backend = make_backend(_target_of(src) if target is None else target)
    if settings.runtime.add_stages_inspection_hook is not None:
        backend = _copy.copy(backend)  # the hook may set attributes (`binary_ext`) for this compile
    chosen = _options(src, backend, options or {})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, chosen, src.language)
    if isinstance(src, IRSource):
        _check_file(src, backend, stages, chosen)
    if until is not None:
        stages = _cut(backend, stages, src.first_stage, until)
    if src.first_stage in backend.planned_stages:
        raise backend.missing_stage(src.first_stage, list(stages))
    stage_key = _inspect_stages(backend, stages, chosen, src.language) + (f"until:{until}" if until else "")
    if _env_vars is not None and dict(_env_vars) != settings.invalidating_environment():
        stage_key += f"environment:{sorted(_env_vars.items())}"
    if until is None:
        _check_binary(backend, stages)
    replaced = None
    if settings.compilation.override or getattr(chosen, "ir_override", None):
        replaced = _files.Replacements(src, chosen, stages)
        replaced.tell()
        stage_key += replaced.key
    if settings.insertions.value:
        stage_key += _plugins.plugins_key()
    key = get_cache_key(src, backend, chosen, stage_key)
    trace = None
    if settings.compilation.trace is not None:
        trace = _trace.CompileTrace(settings.compilation.trace, src, backend.describe(), chosen, key)
    cache = None if settings.cache.disable else open_cache()
    if cache is not None and not settings.compilation.always_compile:
        entry = cache.read(key)
        if entry is not None and _serves(entry, src, stages):
            entry.metadata.update(getattr(chosen, "at_launch", {}))  # the entry has those of the compile that made it
            if trace is not None:
                trace.end(CompileTimes(), "hit")
            found = CompileTimes(ir_initialization=max(1, (time.perf_counter_ns() - start) // 1000))
            return _finish(src, backend, stages, entry, found, cache_hit=True)
        predicate = None if entry is None else _refused(entry, launch)
    else:
        predicate = None
    if predicate is None:
        try:
            return _compile(src, backend, stages, chosen, key, stage_key, cache, replaced, trace, elsewhere, launch)
        except TritiumError as error:
            if not isinstance(error, _launch_predicate.OtherVersion):
                raise
            predicate = error.predicate
        if cache is not None:
            cache.write(key, Entry({"name": src.name, "deferred": predicate}))
    kernel: CompiledKernel = compile(
        src, target, {**(options or {}), **_launch_predicate.PLAIN}, until, elsewhere, _env_vars=_env_vars
    )
    kernel.deferred = None if predicate == _launch_predicate.NEVER else predicate
    return kernel


def _refused(entry: Entry, launch: Mapping[str, object] | None) -> str | None:
    """The launch predicate of a version that was not compiled, which this launch cannot run either."""
    predicate: str | None = entry.metadata.get("deferred")
    never = predicate == _launch_predicate.NEVER
    if predicate is None or not (never or (launch is not None and not _launch_predicate.allows(predicate, launch))):
        return None
    return predicate


def _serves(entry: Entry, src: Any, stages: Mapping[str, Any]) -> bool:
    """Whether an entry is complete for its kernel. (It may not have been written by a compile.)"""
    last = [name for name, stage in stages.items() if not getattr(stage, "on_demand", False)] or [src.first_stage]
    return last[-1] in entry.stages and entry.metadata.get("name") == src.name and "target" in entry.metadata


def _target_of(src: Any) -> Any:
    """The target of a source without an explicit one."""
    active = _current_target[0]
    return _stated.choose_target(src, active) if isinstance(src, IRSource) else active()


def _check_file(src: IRSource, backend: BaseBackend, stages: Mapping[str, Any], options: Any) -> None:
    """SourceError for a file whose stage the target does not have, or that was made for an incompatible target."""
    if src.ext not in ("source", *stages, *backend.planned_stages):
        kind = backend.describe().backend
        hint = _stated.other_target_hint(src)
        raise SourceError(f"{src.path.name}: {kind} has no stage {src.ext!r}; there are: {', '.join(stages)}{hint}")
    _stated.check_target(src, backend, options)


def _options(src: Any, backend: BaseBackend, given: Mapping[str, Any]) -> Any:
    """The options of a compile; an error names the kernel."""
    values = {**src.parse_options(), **given}
    try:
        check_known(values, backend.option_names())
        return backend.parse_options(values)
    except OutOfResources as error:
        raise OutOfResources(error.required, error.limit, error.name, src.name, error.place, error.hint) from None
    except OptionError as error:
        raise type(error)(f"kernel {src.name}: {error}") from None


def _cut(backend: BaseBackend, stages: dict[str, Any], first: str, until: str) -> dict[str, Any]:
    """The stages up to `until`, which comes after `first`."""
    names = list(stages)
    if until in backend.planned_stages:
        raise backend.missing_stage(until, names)
    if until not in stages:
        raise SourceError(f"there is no stage {until!r}; there are: {', '.join(names)}")
    if first in stages and names.index(until) < names.index(first):
        raise SourceError(f"the stage {until} comes before {first}, which the source is")
    return {name: stages[name] for name in names[: names.index(until) + 1]}


def _check_binary(backend: BaseBackend, stages: Mapping[str, Any]) -> None:
    """UnsupportedStage if no stage makes machine code: a kernel that cannot be launched needs an explicit `until`."""
    missing = [name for name in backend.planned_stages if name not in stages]
    if backend.binary_ext in missing:
        raise backend.missing_stage(missing[0], list(stages))


def _inspect_stages(backend: BaseBackend, stages: dict[str, Any], options: Any, language: Any) -> str:
    """Call the user's hook, which may edit the stages; its key becomes part of the kernel's."""
    hook = settings.runtime.add_stages_inspection_hook
    key = None if hook is None else stages_hook_key(hook)
    if hook is None or key is None:
        return ""
    _ = _views.ModuleView  # a stage of the hook gets a module that has the accessors of Triton's bindings
    before = dict(stages)
    try:
        hook(backend, stages, options, language, getattr(backend.target, "capability", None))
    except interrupts():
        raise
    except Exception as error:
        if getattr(hook, "propagate_errors", False):
            raise
        stages.clear()
        stages.update(before)
        _hook_errors.warn_of_hook(
            "runtime.add_stages_inspection_hook", hook, error, "the stages are compiled as they were"
        )
        return ""
    return str(key[1])


def stages_hook_key(hook: Callable[..., Any]) -> tuple[Any, Any] | None:
    """The key of a hook that changes stages, and its hash: the result of a call without arguments; None if it
    raises."""
    try:
        found = hook()
    except interrupts():
        raise
    except Exception as error:
        if getattr(hook, "propagate_errors", False):
            raise
        _hook_errors.warn_of_hook("runtime.add_stages_inspection_hook", hook, error)
        return None
    if not isinstance(found, tuple) or len(found) != 2:
        raise OptionError(
            "add_stages_inspection_hook must give a key and its hash when it is called without arguments, "
            f"not {found!r}: they distinguish kernels compiled with different stages"
        )
    return found


def _compile(
    src: Any,
    backend: BaseBackend,
    stages: dict[str, Any],
    options: Any,
    key: str,
    stage_key: str,
    cache: KernelCache | None,
    replaced: Any,
    trace: Any,
    elsewhere: CompilerPool | None,
    launch: Mapping[str, object] | None = None,
) -> CompiledKernel:
    times = CompileTimes()
    target = backend.describe()
    metadata: dict[str, Any] = {
        **asdict(options),
        "hash": key,
        "name": src.name,
        "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
        "shared": 0,
        "signature": list(src.signature.values()),
    }
    if launch is not None:
        metadata["launch"] = launch
    work = Lowering(src, backend, stages, options, metadata, times, replaced, trace)
    watched = shown(lambda: f"compiling {src.name}: {times.running}")
    with paused(), watched, trace.running() if trace is not None else nullcontext():
        texts = work.begin() if elsewhere is None else elsewhere.begin(work)
        texts.update(work.run() if elsewhere is None else elsewhere.run(work))
    metadata.pop("launch", None)
    start = time.perf_counter_ns()
    described = describe_key(src, backend, options, stage_key)
    times.cache_miss = _why.CacheMiss(key, described, cache)
    entry = Entry(metadata, texts, as_json(described))
    if cache is not None:
        cache.write(key, _kept(entry, backend) if settings.compilation.store_binary_only else entry)
        keep_generated()
    times.store_results = (time.perf_counter_ns() - start) // 1000
    if trace is not None:
        trace.end(times, "off" if cache is None or settings.compilation.always_compile else "miss")
    return _finish(src, backend, stages, entry, times, cache_hit=False)


def _kept(entry: Entry, backend: BaseBackend) -> Entry:
    kept = backend.binary_ext if backend.binary_ext in entry.stages else list(entry.stages)[-1]
    return Entry(entry.metadata, {kept: entry.stages[kept]}, entry.described)


def _finish(
    src: Any, backend: BaseBackend, stages: Mapping[str, Any], entry: Entry, times: CompileTimes, cache_hit: bool
) -> CompiledKernel:
    def maker(stage: Any) -> Any:
        return lambda known: stage(known[stage.source], entry.metadata)

    makers = {n: maker(s) for n, s in stages.items() if getattr(s, "on_demand", False) and s.source in entry.stages}
    first = [n for n in entry.stages if n not in stages]
    names = first + [n for n in stages if n in entry.stages or n in makers]
    taken = {}
    if not cache_hit:
        taken = {src.first_stage: times.ir_initialization / 1e3, **{n: t / 1e3 for n, t in times.lowering_stages}}
    absent = {name: backend.missing_stage(name, list(stages)) for name in backend.planned_stages}
    updates = _location_updates(entry, src) if cache_hit else {}
    texts = LazyStages(names, entry.stages, makers, absent, backend.extra_texts(), updates)
    if settings.compilation.dump_ir:
        dump_rest(src, texts, () if cache_hit else entry.stages)
    kernel = CompiledKernel(src, StageFiles(backend, entry.metadata, texts, taken), entry.metadata["hash"])
    listener = settings.compilation.listener
    if listener is not None:
        _hook_errors.call_hook(
            "compilation.listener",
            listener,
            src=src,
            metadata={**entry.metadata, "target": backend.describe()},
            metadata_group=kernel.metadata_group,
            times=times,
            cache_hit=cache_hit,
        )
    return kernel


def _location_updates(entry: Entry, src: PositionedSource) -> dict[str, Callable[[str], str]]:
    """For the stages of an entry whose text has locations, functions from it to the text with current locations."""
    if b'"seen at"' not in entry.described:  # then positions are part of the key
        return {}

    def update(text: str) -> str:
        current: str = _moved.current_text(text, entry, src)
        return current

    return {name: update for name in MLIR_STAGES if isinstance(entry.stages.get(name), str)}


recompile_with(compile)
