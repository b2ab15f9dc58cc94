"""Parsing of options: from keywords to the types of a dataclass's fields, with the checks that backends share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import index
from typing import Any

from ..support import OptionError, UnknownOptionError
from ..support.dataclasses import fields
from ..support.lazy import LazyModule
from ..support.limits import MAX_STAGES
from ..support.suggestions import did_you_mean
from .errors import OutOfResources

__all__ = [
    "builds_mode",
    "check_cuda_limits",
    "check_instrumentation",
    "check_known",
    "check_layout",
    "check_names",
    "check_threads",
    "parse_fields",
    "text_key",
]

_instrumentation = LazyModule(".instrumentation", __package__)

MAX_THREADS = 1024  # of one program
MAX_CTAS = 16  # of a cluster

#: Options of earlier releases of Triton that programs still pass, by the value with which they ask for nothing.
FORMER = {"optimize_epilogue": False}


def parse_fields(cls: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None, typed as the fields of the dataclass `cls` are annotated.

    OptionError says which value its field cannot have. Names that are no field are left out, as in Triton, whose
    callers pass all keywords of a launch; compiles refuse them (`check_known`).
    """
    known = {f.name: f for f in fields(cls)}
    return {
        name: _typed(name, _hashable(value), str(known[name].type))
        for name, value in values.items()
        if value is not None and name in known
    }


def check_known(values: Mapping[str, object], known: Iterable[str]) -> None:
    """UnknownOptionError for the first name that is none of `known`, unless it asks for nothing (`FORMER`)."""
    names = frozenset(known)
    for name, value in values.items():
        if name not in names and not (name in FORMER and value == FORMER[name]):
            hint = did_you_mean(name, names)
            raise UnknownOptionError(f"unknown option {name!r}; {hint or 'options are: ' + ', '.join(sorted(names))}")


def check_layout(options: Any) -> None:
    """Raise OptionError unless warps, CTAs of a cluster and stages are numbers that a program can have."""
    for name, least in (("num_warps", 1), ("num_ctas", 1), ("num_stages", 0)):
        value = getattr(options, name)
        if value < least:
            raise OptionError(f"{name} must be {least} or more, got {value}")
        if name != "num_stages" and value & (value - 1):
            raise OptionError(f"{name} must be a power of 2, got {value}")
    if options.num_stages > MAX_STAGES:
        raise OptionError(
            f"num_stages must be at most {MAX_STAGES}, got {options.num_stages}: every stage takes a buffer in shared "
            "memory for each load, 2 to 7 are usual"
        )
    precision = options.default_dot_input_precision
    if precision not in options.allowed_dot_input_precisions:
        allowed = ", ".join(options.allowed_dot_input_precisions)
        raise OptionError(f"default_dot_input_precision must be one of {allowed}, got {precision!r}")


def check_threads(num_warps: int, warp_size: int) -> None:
    """OutOfResources unless a program of so many warps fits a GPU."""
    if num_warps * warp_size > MAX_THREADS:
        most = MAX_THREADS // warp_size
        raise OutOfResources(num_warps * warp_size, MAX_THREADS, "threads", hint=f"use num_warps={most} or fewer")


def check_cuda_limits(options: Any) -> None:
    """Raise OutOfResources for more warps, OptionError for more blocks than any NVIDIA GPU has, or no registers.

    No other target has more warps (of so few threads) or blocks, and `maxnreg` is NVIDIA's alone: targets to which
    these options mean nothing ask this, too, so that a kernel which runs there does not fail elsewhere for them.
    """
    check_threads(options.num_warps, 32)
    if options.num_ctas > MAX_CTAS:
        raise OptionError(f"num_ctas must be at most {MAX_CTAS}, got {options.num_ctas}")
    if options.maxnreg is not None and options.maxnreg < 1:
        raise OptionError(f"maxnreg must be 1 or more, got {options.maxnreg}")


def text_key(options: Any, apart: Iterable[str] = ()) -> str:
    """Every field but those `apart` as text, for a cache key."""
    return ",".join(f"{f.name}={getattr(options, f.name)!r}" for f in fields(options) if f.name not in apart)


def check_names(options: Any, **values: Any) -> None:
    """Raise OptionError unless fields that a target has one value of have this value."""
    for name, value in values.items():
        if getattr(options, name) != value:
            raise OptionError(f"{name} must be {value!r}, got {getattr(options, name)!r}")


def check_instrumentation(given: Mapping[str, Any], built: Collection[str], target: str) -> dict[str, Any]:
    """See `instrumentation.instrumented`; a no-op without instrumentation."""
    if not given.get("instrumentation_mode") and not given.get("fpsan_homomorphic_casts"):
        return {}
    return _instrumentation.instrumented(given, built, target)  # type: ignore[no-any-return]


def builds_mode(options: Any, mode: str) -> bool:
    """Whether a mode of `instrumentation_mode` is enabled."""
    text = options.instrumentation_mode
    return bool(text) and mode in _instrumentation.mode_names(text)


def _typed(name: str, value: Any, kind: str) -> Any:
    """`value` in the type that the field is annotated with; OptionError where it has no such value."""
    if kind.startswith("bool"):
        if type(value).__name__ in ("str", "bytes", "tuple") or value not in (True, False):
            raise OptionError(f"{name} must be True or False, got {value!r}")
        return bool(value)
    if kind.startswith("int"):
        try:
            if isinstance(value, bool):
                raise TypeError
            return index(value)
        except TypeError:
            raise OptionError(f"{name} must be an integer, got {value!r}") from None
    if kind.startswith("str"):
        if not isinstance(value, str):
            raise OptionError(f"{name} must be a string, got {value!r}")
        return value
    return _typed_tuple(name, value, kind)


def _typed_tuple(name: str, value: Any, kind: str) -> tuple[Any, ...]:
    """A sequence whose elements have the types of the annotation `kind`."""
    if not isinstance(value, tuple):
        raise OptionError(f"{name} must be a sequence, got {value!r}")
    if kind.startswith("tuple[tuple"):
        if not all(isinstance(pair, tuple) and list(map(type, pair)) == [str, str] for pair in value):
            raise OptionError(f"{name} must be a dict of names and paths, got {value!r}")
        return value
    element = int if "int" in kind else str
    if any(type(v) is not element for v in value) or ("..." not in kind and len(value) != kind.count(",") + 1):
        what = "strings" if element is str else f"{kind.count(',') + 1} integers"
        raise OptionError(f"{name} must be a sequence of {what}, got {value!r}")
    return value


def _hashable(value: Any) -> Any:
    """Dicts, lists and sets as tuples; a `constexpr` as its value."""
    value = value.value if type(value).__name__ == "constexpr" else value
    if isinstance(value, dict):
        return tuple(sorted(value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple, set, frozenset)) else value
