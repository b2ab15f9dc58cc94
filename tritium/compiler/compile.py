"""`compile`: a source through the stages of a target's backend, or out of the cache."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..backends.compiler import BaseBackend
from ..support import OptionError, settings
from ..support.dataclasses import dataclass
from ..support.folders import cache_folder
from ..support.lazy import LazyModule
from .backend import make_backend
from .cache import Entry, KernelCache
from .kernel import CompiledKernel, LazyStages
from .source import IRSource, SourceError
from .version import package_key

__all__ = ["CompileTimes", "compile", "compile_for", "default_target", "get_cache_key"]

_cpu_target = LazyModule("..backends.cpu.target", __package__)


@dataclass
class CompileTimes:
    """Where the time of a compile went, in microseconds: making the first IR, each stage, and storing the result.

    `imports` is what a process's first compile pays for loading the compiler itself.
    """

    ir_initialization: int = 0
    lowering_stages: list[tuple[str, int]] = field(default_factory=list)
    store_results: int = 0
    imports: int = 0

    @property
    def total_lowering(self) -> int:
        """Microseconds of all stages together."""
        return sum(t for _, t in self.lowering_stages)

    @property
    def total(self) -> int:
        """Microseconds of everything."""
        return self.imports + self.ir_initialization + self.total_lowering + self.store_results


_gc_lock = threading.Lock()
_gc_users = 0
_gc_was_on = False


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection meanwhile: IR is full of cycles that live as long as the compile (30-50 % of its time)."""
    global _gc_users, _gc_was_on
    with _gc_lock:
        if _gc_users == 0:
            _gc_was_on = gc.isenabled()
            gc.disable()
        _gc_users += 1
    try:
        yield
    finally:
        with _gc_lock:
            _gc_users -= 1
            if _gc_users == 0 and _gc_was_on:
                gc.enable()


def default_target() -> Any:
    """The processor we run on."""
    return _cpu_target.host_target()


_current_target: list[Callable[[], Any]] = [default_target]


def compile_for(current_target: Callable[[], Any]) -> None:
    """What `compile` compiles for if it is not told: the runtime, which knows the active driver, says so at import."""
    _current_target[:] = [current_target]


def get_cache_key(src: Any, backend: BaseBackend, options: Any, stage_key: str = "") -> str:
    """What the compiled code depends on, as one hexadecimal hash.

    These are: the source with its callees and the globals they read, types, constants and attributes; options; the
    target and its tools; this compiler; settings that change code.
    """
    environment = sorted(settings.invalidating_environment().items())
    parts = (src.hash(), backend.hash(), options.key, package_key(), environment, stage_key)
    return sha256(repr(parts).encode()).hexdigest()


def compile(
    src: Any, target: Any = None, options: Mapping[str, Any] | None = None, until: str | None = None
) -> CompiledKernel:
    """Compile `src` (an ASTSource, an IRSource, or the path of a file with a stage's text) for `target`.

    `target` is a target value (default: that of the active driver), `options` a mapping of option names; `until` names
    the last stage that is wanted (default: machine code). Raises CompilationError for kernels that are wrong,
    BackendError for code the target refuses, KeyError for unknown options, SourceError for a stage that the target does
    not have.
    """
    backend = make_backend(_current_target[0]() if target is None else target)
    if isinstance(src, (str, Path)):
        src = IRSource(src)
    chosen = _options(src, backend, options or {})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, chosen, src.language)
    if isinstance(src, IRSource) and src.ext not in ("source", *stages, *backend.planned_stages):
        kind = backend.describe().backend
        raise SourceError(f"{src.path.name}: {kind} has no stage {src.ext!r}; there are: {', '.join(stages)}")
    if until is not None:
        stages = _cut(backend, stages, src.ext, until)
    if src.ext in backend.planned_stages:
        raise backend.missing_stage(src.ext, list(stages))
    stage_key = _inspect_stages(backend, stages, chosen, src.language) + (f"until:{until}" if until else "")
    key = get_cache_key(src, backend, chosen, stage_key)
    cache = None if settings.cache.disable else KernelCache()
    if cache is not None and not settings.compilation.always_compile and not settings.compilation.override:
        entry = cache.read(key)
        if entry is not None:
            entry.metadata.update(getattr(chosen, "at_launch", {}))  # the entry has those of who made it
            return _finish(src, backend, stages, entry, CompileTimes(), cache_hit=True)
    return _compile(src, backend, stages, chosen, key, cache)


def _options(src: Any, backend: BaseBackend, given: Mapping[str, Any]) -> Any:
    """The options of a compile; an OptionError names the kernel."""
    try:
        return backend.parse_options({**src.parse_options(), **given})
    except OptionError as error:
        raise OptionError(f"kernel {src.name}: {error}") from None


