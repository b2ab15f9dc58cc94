"""Choosing among configurations by running them: `autotune`, and meta-parameters from arguments: `heuristics`."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ..backends.errors import BackendError
from ..compiler import Entry, KernelCache, make_backend, package_key
from ..frontend.errors import CompilationError
from ..support import InternalError, TritiumError, settings
from ..support.hashing import sha256
from ..support.hook_errors import call_hook
from ..support.lazy import LazyMethod, LazyModule
from ..support.suggestions import did_you_mean
from .arrays import HOST, element_name, is_array
from .benchmark import do_bench, do_bench_cpu, do_bench_cudagraph
from .driver_config import driver
from .errors import AutotunerError, ConfigError, ConflictError, OutOfResources, PTXASError
from .jit import JITFunction, KernelInterface
from .kernel_pickling import PickledWrapper
from .placement import place
from .tuning_config import Config

__all__ = ["Autotuner", "Config", "Heuristics", "autotune", "heuristics"]

_tuning = LazyModule(".tuning", __package__)  # most processes do not tune

# errors of an unfit configuration; if all are unfit, the kernel is wrong
_UNFIT = (OutOfResources, PTXASError, BackendError, CompilationError, InternalError)

_NUMBERS = frozenset((int, float, bool, str, type(None)))


# ---- arrays of any library ------------------------------------------------------------------------------------------


def _clone(x: Any) -> Any:
    return x.clone() if hasattr(x, "clone") else x.copy()


def _assign(x: Any, value: Any) -> None:
    if hasattr(x, "copy_"):
        x.copy_(value)
    else:
        x[...] = value


def _clear(x: Any) -> None:
    if hasattr(x, "zero_"):
        x.zero_()
    else:
        x[...] = 0


def _accepted(fn: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords that a function has parameters for: functions of old kernels lack some."""
    parameters = inspect.signature(fn).parameters
    if any(p.kind == p.VAR_KEYWORD for p in parameters.values()):
        return keywords
    return {name: value for name, value in keywords.items() if name in parameters}


_PRUNING = ("early_config_prune", "perf_model", "top_k")
_TOP = "configs_top_k"  # PyTorch's compiler uses the name of the attribute for the last


class _Pruner:
    """`prune_configs_by`: which configurations are worth timing."""

    def __init__(self, rules: dict[str, Any] | None) -> None:
        rules = rules or {}
        for name in rules:
            if name not in _PRUNING and name != _TOP:
                hint = did_you_mean(name, _PRUNING) or f"rules are: {', '.join(_PRUNING)}"
                raise ConfigError(f"prune_configs_by: there is no rule {name!r}; {hint}")
        self.model = rules.get("perf_model")
        self.top = rules.get("top_k", rules.get(_TOP, 1.0))
        self.early = rules.get("early_config_prune")

    def __call__(self, configs: list[Config], named: dict[str, Any], kwargs: dict[str, Any]) -> list[Config]:
        if self.early is not None:
            configs = list(self.early(configs, named, **_accepted(self.early, kwargs)))
            if not configs:
                raise AutotunerError(
                    "Autotuner error: No valid autotuner configs after pruning. `early_config_prune` should return at "
                    "least one config."
                )
        if self.model is not None:
            top = int(len(configs) * self.top) if isinstance(self.top, float) and self.top <= 1.0 else self.top
            if not isinstance(top, int):
                raise TypeError("top_k is an integer, or a float up to 1")
            if len(configs) > top:
                times = {c: self.model(**named, **kwargs, **c.all_kwargs()) for c in configs}
                configs = sorted(configs, key=lambda c: times[c])[: max(top, 1)]
        return configs


