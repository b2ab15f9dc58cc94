"""Why a kernel was not found in the cache: the differences of its key to that of the most similar entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..backends.options import check_known
from ..support import settings
from ..support.lazy import LazyModule
from .backend import make_backend
from .cache_choice import open_cache
from .key import Described, describe_key, get_cache_key

if TYPE_CHECKING:
    from pathlib import Path

    from .inventory import Item

__all__ = ["CacheMiss", "differences", "explain", "nearest"]

_inventory = LazyModule(".inventory", __package__)

_CANDIDATES = 300  # entries of a kernel to compare with, most recently used first: tuning leaves many

_REFUSED = {
    "damaged": "its entry was damaged",
    "untrusted": "another user could have written its entry",
    "unreadable": "its entry could not be read",
}


class CacheMiss:
    """A cache miss of a compile; its reasons are determined on demand.

    `reasons` are the differences to the nearest entry, or why the cache was not used; `nearest` is that entry, or None.
    `str()` has all of it in lines.
    """

    def __init__(self, key: str, described: Described, cache: Any) -> None:
        self.key = key
        self.described = described
        self._cache = cache
        self.refused = "" if cache is None else _REFUSED.get(cache.refused, "")
        self.unasked = _not_asked()

    @property
    def folder(self) -> Path | None:
        """The folder of kernels, None for a compile without a cache."""
        return None if self._cache is None else self._cache.folder

    @cached_property
    def _found(self) -> tuple[Item | None, list[str]]:
        if self.unasked or self.refused or self.folder is None:
            return None, [self.unasked or self.refused]
        name = self.described["kernel"]["name"]
        found = nearest(self.described, (i for i in _inventory.items(self.folder) if i.key != self.key), name)
        if found is None:
            return None, [f"no kernel called {name} has been kept in {self.folder}"]
        return found[0], found[1] or ["what its functions refer to differs"]

    @property
    def nearest(self) -> Item | None:
        """The entry with the fewest differences."""
        return self._found[0]

    @property
    def reasons(self) -> list[str]:
        """One line each."""
        return self._found[1]

    def __str__(self) -> str:
        if self.nearest is None:
            return self.reasons[0]
        return "\n".join(
            [f"beside {self.nearest.key[:12]}, the entry most like it:", *map("  {}".format, self.reasons)]
        )


def _not_asked() -> str:
    """Why the cache was not used at all."""
    if settings.cache.disable:
        return "the cache is off: TRITIUM_CACHE_DISABLE, or knobs.cache.disable"
    if settings.compilation.always_compile:
        return "everything is compiled: TRITON_ALWAYS_COMPILE, or knobs.compilation.always_compile"
    return ""


def explain(
    src: Any, target: Any, options: Mapping[str, Any], until: str | None = None
) -> tuple[str, str, CacheMiss | None]:
    """The key that a compile would have, the kernel's name, and why it is not in the cache; None if it is."""
    backend = make_backend(target)
    values = {**src.parse_options(), **options}
    check_known(values, backend.option_names())
    chosen = backend.parse_options(values)
    stage_key = f"until:{until}" if until else ""
    key = get_cache_key(src, backend, chosen, stage_key)
    cache = open_cache()
    if not _not_asked() and cache.read(key) is not None:
        return key, src.name, None
    return key, src.name, CacheMiss(key, describe_key(src, backend, chosen, stage_key), cache)


