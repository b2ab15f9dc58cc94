"""What a C program sees of a kernel: the names of functions and files, the parameters, the algorithm.

Names are Triton's: `<out name>_<hash>_<suffix>`. The hash is of the signature as it was written, with the options. The
suffix has a number for each parameter that is no compile-time value, followed by `d` where the signature says `:16`,
and by `c` where it says `:1`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ...support import TritiumError
from ...support.dataclasses import dataclass
from ..signature import Entry, SignatureError
from .grid import Grid

__all__ = ["AotError", "Interface", "Parameter", "c_type", "directive", "make_interface", "told"]

HINTS = {0: "", 1: "c", 16: "d"}

_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr const_cast
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto
if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t
while xor xor_eq stream algo_id linux unix errno NULL
"""
_KEYWORDS = frozenset(_WORDS.split())  # of C and C++, and names that launchers and headers use themselves

_SCALARS = {
    **{f"{sign}{bits}": f"{'u' if sign == 'u' else ''}int{bits}_t" for sign in "iu" for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("i1", "u1", "B"), "uint8_t"),
    **dict.fromkeys(("fp16", "f16", "bf16", "fp32", "f32"), "float"),
    **dict.fromkeys(("fp64", "f64"), "double"),
}
_POINTEES = {
    **_SCALARS,
    **dict.fromkeys(("fp16", "f16", "bf16"), "uint16_t"),
    **dict.fromkeys(("fp8e5", "fp8e5b16", "fp8e4nv", "fp8e4b8", "fp8e4b15"), "uint8_t"),
}


class AotError(TritiumError):
    """A kernel that cannot be made for C, or cannot be made so."""


@dataclass(frozen=True)
class Parameter:
    """A parameter that a launch may be given: its name in C and in Python, its type in C and in the signature, and
    the hint. A launcher does not take those with the hint 1; a dispatcher over several kernels does."""

    name: str
    origin: str
    type: str
    ctype: str
    hint: int

    @property
    def declared(self) -> str:
        """`int32_t n`"""
        return f"{self.ctype}{'' if self.ctype.endswith('*') else ' '}{self.name}"


@dataclass(frozen=True)
class Interface:
    """A kernel for C. `base` is the name that its variants share, `function` that of its launcher, `stem` what the
    names of its files end with; `algorithm` tells apart variants of other compile-time values and options."""

    backend: str
    base: str
    function: str
    stem: str
    algorithm: str
    parameters: tuple[Parameter, ...]
    constants: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def taken(self) -> list[Parameter]:
        """The parameters of the launcher."""
        return [p for p in self.parameters if p.hint != 1]

    @property
    def arguments(self) -> str:
        """Their declarations; `void` if there are none."""
        return ", ".join(p.declared for p in self.taken) or "void"