def _cut(backend: BaseBackend, stages: dict[str, Any], first: str, until: str) -> dict[str, Any]:
    """The stages up to `until`, which comes behind `first`."""
    names = list(stages)
    if until in backend.planned_stages:
        raise backend.missing_stage(until, names)
    if until not in stages:
        raise SourceError(f"there is no stage {until!r}; there are: {', '.join(names)}")
    if first in stages and names.index(until) < names.index(first):
        raise SourceError(f"the stage {until} comes before {first}, which the source is")
    return {name: stages[name] for name in names[: names.index(until) + 1]}


def _inspect_stages(backend: BaseBackend, stages: dict[str, Any], options: Any, language: Any) -> str:
    """Let the user's hook edit the stages; its own key becomes part of the kernel's."""
    hook = settings.runtime.add_stages_inspection_hook
    if hook is None:
        return ""
    hook(backend, stages, options, language, None)
    return str(hook()[1])


def _compile(
    src: Any, backend: BaseBackend, stages: dict[str, Any], options: Any, key: str, cache: KernelCache | None
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
    with _without_collection():
        texts = _run_stages(src, backend, stages, options, metadata, times)
    entry = Entry(metadata, texts)
    start = time.perf_counter_ns()
    if cache is not None:
        cache.write(key, _kept(entry, backend) if settings.compilation.store_binary_only else entry)
    times.store_results = (time.perf_counter_ns() - start) // 1000
    return _finish(src, backend, stages, entry, times, cache_hit=False)


def _kept(entry: Entry, backend: BaseBackend) -> Entry:
    kept = backend.binary_ext if backend.binary_ext in entry.stages else list(entry.stages)[-1]
    return Entry(entry.metadata, {kept: entry.stages[kept]})


def _run_stages(
    src: Any, backend: BaseBackend, stages: dict[str, Any], options: Any, metadata: dict[str, Any], times: CompileTimes
) -> dict[str, str | bytes]:
    """The text (or bytes) of every stage that is not made on demand, from the source's own on."""
    start = time.perf_counter_ns()
    src.prepare()
    backend.prepare()
    times.imports = (time.perf_counter_ns() - start) // 1000
    start = time.perf_counter_ns()
    value = src.make_ir(backend.target, options)
    texts: dict[str, str | bytes] = {src.ext: backend.text_of(value)}
    results = {src.ext: value}
    times.ir_initialization = (time.perf_counter_ns() - start) // 1000
    names = list(stages)
    for name in names[names.index(src.ext) + 1 :] if src.ext in stages else names:
        stage = stages[name]
        if getattr(stage, "on_demand", False):
            continue
        start = time.perf_counter_ns()
        replaced = _override(metadata, name, name == backend.binary_ext)
        if replaced is None:
            source = getattr(stage, "source", None)
            value = stage(results[source] if source else value, metadata)
        else:
            value = replaced
        results[name] = value
        texts[name] = backend.text_of(value)
        times.lowering_stages.append((name, (time.perf_counter_ns() - start) // 1000))
        _dump(metadata, name, texts[name])
    return texts


def _dump(metadata: Mapping[str, Any], stage: str, text: str | bytes) -> None:
    """Write a stage to `cache.dump_dir`/<hash>/<kernel>.<stage>, if that is asked for."""
    if not settings.compilation.dump_ir:
        return
    folder = Path(settings.cache.dump_dir or cache_folder() / "dump", metadata["hash"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{metadata['name']}.{stage}").write_bytes(text if isinstance(text, bytes) else text.encode())


def _override(metadata: Mapping[str, Any], stage: str, binary: bool) -> Any:
    """A stage the user has put into `cache.override_dir`, or None."""
    if not settings.compilation.override:
        return None
    path = Path(settings.cache.override_dir or cache_folder() / "override", metadata["hash"])
    path = path / f"{metadata['name']}.{stage}"
    if not path.exists():
        return None
    return path.read_bytes() if binary else IRSource(path).make_ir(None, None)


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
        taken = {src.ext: times.ir_initialization / 1e3, **{n: t / 1e3 for n, t in times.lowering_stages}}
    absent = {name: backend.missing_stage(name, list(stages)) for name in backend.planned_stages}
    texts = LazyStages(names, entry.stages, makers, absent, backend.extra_texts())
    kernel = CompiledKernel(src, backend, entry.metadata, texts, taken)
    listener = settings.compilation.listener
    if listener is not None:
        listener(
            src=src,
            metadata=entry.metadata,
            metadata_group=kernel.metadata_group,
            times=times,
            cache_hit=cache_hit,
        )
    return kernel
