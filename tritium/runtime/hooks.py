"""The arguments of hooks around compiles of a JIT function and around launches.

A compile is described by text, too (`specialization_data`): JSON from which another process can compile the same kernel
before its first launch (`JITFunction.preload`).
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..compiler import ASTSource, CompiledKernel, LazyDict, make_backend
from ..compiler.kernel import frozen
from ..frontend.callee import SourceFunction
from ..frontend.dtypes import dtype
from ..support import settings
from ..support.lazy import LazyModule
from .errors import ArgumentError, PreloadError
from .specialize import ALIGNED

__all__ = ["CompileEvent", "HookMetadata", "JitFunctionInfo", "encoded_constant", "pairs_of_data"]

_hook_errors = LazyModule("..support.hook_errors", __package__)
_SHOWN = ("num_warps", "num_ctas", "num_stages", "enable_fp_fusion", "launch_cooperative_grid")
_PLAIN = (str, int, float, bool, type(None))


class JitFunctionInfo:
    """The function argument of compile hooks: the names of its module and of itself, and the kernel."""

    def __init__(self, module: str, name: str, jit_function: SourceFunction) -> None:
        self.module = module
        self.name = name
        self.jit_function = jit_function


class CompileEvent:
    """One compile of a JIT function; the arguments of hooks are made only if there is a hook."""

    def __init__(
        self,
        function: SourceFunction,
        source: ASTSource,
        target: Any,
        device: Any,
        options: Mapping[str, Any],
        given: Mapping[str, Any],
        key: str,
        warmup: bool,
    ) -> None:
        self.function = function
        self.source = source
        self.target = target
        self.device = device
        self.options = options  # of the compile
        self.given = given  # by the launch
        self.key = key
        self.warmup = warmup

    def tell(self, setting: str) -> object:
        """Call the hook that a setting of `runtime` holds; its result, None if there is no hook or it raises."""
        hook = getattr(settings.runtime, setting)
        return None if hook is None else self.call(hook, f"runtime.{setting}")

    def call(self, hook: Callable[..., object], name: str = "a compile hook") -> object:
        """Call `hook`, which warnings call `name`; its result, None if it raises."""
        fn = self.function.fn
        return _hook_errors.call_hook(
            name,
            hook,
            key=self.key,
            repr=self._text(),
            fn=JitFunctionInfo(fn.__module__, fn.__qualname__, self.function),
            compile=self._info(),
            is_manual_warmup=self.warmup,
            already_compiled=False,
        )

    def _all_options(self) -> dict[str, Any]:
        """Every option of the target with its value."""
        backend = make_backend(self.target)
        parsed = backend.parse_options(self.options)
        return {name: getattr(parsed, name) for name in backend.option_names()}

    def _text(self) -> str:
        options = self._all_options()
        shown = ", ".join(f"{name}={options[name]}" for name in _SHOWN if name in options)
        types = ", ".join(f"{name}: {ty}" for name, ty in self.source.signature.items())
        return f"{self.function.fn.__qualname__}[{shown}]({types})"

    def _info(self) -> dict[str, Any]:
        source = self.source
        return {
            "key": self.key,
            "signature": source.signature,
            "device": self.device,
            "constants": source.constants,
            "configs": [source.attrs],
            "options": dict(self.options),
            "specialization_data": self._data(),
            "is_warmup": self.warmup,
            **self._all_options(),
        }

    def _data(self) -> str:
        source = self.source
        return json.dumps(
            {
                "name": full_name(self.function),
                "signature": source.signature,
                "constant_keys": [list(path) for path in source.constants],
                "constant_vals": [encoded_constant(value) for value in source.constants.values()],
                "attrs_keys": [list(path) for path in source.attrs],
                "attrs_vals": list(source.attrs.values()),
                "options": self._all_options(),
                "given": dict(self.given),
                "key": self.key,
                "target": make_backend(self.target).describe()._asdict(),
            },
            default=repr,
        )


def full_name(function: SourceFunction) -> str:
    """A function's module and name."""
    return f"{function.fn.__module__}.{function.fn.__qualname__}"


def encoded_constant(value: Any) -> Any:
    """A compile-time value encoded for JSON."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (tuple, list)):
        return [encoded_constant(v) for v in value]
    if isinstance(value, dtype):
        return {"dtype": str(value)}
    if type(value).__name__ == "constexpr":
        return {"constexpr": encoded_constant(value.value)}
    fn = getattr(value, "fn", None)
    return {"repr": repr(value)} if fn is None else {"jit_function": f"{fn.__module__}:{fn.__qualname__}"}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_decoded, value))
    if not isinstance(value, dict):
        return value
    [(kind, inner)] = value.items()
    if kind == "dtype":
        return dtype(inner)
    if kind == "constexpr":
        return _decoded(inner)
    if kind == "jit_function":
        return _function_of(inner)
    raise ArgumentError(f"specialization data: the compile-time value {inner} cannot be made of its text")


def _function_of(place: str) -> Any:
    module, _, name = place.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise ArgumentError(f"specialization data: the function {place} cannot be found") from None
    return found


def pairs_of_data(function: SourceFunction, text: str, target: Any) -> tuple[list[tuple[Any, Any]], dict[str, Any]]:
    """The (type, key) of each argument, and the options of the launch, in `specialization_data`.

    PreloadError for data of another function or target, and malformed data.
    """
    try:
        data = json.loads(text)
        signature, given = frozen_values(data["signature"]), frozen_values(data.get("given", data["options"]))
        constants = {tuple(k): _decoded(v) for k, v in zip(data["constant_keys"], data["constant_vals"])}
        aligned = {tuple(path) for path in data["attrs_keys"]}
        name, stated = data["name"], data["target"]
    except (ValueError, KeyError, TypeError) as error:
        raise PreloadError(f"invalid specialization data: {type(error).__name__}: {error}") from None
    if name != full_name(function):
        raise PreloadError(f"Specialization data is for {name}, and cannot be preloaded for {full_name(function)}")
    if stated != make_backend(target).describe()._asdict():
        raise PreloadError(f"Specialization data is for {stated}, and cannot be preloaded for {target}")

    def pair(path: tuple[int, ...], ty: Any) -> tuple[Any, Any]:
        if not isinstance(ty, str):
            inner = [pair((*path, i), t) for i, t in enumerate(ty)]
            return ty, tuple(key for _, key in inner)
        return ty, constants[path] if ty == "constexpr" else ALIGNED if path in aligned else ""

    return [pair((i,), signature[name]) for i, name in enumerate(function.arg_names)], given


def frozen_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with tuples in place of JSON's lists."""
    return {name: frozen(value) for name, value in values.items()}


class HookMetadata(LazyDict):
    """The metadata of a launch; `get()` makes the dict, once. `stream()` is its stream's handle, `place()` its driver
    and device."""

    def __init__(
        self,
        kernel: CompiledKernel,
        grid: Any,
        args: Sequence[Any],
        stream: Callable[[], Any],
        place: Callable[[], tuple[Any, Any]],
    ) -> None:
        super().__init__({})
        self.kernel = kernel
        self.grid = grid
        self.args = args
        self.stream = stream
        self.place = place
        self.add(self._launch, ())

    def _launch(self) -> dict[str, Any]:
        return self.kernel.launch_metadata(self.grid, self.stream(), *self.args).get()