def nearest(described: Described, others: Any, name: str) -> tuple[Item, list[str]] | None:
    """The entry of a kernel `name` with the fewest differences, and these; None without any.

    Of several with equally few, the most recently used.
    """
    best: tuple[Item, list[str]] | None = None
    looked = 0
    for item in others:
        if item.name != name or looked == _CANDIDATES:
            continue
        parts = item.described()
        if not parts:
            continue
        looked += 1
        found = differences(parts, described)
        if best is None or len(found) < len(best[1]):
            best = item, found
    return best


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The differences between two descriptions of keys, a line each.

    >>> differences({"options": {"num_warps": "4"}}, {"options": {"num_warps": "8"}})
    ['option num_warps: 4 -> 8']
    """
    out: list[str] = []
    moved = before.get("target") != after.get("target")
    for kind, say in _KINDS.items():
        old, new = before.get(kind, {}), after.get(kind, {})
        if moved and kind == "options":  # defaults of the target differ with it
            old, new = ({n: v for n, v in side.items() if n not in _OF_TARGET} for side in (old, new))
        elif moved and kind == "target" and old.get("target") != new.get("target"):
            old, new = ({"target": side.get("target")} for side in (old, new))
        for name in dict.fromkeys([*old, *new]):
            if old.get(name) != new.get(name):
                out.extend(say(name, old.get(name), new.get(name), after))
    return out


#: Options whose default values depend on the target.
_OF_TARGET = frozenset(
    ("arch", "warp_size", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes", "backend_name", "ptx_version")
    + ("allowed_dot_input_precisions", "default_dot_input_precision", "max_num_imprecise_acc_default")
)

_Say = Callable[[str, Any, Any, Mapping[str, Any]], Iterator[str]]


def _pair(what: str, absent: str = "none") -> _Say:
    def say(name: str, old: Any, new: Any, _: Mapping[str, Any]) -> Iterator[str]:
        old, new = _shown(old, new)
        yield f"{what} {name}: {absent if old is None else old} -> {absent if new is None else new}"

    return say


def _shown(old: Any, new: Any) -> tuple[Any, Any]:
    """Values without the type that both have: "int:64" and "int:32" as 64 and 32."""
    kinds = [v.partition(":") if isinstance(v, str) else None for v in (old, new)]
    if kinds[0] and kinds[1] and kinds[0][1] and kinds[0][0] == kinds[1][0] and kinds[0][0].isidentifier():
        return kinds[0][2], kinds[1][2]
    return old, new


def _function(name: str, old: Any, new: Any, after: Mapping[str, Any]) -> Iterator[str]:
    place = {**after.get("seen at", {}), **after.get("places", {})}.get(name)
    kernel = name == after.get("kernel", {}).get("function")
    what = f"{'the kernel' if kernel else 'the callee'} {name}"
    verb = "changed" if old and new else "is called no more" if old else "is called now"
    yield f"{what} {verb}{f', at {place}' if new and place else ''}"


def _value(name: str, old: Any, new: Any, after: Mapping[str, Any]) -> Iterator[str]:
    if str(old)[:1] == str(new)[:1] == "#":  # hashes carry no more information
        yield f"value {name} changed"
    elif old and new:
        yield from _pair("value")(name, old, new, after)


def _place(name: str, old: Any, new: Any, after: Mapping[str, Any]) -> Iterator[str]:
    if old and new:  # else the function itself was added or removed
        yield f"{name} moved: {old} -> {new}"


def _version(name: str, old: Any, new: Any, after: Mapping[str, Any]) -> Iterator[str]:
    yield "tritium's own sources changed" if name == "tritium" else f"{name}: {old or 'none'} -> {new or 'none'}"


def _target(name: str, old: Any, new: Any, after: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'target' if name == 'target' else 'what the target can do'}: {old} -> {new}"


def _stages(name: str, old: Any, new: Any, after: Mapping[str, Any]) -> Iterator[str]:
    yield f"stages, by until=, a hook or files in their place: {old or 'all'} -> {new or 'all'}"


_KINDS: dict[str, _Say] = {
    "kernel": _pair("the kernel's"),
    "functions": _function,
    "values": _value,
    "types": _pair("type of"),
    "constants": _pair("constant"),
    "attributes": _pair("attributes of"),
    "places": _place,
    "options": _pair("option"),
    "target": _target,
    "versions": _version,
    "environment": _pair("environment", "unset"),
    "stages": _stages,
}
