"""Parts of a JIT launch as functions of their own, under Triton's names: binding, specialization, keys, dependencies.

Launches do not call them (`fastpath` executes plans); programs that build launchers of their own do.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from ..backends.compiler import GPUTarget
from ..compiler import ASTSource, make_backend
from ..frontend.callee import Parameter, SourceFunction, unwrap_callee
from ..frontend.identity import identity
from ..frontend.references import find_references
from ..support.hashing import sha256
from .binder import MISSING
from .blame import at_parameter
from .driver_config import driver
from .errors import ArgumentError
from .hooks import CompileEvent, encoded_constant, pairs_of_data
from .launch_options import option_names
from .specialize import ParameterRule, describe_specialization, parameter_rules, specialize

__all__ = [
    "GLUON_MODULE",
    "TRITON_MODULE",
    "DependenciesFinder",
    "KernelParam",
    "compute_cache_key",
    "convert_to_tuple_if_list",
    "create_function_from_signature",
    "get_def_col_number",
    "get_def_line_number",
    "native_specialize_impl",
    "serialize_specialization_data",
]

TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"


# -- parameters and arguments -------------------------------------------------------------------------------------


class _AnyParameter(type):
    """Parameters of all kernels count as KernelParams."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Parameter)


class KernelParam(Parameter, metaclass=_AnyParameter):
    """A parameter of a kernel, made from one of `inspect.Signature`."""

    __slots__ = ()

    def __init__(
        self, num: int, param: inspect.Parameter, do_not_specialize: bool, do_not_specialize_on_alignment: bool
    ) -> None:
        annotation = "" if param.annotation is param.empty else param.annotation
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        super().__init__(num, param.name, param.kind.name, param.default, text)
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @property
    def has_default(self) -> bool:
        """Whether a call may omit it."""
        return self._default is not inspect.Parameter.empty


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """(type, key) of an argument, as a launch specializes on it; keys are None for unspecialized arguments, as
        Triton's.

    The rules are the same on all targets; `backend` is unused. Members of a tuple are always specialized.
    """
    if isinstance(arg, tuple):
        pairs = [native_specialize_impl(backend, item, False, True, True) for item in arg]
        types, keys = [ty for ty, _ in pairs], [key for _, key in pairs]
        return (type(arg)(*types), type(arg)(*keys)) if hasattr(arg, "_fields") else (tuple(types), tuple(keys))
    return _keyed(arg, ParameterRule("argument", False, is_const, specialize_value, align, ""))


def _keyed(arg: Any, rule: ParameterRule) -> tuple[Any, Any]:
    found, key = specialize(arg, rule)
    keyed = isinstance(found, str) and found != "constexpr" and rule.special and found[0] in "*iu" and found != "u1"
    return found, key if keyed or found == "constexpr" or not isinstance(found, str) else None


def create_function_from_signature(
    sig: inspect.Signature, kparams: Sequence[Any], backend: Any
) -> Callable[..., tuple[dict[str, Any], list[tuple[Any, Any]], dict[str, Any]]]:
    """A function that binds the arguments of a launch: `bind(*args, **kwargs)` returns the values of the parameters by
    name, the (type, key) of each, and the keywords that are no parameters. TypeError for a missing argument."""
    names = list(sig.parameters)
    if len(names) != len(kparams):
        raise ValueError(f"a signature of {len(names)} parameters, {len(kparams)} of a kernel")
    fixed = [p.name for p in kparams if p.do_not_specialize]
    unaligned = [p.name for p in kparams if p.do_not_specialize_on_alignment]
    rules = parameter_rules(kparams, fixed, unaligned)

    def bind(*args: Any, **kwargs: Any) -> tuple[dict[str, Any], list[tuple[Any, Any]], dict[str, Any]]:
        options = {name: value for name, value in kwargs.items() if name not in sig.parameters}
        bound = sig.bind(*args, **{name: value for name, value in kwargs.items() if name in sig.parameters})
        bound.apply_defaults()
        params = {name: bound.arguments[name] for name in names}
        return params, [_keyed(value, rule) for value, rule in zip(params.values(), rules)], options

    return bind


@functools.lru_cache(maxsize=256)
def binder_of(function: Any) -> Callable[..., tuple[dict[str, Any], list[tuple[Any, Any]], dict[str, Any]]]:
    """The binder of a kernel's launches."""
    return create_function_from_signature(function.signature, function.params, None)


