"""A configuration that the autotuner may choose: `Config`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..support.lazy import LazyModule

__all__ = ["Config"]

_errors = LazyModule(".errors", __package__)

_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
_DEFAULTS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None, "pre_hook": None, "ir_override": None}


class Config:
    """One way to compile a kernel: values of meta-parameters, and options.

    It has no other members than Triton's: autotuners of other projects take all that `dir` lists, but `kwargs`,
    `all_kwargs` and `pre_hook`, for options.

    `pre_hook(args)` is called with the dict of all arguments before each launch with this configuration.
    """

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        if not hasattr(kwargs, "items"):
            raise _errors.ConfigError(f"Config takes a dict of meta-parameters, not {kwargs!r}")
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"kwargs": {}, **_DEFAULTS, **state})

    def all_kwargs(self) -> dict[str, Any]:
        """Meta-parameters and options: the keywords of a launch."""
        found = {name: getattr(self, name) for name in _OPTIONS if getattr(self, name) is not None}
        for name, value in self.kwargs.items():
            if name in found and found[name] != value:
                if found[name] != _DEFAULTS[name]:
                    raise _errors.ConfigError(
                        f"Config has {name}={found[name]!r} as an option and {value!r} in its kwargs"
                    )
                found[name] = value  # an option among the meta-parameters
        return {**self.kwargs, **found}

    def __str__(self) -> str:
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())

    def __repr__(self) -> str:
        return f"Config({self})"

    def __hash__(self) -> int:
        return hash(_identity(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and _identity(self) == _identity(other)


def _identity(config: Config) -> tuple[Any, ...]:
    return (*config.all_kwargs().items(), config.pre_hook)