def make_interface(
    backend: str,
    out_name: str,
    signature: str,
    entries: Mapping[str, Entry],
    constants: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Interface:
    """The interface of a kernel. `entries` are those of all parameters, in order; `constants` the compile-time values
    but those that are a hint's; `options` has `num_warps`, `num_stages` and whatever else was asked for.

    SignatureError for a type or a hint that C cannot have here, AotError for a name.

    >>> read = {name: Entry(name, text, 0, *rest) for name, text, *rest in
    ...         [("x", "*fp32", "*fp32"), ("n", "i32", "i32"), ("BLOCK", "64")]}
    >>> made = make_interface("cuda", "add", "", read, {"BLOCK": 64}, {"num_warps": 1, "num_stages": 3})
    >>> made.stem, made.algorithm, made.arguments
    ('9e2e6e8a_01', '64_warps1xstages3', 'CUdeviceptr x, int32_t n')
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", out_name, re.A) or out_name in _KEYWORDS:
        raise AotError(f"{out_name!r} is no name of a function in C; say another with --out-name")
    meta = _meta(options)
    digest = sha256(" ".join([*(e.text for e in entries.values()), meta]).encode()).hexdigest()[:8]
    parameters: list[Parameter] = []
    for entry in entries.values():
        if entry.name in constants:
            continue
        name = _c_name(entry.name, parameters)
        parameters.append(Parameter(name, entry.name, entry.type, c_type(backend, entry, signature), entry.hint))
    suffix = "".join(f"{i}{HINTS[p.hint]}" for i, p in enumerate(parameters))
    algorithm = f"{'x'.join(map(_identifier, constants.values()))}_{meta}"
    function = f"{out_name}_{digest}_{suffix}"
    return Interface(
        backend, out_name, function, f"{digest}_{suffix}", algorithm, tuple(parameters), constants, dict(options)
    )


def _meta(options: Mapping[str, Any]) -> str:
    """The options as one word; without others than Triton's tool has, Triton's word."""
    short = {"num_warps": "warps", "num_stages": "stages", "num_ctas": "ctas"}
    plain = {"num_ctas": 1}
    return "x".join(f"{short.get(k, k)}{_identifier(v)}" for k, v in options.items() if plain.get(k) != v)


def _identifier(value: Any) -> str:
    """A value as a part of a name.

    >>> _identifier(64), _identifier(-1.5), _identifier("relu")
    ('64', 'm1p5', 'relu')
    """
    return re.sub(r"\W", "_", str(value).replace("-", "m").replace(".", "p").replace("+", ""), flags=re.A)


def _c_name(name: str, before: Sequence[Parameter]) -> str:
    """The name of a parameter in C."""
    made = re.sub(r"\W", "_", name, flags=re.A)
    taken = {p.name for p in before}
    while (
        made in _KEYWORDS
        or made in taken
        or made.startswith(("tt_", "ttp_", "__", "CU"))
        or re.match(r"_[A-Z]|\d", made)
    ):
        made = f"{made}_" if made in _KEYWORDS or made in taken else f"p{made}"
    return made


def c_type(backend: str, entry: Entry, signature: str) -> str:
    """The type in C of a parameter; SignatureError where there is none."""
    ty = entry.type
    if ty.startswith("tensordesc_im2col"):
        message = "C has no type for im2col descriptors yet"
        raise SignatureError("signature", signature, entry.at, len(ty), message, "launch the kernel from Python")
    if ty.startswith("tensordesc"):
        return "const TritiumTensor *" if backend == "cuda" else "const TritiumHostTensor *"
    if ty[0] != "*":
        if ty not in _SCALARS:
            message = f"C has no numbers of type {ty}"
            raise SignatureError("signature", signature, entry.at, len(ty), message, "pass a pointer to one")
        return _SCALARS[ty]
    if backend == "cuda":
        return "CUdeviceptr"
    readonly = ty.startswith("*k")
    pointee = _POINTEES.get(ty[2:] if readonly else ty[1:], "void")
    return f"{'const ' if readonly else ''}{pointee} *"


def directive(interface: Interface, target: str) -> str:
    """The line of a header from which `link` knows the kernel."""
    told = {
        "version": 1,
        "backend": interface.backend,
        "target": target,
        "base": interface.base,
        "function": interface.function,
        "algorithm": interface.algorithm,
        "constants": {name: repr(value) for name, value in interface.constants.items()},
        "parameters": [[p.name, p.ctype, p.hint] for p in interface.parameters],
    }
    return f"// tritium-kernel: {json.dumps(told)}"


def told(interface: Interface, grid: Grid) -> str:
    """The launch parameters in a header: the grid, the hints, the compile-time values and the options."""
    lines = [f" *   grid: {grid.text.strip()}"]
    hints = [f"{p.name} must be divisible by 16" for p in interface.parameters if p.hint == 16]
    hints += [f"{p.name} is 1" for p in interface.parameters if p.hint == 1]
    lines += [f" *   {line}" for line in hints]
    lines += [f" *   {p.origin} is called {p.name}" for p in interface.parameters if p.name != p.origin]
    fixed = [f"{name} = {value!r}" for name, value in (*interface.constants.items(), *interface.options.items())]
    return "\n".join([*lines, f" *   compiled for {', '.join(fixed)}"]).replace("*/", "* /")