def _pack_args(
    self: Any,
    backend: Any,
    kwargs: Mapping[str, Any],
    bound_args: Mapping[str, Any],
    specialization: Sequence[tuple[Any, Any]],
    options: Mapping[str, Any],
) -> tuple[Any, dict[str, Any], dict[tuple[int, ...], Any], dict[tuple[int, ...], Any]]:
    """The inputs of a compile: (options, signature, compile-time values by path, attributes by path).

    A method of `JITFunction`. Only the options of the target are used of `kwargs`, all keywords of a launch.
    """
    known = set(backend.option_names())
    parsed = backend.parse_options({name: value for name, value in kwargs.items() if name in known})
    pairs = [(ty, "" if key is None and ty != "constexpr" else key) for ty, key in specialization]
    signature, constants, attrs = describe_specialization(list(bound_args), pairs)
    return parsed, signature, constants, attrs


def _complain_missing(self: Any, args: Sequence[object], options: Mapping[str, object]) -> None:
    """Raise the error for a launch without a value for each parameter."""
    missing = [r.name for r, value in zip(self._rules, args) if id(value) == MISSING]
    known = option_names(driver.active.get_current_target())
    for name in options:
        if name not in known:  # more likely a misspelt parameter than a forgotten one
            self._complain_unknown(name, known)
    plural = "s" if len(missing) > 1 else ""
    text = f"missing argument{plural} {', '.join(map(repr, missing))}"
    text += f"; the parameters are ({', '.join(self.arg_names)})"
    raise at_parameter(self, missing[0], ArgumentError(text))


def preload(self: Any, specialization_data: str) -> Any:
    """Compile, or take from the cache, a kernel from the `specialization_data` that a compile hook received, for the
    active device. ArgumentError for data of another function or target."""
    self._prepare()
    device_target = driver.serving(None)
    pairs, options = pairs_of_data(self, specialization_data, device_target.target)
    args = tuple(key if ty == "constexpr" else None for ty, key in pairs)
    found = self._find(device_target, args, pairs, options, warmup=True)
    return None if found is None else found.kernel


def _call_hook(
    self: SourceFunction,
    hook: Callable[..., object] | None,
    key: str,
    signature: Mapping[str, object],
    *rest: Any,
) -> object:
    """The result of a compile hook, called with the arguments that a launch gives it; None without a hook.

    A method of `JITFunction` for classes derived from it that compile by themselves. `rest` is (target, device,
    constants, options, configs, is_warmup); Triton up to 3.8 has no target.
    """
    if not hook:
        return None
    *target, device, constants, options, configs, warmup = rest
    source = ASTSource(self, signature, constants, configs[0])
    values = vars(options) if hasattr(options, "__dict__") else dict(options)
    made_for = target[0] if target else driver.active.get_current_target()
    return CompileEvent(self, source, made_for, device, values, values, key, warmup).call(hook)


def compute_cache_key(
    kernel_key_cache: dict[Any, str], specialization: Sequence[tuple[Any, Any]], options: Mapping[str, Any]
) -> str:
    """The text that identifies a specialization; functions among compile-time values by the hash of their source.

    `kernel_key_cache` memoizes the results.
    """
    key = (tuple(specialization), str(options))
    found = kernel_key_cache.get(key)
    if found is None:
        found = kernel_key_cache[key] = f"{_by_hash(list(specialization))}{options}"
    return found


def _by_hash(value: Any) -> Any:
    if isinstance(value, SourceFunction):
        return value.cache_key
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_by_hash, value))
    return type(value)(map(_by_hash, value)) if isinstance(value, (list, tuple)) else value


def convert_to_tuple_if_list(item: Any) -> Any:
    """Nested lists as tuples.

    >>> convert_to_tuple_if_list([1, [2, "x"]])
    (1, (2, 'x'))
    """
    return tuple(map(convert_to_tuple_if_list, item)) if isinstance(item, list) else item


def serialize_specialization_data(
    name: str,
    signature: Mapping[str, Any],
    constants: Mapping[tuple[int, ...], Any],
    attrs: Mapping[tuple[int, ...], Any],
    options: Any,
    key: Any,
    target: Any,
) -> str:
    """A specialization as JSON, from which `kernel.preload(text)` compiles it. `options` and `target` are objects whose
    fields are stored."""
    fields = options if isinstance(options, Mapping) else _fields(options)
    return json.dumps(
        {
            "name": name,
            "signature": dict(signature),
            "constant_keys": [list(path) for path in constants],
            "constant_vals": [encoded_constant(value) for value in constants.values()],
            "attrs_keys": [list(path) for path in attrs],
            "attrs_vals": list(attrs.values()),
            "options": dict(fields),
            "given": dict(fields),
            "key": key,
            "target": _described(target),
        },
        default=repr,
    )


