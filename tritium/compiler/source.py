"""Sources of compiles: a kernel function with a signature, or a file with the text of a stage."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..backends.compiler import UserText
from ..support import Diagnostic, TritiumError
from ..support.files import read_regular
from ..support.hashing import sha256
from ..support.lazy import LazyModule
from ..support.recursion import NestedTooDeeply, too_deep_text
from .stage_text import MLIR_STAGES, kernel_symbol, stated_options, stated_signature

__all__ = ["ASTSource", "IRSource", "SourceError"]

if TYPE_CHECKING:
    from pathlib import Path

    from ..frontend.callee import SourceFunction

_identity = LazyModule("..frontend.identity", __package__)
_pathlib = LazyModule("pathlib")
_visitor = LazyModule("..frontend.visitor", __package__)
_text = LazyModule(".text", __package__)
_views = LazyModule(".module_views", __package__)

Path_ = tuple[int, ...]


class SourceError(TritiumError, ValueError):
    """The description of a source is invalid."""


def _paths(fn: Any, values: Mapping[Any, Any] | None, what: str) -> dict[Path_, Any]:
    """Keys as paths into the parameters: `(2,)`, or `(2, 0)` into a tuple; names and numbers are accepted too."""
    found: dict[Path_, Any] = {}
    for key, value in (values or {}).items():
        if isinstance(key, str):
            if key not in fn.arg_names:
                raise SourceError(f"{what}: {fn.__name__} has no parameter {key!r}; it has: {', '.join(fn.arg_names)}")
            key = (fn.arg_names.index(key),)
        found[(key,) if isinstance(key, int) else tuple(key)] = value
    return found


def _stable(value: Any) -> str:
    """Text that is equal in every process for equal compile-time values, and differs for others."""
    if isinstance(value, float):
        return f"float:{value.hex()}"  # repr, but for the sign and bits of a NaN
    if isinstance(value, (tuple, list)):
        fields = ",".join(getattr(type(value), "_fields", ()))
        return f"{type(value).__name__}[{fields}]({','.join(map(_stable, value))})"
    if isinstance(value, type):
        return str(_identity.identity(value))  # classes of one name may differ in content
    key = getattr(value, "cache_key", None)
    if isinstance(key, str):
        return key
    inner = getattr(value, "value", None)
    if type(value).__name__ == "constexpr":
        return _stable(inner)
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({','.join(sorted(map(_stable, value)))})"
    text = repr(value)
    if " at 0x" in text:
        raise SourceError(
            f"a compile-time value of type {type(value).__name__} has no stable text to tell it apart: {text}"
        )
    return f"{type(value).__qualname__}:{text}"


def _named(names: list[str], path: Path_) -> str:
    """`x`, or `x.1` for a member of a tuple."""
    return ".".join([names[path[0]], *map(str, path[1:])])


def _told(value: Any) -> str:
    """A compile-time value for messages."""
    return f"float:{value!r}" if isinstance(value, float) else _stable(value)


def _facts(items: list[list[Any]]) -> str:
    """`[["tt.divisibility", 16]]` as "tt.divisibility=16"."""
    return ", ".join("=".join(map(str, item)) for item in items)


def _by_name(functions: list[SourceFunction]) -> dict[str, SourceFunction]:
    """The functions by name, in order; of several with one name (closures), the later ones are numbered."""
    found: dict[str, SourceFunction] = {}
    for function in functions:
        name, number = function.fn_name, 2
        while name in found:
            name, number = f"{function.fn_name} ({number})", number + 1
        found[name] = function
    return found


class _Specialized(NamedTuple):
    """The argument of the function in `@jit(repr=…)`: types and compile-time values by parameter name."""

    signature: dict[str, Any]
    constants: dict[Any, Any]


class ASTSource:
    """A kernel function, specialized.

    `signature` maps every parameter's name to its type ("*fp32", "i32", "constexpr", nested tuples of those);
    `constexprs` maps paths (or names) of parameters to their values; `attrs` maps paths to lists of attributes, such
    as `{(0,): [["tt.divisibility", 16]]}`. SourceError for parameters that do not match the function.
    """

    ext = "ttir"
    """The first stage that a backend makes of it, as Triton says it."""

    first_stage = "source"
    language = "triton"

    def __init__(
        self,
        fn: Any,
        signature: Mapping[str, Any],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.constants = _paths(fn, constexprs, "constexprs")
        self.attrs = {path: [list(a) for a in items] for path, items in _paths(fn, attrs, "attrs").items()}
        self.signature = self._complete(signature)
        self.name = self._symbol()

    def _symbol(self) -> str:
        """The kernel's name, from the function in `@jit(repr=…)` if there is one, in ASCII for machine code."""
        make = getattr(self.fn, "repr", None)
        name = self.fn.__name__
        if make is not None:
            names = self.fn.arg_names
            constants = {names[path[0]] if len(path) == 1 else path: v for path, v in self.constants.items()}
            name = re.sub(r"[^\w.$]", "_", make(_Specialized(self.signature, constants)))
        return name if name.isascii() else "".join(c if c.isascii() else f"_u{ord(c):x}" for c in name)

    def _complete(self, signature: Mapping[str, Any]) -> dict[str, Any]:
        names, label = self.fn.arg_names, self.fn.__name__
        unknown = [name for name in signature if name not in names]
        if unknown:
            raise SourceError(f"signature: {label} has no parameter {unknown[0]!r}; it has: {', '.join(names)}")
        constant = {names[path[0]] for path in self.constants if len(path) == 1}
        missing = [name for name in names if name not in signature and name not in constant]
        if missing:
            raise SourceError(f"signature: no type for parameter {missing[0]!r} of {label}, and no constant value")
        return {name: "constexpr" if name in constant else signature[name] for name in names}

    def hash(self) -> str:
        """Equal for equal sources in any process: function, callees, globals, types, constants, attributes.

        SourceError if a global has changed since the function's hash was computed (`fn.hash = None` resets it).
        """
        try:
            return self._hash()
        except RecursionError:
            text = too_deep_text(f"the calls of {self.fn.__name__} and of the functions that it calls")
            source = self.fn.source
            raise NestedTooDeeply(
                Diagnostic(text, source.file, self.fn.parse().lineno, 1, source.lines).render()
            ) from None

    def _hash(self) -> str:
        changed = next((outside.name for outside in self.fn.captured_globals() if not outside.holds()), None)
        if changed is not None:
            raise SourceError(
                f"global variable {changed!r} has changed since {self.fn.__name__}, or a function that it calls, was "
                "compiled\nhint: pass it as an argument"
            )
        constants = sorted((path, _stable(value)) for path, value in self.constants.items())
        parts = (self.fn.meaning_key, self.name, self.signature, constants, sorted(self.attrs.items()))
        return sha256(repr(parts).encode()).hexdigest()

    @property
    def places(self) -> list[str]:
        """The positions of the function and its callees, "file:line:column"."""
        return self.fn.places

    @property
    def line_counts(self) -> list[int]:
        """The number of lines of each."""
        return [f.source.line_count for f in self.fn.callees()]

    def describe(self, places: bool = True) -> dict[str, dict[str, str]]:
        """The parts of the hash by kind and name, for messages."""
        names = self.fn.arg_names
        functions = _by_name(self.fn.callees())
        return {
            "kernel": {"name": self.name, "function": self.fn.fn_name},
            "types": {name: str(ty) for name, ty in self.signature.items() if ty != "constexpr"},
            "constants": {_named(names, path): _told(value) for path, value in self.constants.items()},
            "attributes": {_named(names, path): _facts(items) for path, items in self.attrs.items()},
            "functions": {name: sha256(f.src.encode()).hexdigest()[:16] for name, f in functions.items()},
            "values": {f"{n} in {f.__name__}": t for f in functions.values() for n, t in f.values_read().items()},
            "places" if places else "seen at": {name: f.source.position for name, f in functions.items()},
        }

    def prepare(self) -> None:
        """Import the modules that `make_ir` needs."""
        _ = _visitor.ast_to_ttir

    def make_ir(
        self, target: Any, options: Any, codegen_fns: Any = None, module_map: Any = None, context: Any = None
    ) -> Any:
        """The TTIR module of the kernel; CompilationError for code that the frontend rejects.

        `codegen_fns` and `module_map` are Triton's, and unused. With a `context`, as Triton passes one, the module has
        the accessors of Triton's bindings.
        """
        module = _visitor.ast_to_ttir(self.fn, self.signature, self.constants, self.attrs, options, self.name)
        if context is not None:
            _ = _views.ModuleView  # adds the accessors of Triton's bindings
        return module

    def parse_options(self) -> dict[str, Any]:
        """Options set by the source."""
        return {}