class Autotuner(PickledWrapper, KernelInterface[Any]):
    """A kernel that times its configurations for each new key, and launches with the fastest.

    The key is the values of the arguments named in `key` and the element types of all arrays. Attributes: `cache` (key
    -> best), `best_config`, `configs_timings` (of the last tuning: milliseconds, a list of median, 20 % and 80 %
    quantile), `bench_time` (seconds it took), `fn`, `base_fn`, `arg_names`, `configs`, `keys`, and
    `early_config_prune`, `perf_model`, `configs_top_k` from `prune_configs_by`.
    """

    _repr_mimebundle_ = LazyMethod("..support.display", __package__)  # what notebooks show

    def __init__(
        self,
        fn: Any,
        arg_names: Sequence[str],
        configs: Sequence[Config] | None,
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None,
        restore_value: Sequence[str] | None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        self.configs = list(configs) if configs else [Config({})]
        self.keys = list(key)
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.arg_names = list(arg_names)
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.fn = fn
        self.base_fn = fn
        while not inspect.isfunction(self.base_fn):
            self.base_fn = self.base_fn.fn
        self._check_names()
        self._hooks(pre_hook, post_hook)
        self._pruner = _Pruner(prune_configs_by)
        self.early_config_prune, self.perf_model = self._pruner.early, self._pruner.model
        self.configs_top_k = self._pruner.top
        self.num_warmups, self.num_reps = warmup, rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.cache_results = cache_results or settings.autotuning.cache
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, Any] = {}
        self.bench_time: float | None = None
        self.nargs: dict[str, Any] | None = None
        self._preferred: Config | None = None  # by the last search
        self._unfit: dict[Config, Exception] = {}  # errors of the configurations timed last
        self.__name__ = self.base_fn.__name__
        self.__doc__ = self.base_fn.__doc__

    def _check_names(self) -> None:
        name = self.base_fn.__name__
        for label, listed in (("reset_to_zero", self.reset_to_zero), ("restore_value", self.restore_value)):
            for n in listed:
                if n not in self.arg_names:
                    known = ", ".join(self.arg_names)
                    raise ConfigError(f"{label}: {name} has no argument {n!r}; it has: {known}")
        for n in self.keys:
            if n not in self.arg_names:  # an error in recent Triton; published kernels have such keys
                warnings.warn(f"autotune: {name} has no argument {n!r}, named in its key", stacklevel=5)

    def _hooks(self, pre_hook: Callable[..., Any] | None, post_hook: Callable[..., Any] | None) -> None:
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self._saved: dict[str, Any] = {}
        self.pre_hook = pre_hook or self._prepare_arguments
        self.post_hook = post_hook or self._restore_arguments

    def _prepare_arguments(self, args: dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if args[name] is not None:  # an optional argument that was not given
                _clear(args[name])
        if not reset_only:
            self._saved = {name: _clone(args[name]) for name in self.restore_value if args[name] is not None}

    def _restore_arguments(self, args: dict[str, Any], exception: Exception | None = None) -> None:
        for name, value in self._saved.items():
            _assign(args[name], value)
        self._saved = {}

    @cached_property
    def do_bench(self) -> Callable[..., Any]:
        """The function that times a launch: `do_bench(call, quantiles=...)`."""
        return self._do_bench or self._default_bench

    def _default_bench(self, call: Callable[[], Any], quantiles: Sequence[float]) -> Any:
        warmup = settings.autotuning.warmup if self.num_warmups is None else self.num_warmups
        rep = settings.autotuning.rep if self.num_reps is None else self.num_reps
        where = self._where()
        if self.use_cuda_graph and where != HOST:
            return do_bench_cudagraph(call, rep or 0, quantiles=quantiles)
        bench = do_bench_cpu if where == HOST else do_bench
        return bench(call, warmup or 0, rep or 0, quantiles=quantiles)

    def _where(self) -> int | None:
        """The device of the arguments; see `place`."""
        named = self.nargs or {}
        return place(list(named), list(named.values()))

    # -- tuning -------------------------------------------------------------------------------------------------------

    def _keywords(self, config: Config, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a launch with a configuration."""
        chosen = config.all_kwargs()
        conflicts = kwargs.keys() & chosen.keys()
        if conflicts:
            raise ConflictError(
                f"{self.base_fn.__name__}: conflicting meta-parameters: {', '.join(sorted(conflicts))}\n"
                "hint: what the configurations of autotune set, a launch does not set; leave one of them out"
            )
        return {**kwargs, **chosen}

    def _promise(self, args: tuple[Any, ...], config: Config, kwargs: dict[str, Any]) -> Any:
        """The kernel of a configuration, compiled or to be compiled. The hook of a configuration may change
        arguments that the kernel depends on, such as the block shape of a descriptor."""
        current = self._keywords(config, kwargs)
        if config.pre_hook:
            config.pre_hook({**(self.nargs or {}), **current})
        return self.fn.run(*args, **{**current, "warmup": True})

    def _bench(self, *args: Any, config: Config, **meta: Any) -> list[float]:
        """Milliseconds of one configuration, infinite if it cannot be used. Subclasses of users call or override it."""
        try:
            return self._time(args, config, meta)
        except _UNFIT as error:
            self._unfit[config] = error
            return [float("inf")] * 3

    def _time(self, args: tuple[Any, ...], config: Config, kwargs: dict[str, Any]) -> list[float]:
        """Milliseconds of one configuration."""
        current = self._keywords(config, kwargs)
        named = {**(self.nargs or {}), **current}

        def call() -> None:
            if config.pre_hook:
                config.pre_hook(named)
            self.pre_hook(named)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                self.post_hook(named, exception=error)
                raise
            self.post_hook(named, exception=None)

        found = self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        return found if isinstance(found, list) else [float(found)] * 3

    def _search(self, configs: list[Config], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[Config, Any]:
        """The timings of all configurations, infinite for unfit ones; an error if all are unfit."""
        search = _tuning.Search(self.base_fn.__name__, configs)

        def time_it(config: Config) -> list[float]:
            found = self._bench(*args, config=config, **kwargs)
            error = self._unfit.pop(config, None)
            return found if error is None else search.fail(config, error)

        timings = search.run(lambda c: self._promise(args, c, kwargs), time_it, alone=self._where() == HOST)
        if len(search.failures) == len(configs):
            raise search.error()
        self._preferred = search.preferred
        return timings

    def _tune(self, key: tuple[Any, ...], configs: list[Config], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Set `cache[key]`; whether the result was on disk."""
        stored = self._stored_timings(key, configs)
        start = time.perf_counter()
        timings = stored or self._search(configs, args, kwargs)
        self.bench_time = time.perf_counter() - start
        best = min(timings, key=lambda c: timings[c][0])
        if stored is None and self._preferred is not None and self._preferred in timings:
            best = self._preferred
        self.cache[key] = best
        self.configs_timings = timings
        if stored is None:
            self._store_timings(key, timings)
            full = {**(self.nargs or {}), **kwargs, **best.all_kwargs()}
            if self.user_defined_pre_hook:
                self.pre_hook(full, reset_only=True)
            else:
                self._prepare_arguments(full, reset_only=True)
        return stored is not None

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations that `prune_configs_by` leaves for these arguments."""
        return self._pruner(self.configs, self.nargs or {}, {k: v for k, v in kwargs.items() if k != "warmup"})

    def check_disk_cache(self, tuning_key: Any, configs: Sequence[Config], bench_fn: Callable[[], Any]) -> bool:
        """Take the best configuration of `tuning_key` from disk; without one call `bench_fn`, which fills `cache` and
        `configs_timings`, and store the timings. True if it was on disk."""
        key = tuple(tuning_key)
        name = self._storage_key(key, configs, always=True) if tuning_key else None
        timings = self._read_timings(name, configs)
        if timings is not None:
            self.cache[key] = min(timings, key=lambda c: timings[c][0] if isinstance(timings[c], list) else timings[c])
            self.configs_timings = timings
            return True
        bench_fn()
        self._write_timings(name, self.configs_timings)
        return False

    def _storage_key(self, key: tuple[Any, ...], configs: Sequence[Config], always: bool = False) -> str | None:
        if not (always or self.cache_results) or any(c.pre_hook for c in configs):
            return None
        fn = self.fn
        while not isinstance(fn, JITFunction):
            fn = fn.fn
        target = make_backend(driver.serving(self._where()).target).hash()
        environment = sorted(settings.invalidating_environment().items())
        parts = (fn.cache_key, target, package_key(), environment, [repr(k) for k in key], list(map(str, configs)))
        return sha256(repr(parts).encode()).hexdigest()

    def _stored_timings(self, key: tuple[Any, ...], configs: list[Config]) -> dict[Config, Any] | None:
        return self._read_timings(self._storage_key(key, configs), configs)

    @staticmethod
    def _read_timings(name: str | None, configs: Sequence[Config]) -> dict[Config, Any] | None:
        entry = KernelCache().read(name) if name else None
        timings = None if entry is None else entry.metadata.get("timings")
        if not isinstance(timings, list) or len(timings) != len(configs):
            return None
        return dict(zip(configs, timings))

    def _store_timings(self, key: tuple[Any, ...], timings: dict[Config, Any]) -> None:
        self._write_timings(self._storage_key(key, list(timings)), timings)

    def _write_timings(self, name: str | None, timings: dict[Config, Any]) -> None:
        if name:
            readable = [str(c) for c in timings]
            values = list(timings.values())
            KernelCache().write(name, Entry({"name": self.base_fn.__name__, "configs": readable, "timings": values}))

    # -- launching ----------------------------------------------------------------------------------------------------

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        named = self.nargs or {}
        if kwargs:
            named = {**named, **{name: value for name, value in kwargs.items() if name in self.arg_names}}
        values: list[Any] = [named[name] for name in self.keys if name in named]
        for v in named.values():
            if v.__class__ not in _NUMBERS and is_array(v) and hasattr(v, "dtype"):
                values.append(element_name(v.dtype))
        return tuple(values)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the best configuration for these arguments, which is searched now if the key is new."""
        self.nargs = dict(zip(self.arg_names, args))
        if len(self.configs) == 1:
            config: Config | None = self.configs[0]
        else:
            key = self._key(args, kwargs)
            config = self.cache.get(key)
            if config is None:
                config = self._chosen(key, args, kwargs)
        assert config is not None
        self.best_config = config
        keywords = self._keywords(config, kwargs)
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **keywords})
        result = self.fn.run(*args, **keywords)
        self.nargs = None
        return result

    def _chosen(self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Config:
        """The configuration for a new key."""
        configs = self.prune_configs(kwargs)
        if settings.runtime.interpret:  # without meaningful times
            return configs[0]
        if len(configs) == 1:  # nothing to compare it with
            self.cache[key] = configs[0]
            return configs[0]
        started = time.perf_counter()
        try:
            on_disk = self._tune(key, configs, args, kwargs)
        except TritiumError as error:
            if settings.compilation.front_end_debugging:
                raise
            raise error.with_traceback(
                None
            ) from error.__cause__  # as in a launch: frames of the autotuner are of no use
        config = self.cache[key]
        self._tell(key, config, time.perf_counter() - started, on_disk)
        return config

    def _tell(self, key: tuple[Any, ...], config: Config, seconds: float, on_disk: bool) -> None:
        if settings.autotuning.print:
            print(f"autotuning {self.base_fn.__name__} for {key}: {config} is the best; took {seconds:.2f} s")
        listener = settings.autotuning.listener
        if listener is not None:
            call_hook(
                "autotuning.listener",
                listener,
                fn=self.fn,
                key=key,
                best_config=config,
                configs_timings=self.configs_timings,
                duration=None if on_disk else seconds,
                cache_hit=on_disk,
            )

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compile every configuration for these arguments, without running any; the kernels."""
        self.nargs = dict(zip(self.arg_names, args))
        search = _tuning.Search(self.base_fn.__name__, self.prune_configs(kwargs))
        found = search.kernels(lambda config: self.fn.warmup(*args, **kwargs, **config.all_kwargs()))
        self.nargs = None
        return found


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """Decorator: choose among `configs` whenever the values of the arguments named in `key` are new.

    `prune_configs_by` may have `early_config_prune(configs, named_args, **kwargs)`, `perf_model(**args)` with `top_k`.
    Arguments in `reset_to_zero` are zeroed before each timed run, those in `restore_value` restored after
    it. `pre_hook(args, reset_only=False)` and `post_hook(args, exception)` replace these two. `warmup` and `rep` are
    milliseconds. `do_bench(call, quantiles)` times instead of ours. `cache_results` keeps timings on disk.
    """

    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn, _parameters(fn, "autotune"), configs, key, reset_to_zero, restore_value, pre_hook, post_hook,
            prune_configs_by, warmup, rep, use_cuda_graph, do_bench, cache_results,
        )  # fmt: skip

    return decorate


class Heuristics(PickledWrapper, KernelInterface[Any]):
    """A kernel some of whose meta-parameters are computed from the other arguments."""

    def __init__(self, fn: Any, arg_names: Sequence[str], values: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
        self.fn = fn
        self.values = values
        self.arg_names = list(arg_names)
        self.__name__ = getattr(fn, "__name__", "kernel")

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch, with `values[name](args)` for each name."""
        named = dict(zip(self.arg_names, args))
        for name, compute in self.values.items():
            kwargs[name] = compute({**named, **kwargs})
        return self.fn.run(*args, **kwargs)


def heuristics(values: dict[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: meta-parameters (and options) from functions of the dict of all arguments."""
    return lambda fn: Heuristics(fn, _parameters(fn, "heuristics"), values)


def _parameters(fn: Any, decorator: str) -> Sequence[str]:
    """The parameter names of the decorated function."""
    names: Sequence[str] | None = getattr(fn, "arg_names", None)
    if names is None:
        raise AutotunerError(
            f"{decorator} decorates a kernel; {getattr(fn, '__name__', repr(fn))} is not a kernel\n"
            f"hint: write @{decorator}(...) first, and @jit below it, next to the function"
        )
    return names
