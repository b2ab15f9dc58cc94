"""`@jit`: a Python function as a kernel that is compiled when it is first launched with arguments of a new kind."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .. import compiler
from ..compiler import ASTSource, CompiledKernel, compile
from ..compiler.compile import default_target, stages_hook_key
from ..frontend.callee import ConstexprFunction, SourceFunction
from ..frontend.captured_globals import CapturedGlobal
from ..frontend.source import SourceError
from ..support import OptionError, TritiumError, settings
from ..support.lazy import LazyMethod, LazyModule, lazy_attributes
from ..support.recursion import deep_recursion
from .arrays import HOST, MockTensor, TensorWrapper, reinterpret, type_canonicalisation_dict
from .async_compile import FutureKernel, active_mode
from .binder import MISSING, make_binder
from .blame import at_parameter
from .device_caches import DeviceCaches, Specialization, device_cache
from .driver_config import DeviceTarget, driver
from .errors import ArgumentError, LaunchError, UnknownOptionError
from .fastpath.preparation import preparation
from .fastpath.table import LAUNCH_ONLY, Call, LaunchTable
from .grid import extents
from .hooks import CompileEvent, HookMetadata
from .kernel_interface import KernelInterface
from .kernel_pickling import PickledByName
from .launch_options import (
    option_key,
    option_names,
    settings_key,
    unhashable_value,
    unknown_keyword,
    unknown_parameter,
    with_checks,
)
from .placement import only_host, place
from .replaceable import Replaceable
from .source_position import SourcePosition
from .specialize import ParameterRule, constant_key, describe_specialization, parameter_rules, specialize
from .stream import stream_handle

__all__ = [
    "ConstexprFunction",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "TensorWrapper",
    "jit",
    "reinterpret",
    "type_canonicalisation_dict",
]

_interpreted = LazyModule(".interpreted", __package__)
_kernel_versions = LazyModule(".kernel_versions", __package__)

if TYPE_CHECKING:
    from .host_maps import HostMaps

T = TypeVar("T")

_plan = LazyModule(".fastpath.plan", __package__)
_warmup = LazyModule(".fastpath.warmup", __package__)

# further names of Triton's module of this name
__getattr__ = lazy_attributes(
    __name__,
    {
        "BoundConstexprFunction": "..frontend.callee:ConstexprFunction",  # a bound one has an instance
        "ConstexprFunction": "..frontend.callee",
        "JITCallable": "..frontend.callee:SourceFunction",
        **dict.fromkeys(
            (
                *("GLUON_MODULE", "TRITON_MODULE", "DependenciesFinder", "KernelParam", "compute_cache_key"),
                *("convert_to_tuple_if_list", "create_function_from_signature", "get_def_col_number"),
                *("get_def_line_number", "native_specialize_impl", "serialize_specialization_data"),
            ),
            ".jit_parts",
        ),
        "JitFunctionInfo": ".hooks",
        "constexpr_function": "..frontend.callee",
        "get_device_key": ".driver_config",
        "mangle_type": ".specialize",
    },
    globals(),
    __package__,
)


class JITFunction(PickledByName, SourcePosition, Replaceable, SourceFunction, KernelInterface[T]):
    """A kernel. `kernel[grid](*args, **options)` runs it; keywords that are no parameters are options of the compile.

    Attributes beyond those of every source function: `do_not_specialize`, `debug`, `launch_metadata`, `device_caches`
    (device -> kernels by specialization), `hash` (same as `cache_key`). A global that the kernel reads may not change
    after the first launch (LaunchError), as its value is compiled in.
    """

    _call_hook = LazyMethod(".jit_parts", __package__)
    _pack_args = LazyMethod(".jit_parts", __package__)
    _complain_missing = LazyMethod(".jit_parts", __package__)
    preload = LazyMethod(".jit_parts", __package__)
    ASTSource = ASTSource  # the source of its compiles: `fn.ASTSource(fn, signature, constants)`

    def __init__(
        self,
        fn: FunctionType,
        version: Any = None,
        do_not_specialize: Sequence[int | str] | None = None,
        do_not_specialize_on_alignment: Sequence[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[[Any], str] | None = None,
        launch_metadata: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(fn, noinline=bool(noinline))
        self.version = version
        self.do_not_specialize = do_not_specialize or ()
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment or ()
        self.debug = debug
        self.launch_metadata = launch_metadata
        self._repr = repr
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.device_caches: dict[Any, Any] = DeviceCaches(
            lambda: device_cache(self, driver.active.get_current_target())
        )
        self._lock = threading.RLock()
        self._binder: Any = None
        self._at: Any = None  # makes `kernel[grid]`
        self._table: LaunchTable | None = None
        self.warmups: LaunchTable | None = None  # plans of `warmup`
        self._rules: list[ParameterRule] = []
        self._globals: list[CapturedGlobal] | None = None
        self._pending: Any = None  # (device, options, launch) that `_do_compile` is for; `_lock` is held
        self._compiler: Any = None  # the function assigned to `compile`
        self.kernel: None = None

    # -- attributes ---------------------------------------------------------------------------------------------------

    @property
    def hash(self) -> str | None:
        """The `cache_key` if it has been computed. Assigning None also drops the compiled kernels."""
        return SourceFunction.hash.fget(self)  # type: ignore[attr-defined]

    @hash.setter
    def hash(self, value: str | None) -> None:
        SourceFunction.hash.fset(self, value)  # type: ignore[attr-defined]
        if value is None:
            with self._lock:
                self._globals = None
                self.device_caches.clear()
                self.warmups = None
                if self._table is not None:
                    self._table.clear()

    @property
    def src(self) -> str:
        """The source from `def` on, dedented. It cannot be assigned: the compiled code would not change."""
        return self.source.text

    @src.setter
    def src(self, value: str) -> None:
        raise AttributeError("the source of a kernel cannot be changed; make a new function")

    @property
    def constexprs(self) -> list[int]:
        """The indices of the compile-time parameters."""
        return [p.num for p in self.params if p.is_constexpr]

    @property
    def module(self) -> str:
        """The name of the module that defines it."""
        return self.fn.__module__

    def repr(self, specialization: Any) -> str:
        """The name of the compiled kernel, which `@jit(repr=...)` may choose by the specialization."""
        return self.__name__ if self._repr is None else self._repr(specialization)  # type: ignore[attr-defined,no-any-return]

    def is_gluon(self) -> bool:
        """False: there are no Gluon kernels."""
        return False

    def __repr__(self) -> str:
        return f"JITFunction({self.__module__}:{self.__qualname__})"  # type: ignore[attr-defined]

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Call `hook(*args, **kwargs)` with a launch's arguments before it."""
        settings.generation.value += 1
        self.pre_run_hooks.append(hook)

    # -- launching ----------------------------------------------------------------------------------------------------

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return (self._at or self._prepare())(grid)  # type: ignore[no-any-return]

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """As KernelInterface; by the fast path for a kernel that is compiled already."""
        if self.warmups is None or getattr(self.run, "__func__", None) is not JITFunction._native_run:  # type: ignore[misc]
            return self.warmup_anew(*args, grid=grid, **kwargs)
        return self.warmups.at((1,))(*args, **kwargs)

    warmup_anew = KernelInterface.warmup

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launch (or with `warmup` only compile); the compiled kernel is returned."""
        if warmup:
            kwargs["warmup"] = True
        if self._table is None:
            self._prepare()
        return self._table.at(grid)(*args, **kwargs)  # type: ignore[union-attr]

    _native_run, _native_getitem = run, __getitem__

    def create_binder(self) -> None:
        """Prepare for launches; the first launch does so, too."""
        self._prepare()

    def _prepare(self) -> Any:
        with self._lock:
            if self._table is None:
                never = self.do_not_specialize, self.do_not_specialize_on_alignment
                try:
                    text = self.src
                except SourceError:  # reported by the compile
                    text = ""
                self._rules = parameter_rules(self.params, *never, text, self.fn.__globals__)
                self._binder = make_binder(self.fn.__name__, self.params)
                self._table = LaunchTable(self._launch)
            self._launch_natively_at(self._table.at)
        return self._at

    def _launch(self, grid: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Launch in Python; later launches of the same kind may use a plan of the table."""
        values, options = self._bind(args, kwargs)
        try:
            return self._launch_any(grid, values, options, Call(len(args), tuple(kwargs)))
        except TritiumError as error:
            if settings.compilation.front_end_debugging:
                raise
            # frames of the compiler do not help the user: the message has the error and its position
            raise error.with_traceback(None) from error.__cause__

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A value for every parameter, and the other keywords."""
        try:
            return self._binder(*args, **kwargs)  # type: ignore[no-any-return]
        except ArgumentError as error:
            raise error.with_traceback(None) from None
        except TypeError as error:  # Python's, for a parameter that is passed twice
            raise ArgumentError(f"{error}; the parameters are ({', '.join(self.arg_names)})") from None

    def _launch_any(self, grid: Any, args: tuple[Any, ...], given: dict[str, Any], call: Call) -> Any:
        """Launch with a value for every parameter (MISSING for a missing one) and a dict of other keywords."""
        warmup = given.get("warmup", False)
        options = {name: value for name, value in given.items() if name not in LAUNCH_ONLY}
        if MISSING in map(id, args):
            self._complain_missing(args, options)
        pairs = self._specialize(args)
        if settings.runtime.interpret:
            return None if warmup else self._interpret(grid, args, pairs, options)
        device_target = self._device_for(args, pairs)
        found = self._find(device_target, args, pairs, options, warmup, grid)
        if found is None:
            return None
        self._check_globals()
        if warmup:
            _warmup.remember_warmup(self, device_target, found, args, pairs, given, call)
            return found.kernel
        for hook in self.pre_run_hooks:
            hook(*args, **options)
        unless = None
        if found.kernel.deferred or found.kernel.values.get("launch_predicate"):
            grid = extents(grid, self.fn.__name__, self._rules, args, options)
            find = partial(self._find, device_target, args, pairs, warmup=False)
            found, unless = _kernel_versions.version_for(
                found, grid, args, device_target.device, find, options, self.device_caches[device_target.device][0]
            )
            if found is None:
                return None
        enter, leave = settings.runtime.launch_enter_hook, settings.runtime.launch_exit_hook
        self._run(device_target, found.kernel, grid, args, options, self._stream(given))
        stages = settings.runtime.add_stages_inspection_hook  # its key is computed at every launch
        if not (enter or leave or self.pre_run_hooks or stages):
            self._remember(device_target.device, found, args, [key for _, key in pairs], given, call, unless)
        return found.kernel

    def _specialize(self, args: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        """(type, key) of each argument; an error shows the parameter in the source."""
        pairs = []
        for value, rule in zip(args, self._rules):
            try:
                pairs.append(specialize(value, rule))
            except ArgumentError as error:
                raise at_parameter(self, rule.name, error) from None
        return pairs

    def _stream(self, given: dict[str, Any]) -> int | None:
        """The stream that a launch names."""
        try:
            return stream_handle(given.get("stream"))
        except ArgumentError as error:
            raise ArgumentError(f"{self.__name__}: {error}") from None  # type: ignore[attr-defined]

    def _interpret(
        self, grid: Any, args: tuple[Any, ...], pairs: list[tuple[Any, Any]], options: dict[str, Any]
    ) -> None:
        """Interpret the function on NumPy arrays, one program after the other."""
        names = [r.name for r in self._rules]
        target = default_target()
        chosen = self._options(args, options, target)
        for hook in self.pre_run_hooks:
            hook(*args, **options)
        types = describe_specialization(names, pairs)
        _interpreted.launch(self, grid, dict(zip(names, args)), types, target, chosen)

    def _place(self, args: tuple[Any, ...], pairs: list[tuple[Any, Any]]) -> int | None:
        """The device of the run-time arguments."""
        try:
            if only_host(args):
                return HOST
            at_run_time = [(rule.name, a) for rule, a, (t, _) in zip(self._rules, args, pairs) if t != "constexpr"]
            return place(*zip(*at_run_time)) if at_run_time else None
        except ArgumentError as error:
            raise ArgumentError(f"{self.__name__}: {error}") from None  # type: ignore[attr-defined]

    def _device_for(self, args: tuple[Any, ...], pairs: list[tuple[Any, Any]]) -> DeviceTarget:
        """The device and target of a launch with these arguments."""
        where = self._place(args, pairs)
        try:
            return driver.serving(where)
        except TritiumError as error:
            device = f"on CUDA device {where}, where its arguments are"
            if where is None or where == HOST:
                device = "on the active device"
            raise LaunchError(f"{self.__name__} cannot run {device}: {error}") from error  # type: ignore[attr-defined]

    def _find(
        self,
        device_target: DeviceTarget,
        args: tuple[Any, ...],
        pairs: list[tuple[Any, Any]],
        options: dict[str, Any],
        warmup: bool,
        grid: object = None,
    ) -> Specialization | None:
        """The kernel for these arguments, compiled now if needed, in the version for `grid` if that is known; None if a
        hook forbids it."""
        if device_target.device not in self.device_caches:
            self.device_caches[device_target.device] = device_cache(self, device_target.target)
        kernels = self.device_caches[device_target.device][0]
        hook = settings.runtime.add_stages_inspection_hook
        key = (
            tuple(("constexpr", constant_key(k)) if t == "constexpr" else (t, k) for t, k in pairs),
            tuple(map(option_key, options.items())) if options else (),
            settings_key(),
            device_target.target.backend,  # the CPU and the first GPU have the same number
            None if hook is None else (stages_hook_key(hook) or (None,))[0],
        )
        try:
            found = kernels.get(key)
        except TypeError:
            raise ArgumentError(f"{self.__name__}: {unhashable_value(self._rules, pairs, options)}") from None  # type: ignore[attr-defined]
        if found is None:
            with self._lock, deep_recursion():
                found = kernels.get(key)
                if found is None:
                    kernel = self._compile(device_target, args, pairs, options, str(key), warmup, grid)
                    if kernel is None:
                        return None
                    found = kernels[key] = Specialization(kernel)
        if not warmup and isinstance(found.kernel, FutureKernel):
            try:
                found.kernel = found.kernel.result()
            except BaseException:
                kernels.pop(key, None)  # the next launch compiles again, as without a future kernel
                raise
        return found

    def _run(
        self,
        device_target: DeviceTarget,
        kernel: CompiledKernel,
        grid: Any,
        args: tuple[Any, ...],
        options: dict[str, Any],
        stream: int | None,
    ) -> None:
        enter, leave = settings.runtime.launch_enter_hook, settings.runtime.launch_exit_hook
        grid = extents(grid, self.fn.__name__, self._rules, args, options)
        if not (enter or leave):
            kernel.launcher(grid, args, stream)
            return
        launcher = kernel.launcher  # made before hooks read the code, which an emulated GPU does not have
        current = partial(_stream_of, device_target) if stream is None else lambda: stream
        metadata = HookMetadata(kernel, grid, args, current, lambda: (device_target.driver, device_target.device))
        enter(metadata)
        launcher(grid, args, stream)
        leave(metadata)

    def _remember(
        self,
        device: Any,
        found: Specialization,
        args: tuple[Any, ...],
        keys: list[Any],
        given: dict[str, Any],
        call: Call,
        unless: HostMaps | None,
    ) -> None:
        """Add a plan for launches like this one to the front of the table; only for those that the version with the
        maps `unless` cannot run."""
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "compiler") and torch.compiler.is_compiling():
            return  # PyTorch's compiler is tracing this launch, and cannot trace the planner
        if self._table is None or any(p.takes_rest for p in self.params):
            return
        if found.generation != settings.generation.value:
            found.forget(settings.generation.value)
        kind = call, tuple(map(type, args)), tuple(map(type, given.values()))
        if kind not in found.plans:
            repeats = found.repeats[kind] = found.repeats.get(kind, -1) + 1
            if not preparation.pays(repeats):
                return
            found.plans[kind] = _plan.launch_plan(
                found.kernel,
                device,
                self._rules,
                args,
                keys,
                given,
                call,
                self._globals or (),
                result=found.kernel,
                unless=unless,
            )
        if (plan := found.plans[kind]) is not None:
            self._table.put(plan)
            self._launch_natively_at(self._table.at)

    # -- compiling ----------------------------------------------------------------------------------------------------

    @property
    def compile(self) -> Callable[..., CompiledKernel]:
        """The function that compiles this kernel: `triton.compiler.compile`, or an assigned one."""
        return self._compiler or compiler.compile  # type: ignore[no-any-return]

    @compile.setter
    def compile(self, value: Callable[..., CompiledKernel]) -> None:
        self._compiler = value

    @compile.deleter
    def compile(self) -> None:
        self._compiler = None

    def _compile(
        self,
        device_target: DeviceTarget,
        args: tuple[Any, ...],
        pairs: list[tuple[Any, Any]],
        options: dict[str, Any],
        key: str,
        warmup: bool,
        grid: object = None,
    ) -> CompiledKernel | FutureKernel | None:
        """The kernel, compiled now or in the background; None if a hook forbids it."""
        self._check_globals()  # the key depends on the globals that functions read at its first computation
        chosen = self._options(args, options, device_target.target, getattr(device_target.driver, "checks", ()))
        chosen |= getattr(device_target.driver, "compile_options", {})
        signature, constants, attrs = describe_specialization([r.name for r in self._rules], pairs)
        launch = None
        if grid is not None and chosen.get("launch_versions") and not (warmup and active_mode.get() is None):
            launch = _kernel_versions.launch_of(
                list(signature.values()), args, lambda: extents(grid, self.fn.__name__, self._rules, args, options)
            )
        self._pending = device_target, options, launch
        return self._do_compile(key, signature, device_target.device, constants, chosen, attrs, warmup)

    def _do_compile(
        self,
        key: str,
        signature: dict[str, Any],
        device: Any,
        constexprs: dict[tuple[int, ...], Any],
        options: dict[str, Any],
        attrs: dict[tuple[int, ...], list[list[Any]]],
        warmup: bool,
    ) -> CompiledKernel | FutureKernel | None:
        """Compile one specialization. Programs that trace compiles replace this method, or `compile` of a kernel."""
        device_target, given, launch = self._pending
        source = self.ASTSource(self, signature, constexprs, attrs)
        event = CompileEvent(self, source, device_target.target, device, options, given, key, warmup)
        if event.tell("jit_cache_hook"):
            return None

        def told(_: Any) -> None:
            event.tell("jit_post_compile_hook")

        mode = active_mode.get() if warmup else None
        if mode is not None:
            job = partial(compile, source, device_target.target, options, elsewhere=mode.processes, launch=launch)
            return mode.submit(job, told)
        preparation.when_idle(gpu=device_target.target.backend == "cuda")
        known = {} if launch is None or self._compiler is not None else {"launch": launch}
        kernel: CompiledKernel = self.compile(source, target=device_target.target, options=options, **known)
        told(kernel)
        return kernel

    def _options(
        self, args: tuple[Any, ...], options: dict[str, Any], target: Any, checks: Collection[str] = ()
    ) -> dict[str, Any]:
        """The compile's options: keywords of the launch, parameters named like an option, settings.

        `checks` are those that the device makes itself, which are not compiled in.
        """
        known = option_names(target)
        for name in options:
            if name not in known and name != "sanitize":
                self._complain_unknown(name, known)
        chosen = dict(options)
        for rule, value in zip(self._rules, args):
            if rule.name in known and rule.constexpr:
                chosen[rule.name] = getattr(value, "value", value)
        if "debug" in known:
            debug = self.debug if chosen.get("debug") is None else chosen["debug"]
            chosen["debug"] = settings.runtime.debug or (False if debug is None else debug)
        try:
            return with_checks(chosen, known, checks)
        except OptionError as error:
            raise OptionError(f"kernel {self.__name__}: {error}") from None  # type: ignore[attr-defined]

    # -- errors -------------------------------------------------------------------------------------------------------

    def _check_globals(self) -> None:
        if self._globals is None:
            self._globals = self.captured_globals()
        for outside in self._globals:
            if not outside.holds():
                was, now = outside.value, outside.now("gone")
                changed = f"it was {was!r} and is {now!r}" if now is not was else f"it was changed in place, to {now!r}"
                raise LaunchError(
                    f"global variable {outside.name!r} has changed since {self.__name__} was compiled: "  # type: ignore[attr-defined]
                    f"{changed}\nhint: pass it as an argument"
                )

    def _complain_unknown(self, name: str, known: Sequence[str]) -> None:
        raise UnknownOptionError(f"{self.__name__}: {unknown_keyword(name, self.arg_names, known)}")  # type: ignore[attr-defined]


def _stream_of(device_target: DeviceTarget) -> Any:
    return device_target.driver.get_current_stream(device_target.device)


_JIT_PARAMETERS = JITFunction.__init__.__code__.co_varnames[2 : JITFunction.__init__.__code__.co_argcount]


@overload
def jit(fn: FunctionType) -> JITFunction[Any]: ...
@overload
def jit(
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., dict[str, Any]] | None = None,
    do_not_specialize: Sequence[int | str] | None = None,
    do_not_specialize_on_alignment: Sequence[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Callable[[FunctionType], JITFunction[Any]]: ...
def jit(fn: Any = None, **options: Any) -> Any:
    """Make a Python function a kernel (or a function that kernels call).

    Its body is compiled, so it may use the language (`tritium.language`), its arguments, `constexpr` globals and other
    jit functions. `do_not_specialize` lists parameters whose values must not cause new compiles,
    `do_not_specialize_on_alignment` those whose divisibility must not; `debug` keeps device assertions; `noinline`
    keeps calls of the function; `repr` names the kernel; `launch_metadata` adds to what launch hooks see.
    """
    return jit_with(JITFunction, fn, options)


def jit_with(kind: type[JITFunction[Any]], fn: Any, options: Mapping[str, Any]) -> Any:
    """`fn` as a kernel of a class, or the decorator that makes it one where `fn` is None."""
    if fn is None:
        return lambda f: jit_with(kind, f, options)
    if isinstance(fn, JITFunction):
        fn = fn.fn
    if not callable(fn):
        raise TypeError(f"jit decorates functions, not {type(fn).__name__}")
    for name, value in options.items():
        if name not in _JIT_PARAMETERS:
            raise TypeError(unknown_parameter(name, value, _JIT_PARAMETERS))
    return kind(fn, **options)