#: The form of a kernel in the text of a stage, for errors; '' is for files of no stage.
_WANTED = {
    **dict.fromkeys(MLIR_STAGES, "a public function: tt.func public @name"),
    "llir": "a public function: define void @name",
    "ptx": "an entry: .visible .entry name",
    "amdgcn": "a kernel descriptor: .amdhsa_kernel name",
    "": "kernels are compiled from files whose names end in .ttir, .ttgir, .ttcir, .llir or .ptx",
}


class IRSource:
    """A file with the text of a stage (`kernel.ttir`, `kernel.llir`), which is compiled from that stage on.

        The stage is the file's extension. SourceError if it has no kernel.

    Made with a `context`, as by programs for Triton, it has Triton's attributes: the name with its @, and types as
    spelled in the text, by position. `compile` accepts both.
    """

    def __init__(self, path: str | os.PathLike[str], context: Any = None, backend: Any = None) -> None:
        self.path: Path = _pathlib.Path(path)
        self.ext = self.first_stage = self.path.suffix[1:]
        try:
            self.src = read_regular(self.path).decode().replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            raise SourceError(f"{self.path.name} holds no text: {error}; {_WANTED['']}") from None
        self.language = "triton"
        symbol = kernel_symbol(self.src, self.ext)
        if symbol is None:
            raise SourceError(f"{self.path.name} holds no kernel ({_WANTED.get(self.ext, _WANTED[''])})")
        self.name = symbol
        self.constants: dict[Path_, Any] = {}
        self.attrs: dict[Path_, Any] = {}
        self.signature: dict[Any, Any] = stated_signature(self.src, self.ext)
        self._context = context
        if context is not None:
            self.name, self.signature = f"@{symbol}", dict(enumerate(self._types_of_text()))

    def _types_of_text(self) -> list[str]:
        if self.ext not in MLIR_STAGES:
            return list(self.signature.values())
        module = _views.ModuleView(_text.read_module(self.src, self.path.name))
        return module.get_function_signature(module.get_function(module.get_entry_func_name()))

    def plain(self) -> IRSource:
        """The source without a context, as `compile` uses it."""
        return self if self._context is None else IRSource(self.path)

    def hash(self) -> str:
        """A hash of stage and text."""
        return sha256(f"{self.ext}\0{self.src}".encode()).hexdigest()

    @property
    def places(self) -> list[str]:
        """The file's name, which positions in the text contain."""
        return [self.path.name]

    @property
    def line_counts(self) -> list[int]:
        """The number of lines of the text."""
        return [self.src.count("\n") + 1]

    def describe(self, places: bool = True) -> dict[str, dict[str, str]]:
        """The parts of the hash by kind and name, for messages."""
        return {
            "kernel": {"name": self.name, "function": f"{self.name} in {self.ext}"},
            "types": dict(self.signature),
            "functions": {f"the text in {self.ext}": self.hash()[:16]},
            "places" if places else "seen at": {self.name: self.path.name},
        }

    def prepare(self) -> None:
        """Import the modules that `make_ir` needs."""
        _ = _text.read_module

    def make_ir(
        self, target: Any, options: Any, codegen_fns: Any = None, module_map: Any = None, context: Any = None
    ) -> Any:
        """The stage's module, or its text where it is no MLIR; the last three are Triton's, as for an ASTSource."""
        if self.ext not in MLIR_STAGES:
            return UserText(self.src, self.path.name)
        if context is not None:
            _ = _views.ModuleView
        return _text.read_module(self.src, self.path.name)

    def parse_options(self) -> dict[str, Any]:
        """Options that the text states, such as `num_warps`."""
        return stated_options(self.src)