def _described(target: Any) -> dict[str, Any]:
    """Backend, architecture and warp size of a target, which may be of a backend's own class."""
    described = target if isinstance(target, GPUTarget) else make_backend(target).describe()
    return described._asdict()


def _fields(value: Any) -> dict[str, Any]:
    names = getattr(type(value), "__dataclass_fields__", None) or vars(value)
    return {name: getattr(value, name) for name in names}


# -- source text --------------------------------------------------------------------------------------------------


def get_def_line_number(raw_src: Sequence[str], starting_line_number: int) -> int:
    """The line of `def` in a file where the lines `raw_src` of a function, with decorators, begin.

    >>> get_def_line_number(["@jit\\n", "def f(x):\\n", "    pass\\n"], 10)
    11
    """
    for offset, line in enumerate(raw_src):
        if line.lstrip().startswith("def "):
            return starting_line_number + offset
    return starting_line_number


def get_def_col_number(raw_src_str: str) -> int:
    """The column of `def`, from 1. ValueError without one.

    >>> get_def_col_number("  @jit\\n  def f(x):\\n    pass")
    3
    """
    for line in raw_src_str.splitlines():
        text = line.lstrip(" \t")
        if text.startswith("def ") and "(" in text:
            return len(line) - len(text) + 1
    raise ValueError("No function definition found for kernel")


class DependenciesFinder(ast.NodeVisitor):
    """The dependencies of a function: visit its syntax tree, then read `ret` (a hash of its source and references) and
    `used_global_vals` ((name, id of the dict) -> (value, dict)).

    RuntimeError for a plain Python function, which a kernel cannot call. `nonlocals` may be left out, as formerly.
    """

    def __init__(
        self, name: str, globals: dict[str, Any], nonlocals: dict[str, Any] | str = "", src: str | None = None
    ) -> None:
        text = nonlocals if src is None else src
        if not isinstance(text, str):
            raise TypeError("DependenciesFinder takes the source text of a function")
        self.name = name
        self.globals = globals
        self.nonlocals = {} if isinstance(nonlocals, str) else nonlocals
        self.hasher = sha256(text.encode())
        self.used_global_vals: dict[tuple[str, int], tuple[Any, dict[str, Any]]] = {}

    @property
    def ret(self) -> str:
        """The hash."""
        return str(self.hasher.hexdigest())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Record the nonlocal and global values that the body of a function reads."""
        for written, value, scope in sorted(find_references(node, self.nonlocals, self.globals), key=lambda r: r[0]):
            self.record_reference(value, scope, written)

    def record_reference(self, val: Any, var_dict: dict[str, Any] | None = None, name: str | None = None) -> None:
        """Add one value to the hash, and to `used_global_vals` if it is a variable."""
        val = unwrap_callee(val)
        if val is None or isinstance(val, ModuleType):
            return
        if isinstance(val, SourceFunction):
            self._merge(val)
            return
        is_number = not callable(val) or isinstance(val, type) or hasattr(val, "value")
        if not is_number and not getattr(val, "__tritium_builtin__", False) and not hasattr(val, "meaning_key"):
            if getattr(val, "__module__", "").partition(".")[0] != __name__.partition(".")[0]:
                raise RuntimeError(f"Unsupported function referenced: {val}")
        self.hasher.update(identity(val).encode())
        if is_number and var_dict is not None and name is not None:
            self.used_global_vals[name, id(var_dict)] = val, var_dict

    def _merge(self, function: SourceFunction) -> None:
        for key, (value, scope) in function.used_global_vals.items():
            known = self.used_global_vals.setdefault(key, (value, scope))
            if known[0] is not value and known[0] != value:
                raise RuntimeError(
                    f"Global variable {key[0]} has value {known[0]} when compiling {self.name}, but inner kernel "
                    f"{function.fn_name} has conflicting value {value} from when it was first compiled"
                )
        self.hasher.update(f"{function.cache_key}{function.noinline}".encode())
