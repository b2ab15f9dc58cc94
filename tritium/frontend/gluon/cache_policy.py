"""Cache policies as values: hints that loads, stores and copies pass to the caches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects import tt, ttng
from ...dialects.ttng_types import EvictionPriority
from ...ir import Attribute, FloatAttr, f32
from ..aggregate_types import constexpr_type
from ..constexpr import unwrap
from ..errors import LanguageError
from .layout_base import plain

__all__ = ["CachePolicy", "FractionalEvictionPolicy", "NvidiaCachePolicy", "hints_of", "tma_policy"]

MODIFIERS = ("ca", "cg", "wb", "cs", "wt", "cv")
EVICTION = ("evict_normal", "evict_first", "evict_last")
PRIORITIES = ("evict_normal", "evict_unchanged", "evict_first", "evict_last")


def _require(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise LanguageError(f"ValueError: {name} is {value!r}, it must be one of {', '.join(map(str, allowed))}")


@dataclass(frozen=True)
class _Policy:
    """Base of policies: compile-time values."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            value = plain(value)
            object.__setattr__(self, name, value.removeprefix(".") if name == "cache_modifier" and value else value)
        self._check()

    def _check(self) -> None:
        """Raise LanguageError for fields that make no policy."""

    @property
    def type(self) -> constexpr_type:
        """The type that holds this value only."""
        return constexpr_type(self)

    def mangle(self) -> str:
        """`CP`, the fields, `CP`"""
        fields = (str(v).replace(".", "d").replace("-", "m").replace("+", "p") for v in vars(self).values())
        return f"CP_{'_'.join(fields)}_CP"


@dataclass(frozen=True)
class CachePolicy(_Policy):
    """Hints that all targets have: a cache modifier ("ca", "cg", …) and an eviction policy ("evict_first", …)."""

    cache_modifier: str = "none"
    eviction_policy: str = "evict_normal"

    def _check(self) -> None:
        _require("cache_modifier", self.cache_modifier, ("none", *MODIFIERS))
        _require("eviction_policy", self.eviction_policy, EVICTION)


@dataclass(frozen=True)
class FractionalEvictionPolicy(_Policy):
    """The priority `primary` for a fraction of the lines of the second-level cache, `secondary` for the others."""

    primary: str
    fraction: float
    secondary: str = "evict_unchanged"

    def _check(self) -> None:
        _require("primary", self.primary, PRIORITIES)
        _require("secondary", self.secondary, ("evict_unchanged", "evict_first"))
        number = isinstance(self.fraction, (int, float)) and math.isfinite(self.fraction)
        if not number or not 0 < self.fraction <= 1:
            raise LanguageError(f"ValueError: fraction is {self.fraction!r}, it must be above 0 and at most 1")


@dataclass(frozen=True)
class NvidiaCachePolicy(_Policy):
    """Hints of NVIDIA GPUs: of both levels of the cache, and how many bytes the second one fetches at a time."""

    cache_modifier: str | None = None
    l1: str | None = None
    l2: FractionalEvictionPolicy | None = None
    l2_prefetch_size: int | None = None

    def _check(self) -> None:
        if all(value is None for value in vars(self).values()):
            raise LanguageError("ValueError: a CachePolicy needs cache_modifier, l1, l2 or l2_prefetch_size")
        _require("cache_modifier", self.cache_modifier, (None, *MODIFIERS))
        _require("l1", self.l1, (None, *PRIORITIES, "no_allocate"))
        _require("l2_prefetch_size", self.l2_prefetch_size, (None, 64, 128, 256))
        if self.l2 is not None and not isinstance(self.l2, FractionalEvictionPolicy):
            raise LanguageError(f"TypeError: l2 is a FractionalEvictionPolicy, not {self.l2!r}")


def hints_of(cache_policy: object, cache_modifier: object, eviction_policy: object) -> tuple[str, str]:
    """A cache modifier and an eviction policy ("" for none), from either form.

    Raises LanguageError for both forms at once, and for a policy that no access is lowered with yet.
    """
    policy = unwrap(cache_policy)
    modifier, eviction = unwrap(cache_modifier) or "", unwrap(eviction_policy) or ""
    if policy is None:
        return str(modifier), str(eviction)
    if modifier or eviction:
        raise LanguageError("ValueError: cache_policy excludes cache_modifier and eviction_policy", "put them into it")
    if isinstance(policy, CachePolicy):
        return "" if policy.cache_modifier == "none" else f".{policy.cache_modifier}", policy.eviction_policy
    if not isinstance(policy, NvidiaCachePolicy):
        raise LanguageError(f"TypeError: cache_policy is a CachePolicy, not {policy!r}", "such as gl.CachePolicy")
    return _nvidia_hints(policy)


def _nvidia_hints(policy: NvidiaCachePolicy) -> tuple[str, str]:
    """The hints of a policy that the target-neutral ones express."""
    neutral = policy.l1 in (None, *EVICTION) and policy.l2 is None and policy.l2_prefetch_size is None
    if not neutral:
        raise LanguageError(
            f"NotImplementedError: {policy} is not supported yet: fractions and sizes of the second-level cache,"
            " evict_unchanged and no_allocate",
            "gl.CachePolicy(cache_modifier, eviction_policy) has hints that are supported",
        )
    return f".{policy.cache_modifier}" if policy.cache_modifier else "", policy.l1 or ""


def tma_policy(cache_policy: object) -> Attribute | None:
    """The attribute of the policy of a TMA copy, which has hints for the second level of the cache alone.

    Raises LanguageError for other hints.
    """
    policy = unwrap(cache_policy)
    if policy is None:
        return None
    if not isinstance(policy, (CachePolicy, NvidiaCachePolicy)):
        raise LanguageError(
            f"TypeError: TMA cache_policy must be a CachePolicy, got {policy!r}", "such as gl.CachePolicy"
        )
    if policy.cache_modifier not in (None, "none"):
        raise LanguageError("ValueError: TMA operations do not support cache modifiers")
    if isinstance(policy, CachePolicy):
        return tt.CachePolicy.of(tt.CacheModifier.none, tt.EvictionPolicy[policy.eviction_policy])
    if policy.l1 is not None or policy.l2_prefetch_size is not None or policy.l2 is None:
        raise LanguageError("ValueError: TMA operations support L2 eviction policies alone", "CachePolicy(l2=…)")
    l2 = policy.l2
    priorities = {"l2_primary": EvictionPriority[l2.primary], "l2_secondary": EvictionPriority[l2.secondary]}
    return ttng.CachePolicy(**priorities, l2_fraction=FloatAttr(l2.fraction, f32))
