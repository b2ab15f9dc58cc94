"""Options of a launch: names, keys, and instrumentation by settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..compiler import make_backend
from ..support import OptionError, settings
from ..support.lazy import LazyModule
from ..support.suggestions import did_you_mean
from .specialize import ParameterRule, constant_key

__all__ = [
    "option_key",
    "option_names",
    "settings_key",
    "unhashable_value",
    "unknown_keyword",
    "unknown_parameter",
    "with_checks",
]

_difflib = LazyModule("difflib")
_instrumentation = LazyModule("..backends.instrumentation", __package__)

_names_by_target: dict[Any, list[str]] = {}


def option_names(target: Any) -> list[str]:
    """The names of all options of a target."""
    names = _names_by_target.get(target)
    if names is None:
        names = _names_by_target[target] = list(make_backend(target).option_names())
    return names


def option_key(item: tuple[str, Any]) -> tuple[str, Any]:
    """A name and value as a key; some options are dicts (`extern_libs`)."""
    name, value = item
    return name, constant_key(tuple(value.items()) if isinstance(value, dict) else value)


_settings_memo: tuple[int, Any] = (-1, None)


def settings_key() -> Any:
    """The settings that affect code, read again after a setting was assigned (see `refresh_knobs`)."""
    global _settings_memo
    if _settings_memo[0] != settings.generation.value:
        environment = sorted(settings.invalidating_environment().items())
        _settings_memo = (settings.generation.value, (settings.insertions.value, *environment))
    return _settings_memo[1]


def unhashable_value(
    rules: Sequence[ParameterRule], pairs: Sequence[tuple[Any, Any]], options: Mapping[str, Any]
) -> str:
    """The error for a compile-time value or option that cannot be part of a key."""
    named = [*((r.name, k) for r, (_, k) in zip(rules, pairs)), *options.items()]
    for name, value in named:
        try:
            hash(value if not isinstance(value, (list, tuple)) else constant_key(value))
        except TypeError:
            return f"the compile-time value of {name!r} is not hashable: {type(value).__name__}"
    return "a compile-time value is not hashable"


def unknown_keyword(name: str, parameters: Sequence[str], known: Sequence[str]) -> str:
    """The error for a keyword of a launch that is neither a parameter nor an option."""
    near = _difflib.get_close_matches(name, [*parameters, *known], 1)
    hint = f"\nhint: did you mean {near[0]!r}?" if near else ""
    if name in ("device", "device_type"):
        hint = "\nhint: a kernel runs on the device of its arguments, or on that of `driver.active`"
    return f"{name!r} is neither a parameter of the kernel nor an option{hint}"


def unknown_parameter(name: str, value: Any, known: Sequence[str]) -> str:
    """The error for an unknown keyword of a launch."""
    near = did_you_mean(name, known)
    return f"jit has no parameter {name!r}\nhint: " + (
        near or f"options of a compile are keywords of a launch: kernel[grid](..., {name}={value!r})"
    )


def with_checks(chosen: dict[str, Any], known: Sequence[str], checks: Collection[str]) -> dict[str, Any]:
    """Options with the instrumentation selected by settings, without the checks that the device makes itself.

    OptionError for checks that neither the device nor the compiler supports.
    """
    modes = chosen.get("instrumentation_mode") or settings.compilation.instrumentation_mode
    if not modes and settings.compilation.enable_experimental_consan:
        modes = "consan"
    if modes and "instrumentation_mode" in known:
        chosen["instrumentation_mode"] = modes
        if isinstance(modes, str) and "device_checks" in known:
            chosen["instrumentation_mode"], chosen["device_checks"] = _instrumentation.split_modes(modes, checks)
    if "host_maps" in known:
        chosen.setdefault("host_maps", True)
    if "launch_versions" in known:
        chosen.setdefault("launch_versions", True)
    if settings.compilation.fpsan_homomorphic_casts and "fpsan_homomorphic_casts" in known:
        chosen.setdefault("fpsan_homomorphic_casts", True)
    if "sanitize" in known:
        if settings.runtime.sanitize or settings.compilation.enable_asan:
            chosen.setdefault("sanitize", True)
    elif requested := _bounds_requested(chosen.pop("sanitize", None)):
        if _instrumentation.BOUNDS not in checks:
            raise OptionError(
                f"{requested} is not supported by this device: accesses are checked on the CPU and on the emulator\n"
                "hint: TRITIUM_TARGET=emulated:90 runs all kernels on an emulated GPU; `tritium check` runs one launch "
                "there"
            )
        if "check_conversions" in known:
            chosen.setdefault("check_conversions", True)
    return chosen


def _bounds_requested(option: Any) -> str:
    """The option or setting that enables bounds checks; "" without one."""
    if option is not None:
        if not isinstance(option, bool):
            raise OptionError(f"sanitize must be True or False, got {option!r}")
        return "sanitize=True" if option else ""
    if settings.runtime.sanitize:
        return "the setting runtime.sanitize"
    return "the setting compilation.enable_asan" if settings.compilation.enable_asan else ""
