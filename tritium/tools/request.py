"""A command line about one kernel: a file, a signature, a target, options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..compiler import ASTSource, GPUTarget, IRSource
from ..compiler.backend import named_target
from ..support import settings
from ..support.dataclasses import dataclass
from .kernel_file import CommandError, kernel_of_file
from .layout_literals import is_layout, layout_value
from .signature import Entry, literal, missing, read_signature, split_items

__all__ = [
    "Request",
    "entries_of",
    "kernel_of",
    "options_of",
    "pairs",
    "parse_target",
    "source_of",
    "specialized",
    "value_of",
]


@dataclass
class Request:
    """One command line: `file` is FILE.py::kernel or the text of a stage; `options` are those of the target.

    With a `grid`, C is made of the kernel; `out_name` is what its functions are called, `output` where files go.
    `trace` is a file for records of the compile.
    """

    file: str
    target: str = ""
    signature: str = ""
    constants: str = ""
    stages: Sequence[str] = ()
    output: str = ""
    options: Sequence[str] = ()
    kernel_name: str = ""
    grid: str = ""
    out_name: str = ""
    trace: str = ""


def options_of(request: Request) -> dict[str, Any]:
    """The options of the target, by name; a value that is no literal is text."""
    return {name: value_of(text) for name, text in pairs(request.options)}


@contextmanager
def traced(request: Request) -> Iterator[None]:
    """Compiles within it are recorded in the file that the command line names, if it names one."""
    with settings.compilation.scope():
        if request.trace:
            Path(request.trace).write_text("")
            settings.compilation.trace = request.trace
            settings.compilation.always_compile = True  # a kernel of the cache has nothing to record
        yield


def parse_target(text: str) -> Any:
    """`cuda:90` and the like as a target; `cpu` is this machine, warps of `hip` targets follow from the arch.

    Triton's spelling, which says the threads of a warp behind the architecture, is accepted.

    >>> parse_target("cuda:90"), parse_target("cuda:80:32").arch
    (GPUTarget(backend='cuda', arch=90, warp_size=32), 80)
    """
    backend, _, arch = text.partition(":")
    if backend == "cpu":
        return GPUTarget("cpu", arch, 1)
    arch, _, warp = arch.partition(":")
    if not arch:
        raise CommandError(f"the target {text!r} names no architecture: write it like cuda:90")
    if warp and not warp.isdigit():
        raise CommandError(f"the target {text!r} has warps of {warp!r} threads, which is no number")
    found = named_target(backend, arch)
    if not warp or int(warp) == found.warp_size:
        return found
    if backend in ("cuda", "hip"):
        size = found.warp_size
        raise CommandError(f"the target {text!r} has warps of {warp} threads: those of {backend}:{arch} have {size}")
    return GPUTarget(backend, found.arch, int(warp))


def source_of(request: Request) -> Any:
    """What the command line wants compiled."""
    path, _, name = request.file.partition("::")
    if not Path(path).is_file():
        raise CommandError(f"there is no file {path!r}")
    if not path.endswith(".py"):
        if request.signature or request.constants or name or request.kernel_name:
            raise CommandError(f"{path} says itself what its kernel takes")
        if request.grid:
            raise CommandError(f"--grid makes C of a kernel in Python, and {path} is none")
        return IRSource(path)
    fn = kernel_of(request)
    return specialized(fn, entries_of(request, fn))


def kernel_of(request: Request) -> Any:
    """The kernel function that the command line names."""
    path, _, name = request.file.partition("::")
    if name and request.kernel_name and name != request.kernel_name:
        raise CommandError(f"{request.file} and --kernel-name {request.kernel_name} name two kernels")
    return kernel_of_file(path, name or request.kernel_name)


def entries_of(request: Request, fn: Any) -> dict[str, Entry]:
    """What the command line says of each parameter, in order; compile-time parameters may have defaults.

    SignatureError or CommandError where something is wrong or left out.
    """
    constexprs = [p.name for p in fn.params if p.is_constexpr]
    found = read_signature(request.signature, fn.arg_names, constexprs)
    for name, text in pairs([request.constants] if request.constants else []):
        if name not in fn.arg_names:
            raise CommandError(f"{fn.__name__} has no parameter {name!r}; it has: {', '.join(fn.arg_names)}")
        found[name] = Entry(name, text, 0, value=value_of(text))
    for p in fn.params:
        if p.name not in found and ((p.is_constexpr and p.has_default) or p.default is None):
            value = getattr(p.default, "value", p.default)
            found[p.name] = Entry(p.name, repr(value), 0, value=value)
    if len(found) < len(fn.arg_names):
        raise missing(request.signature, found, fn.arg_names, fn.__name__)
    return {name: found[name] for name in fn.arg_names}


def specialized(fn: Any, entries: Mapping[str, Entry]) -> ASTSource:
    """The kernel for these entries."""
    types = {name: e.type for name, e in entries.items() if not e.is_constant}
    values = {name: e.constant for name, e in entries.items() if e.is_constant}
    hints = {(i,): e.hint for i, e in enumerate(entries.values()) if e.hint and not e.is_constant}
    source: ASTSource = fn.ASTSource(
        fn, types, values, {path: [["tt.divisibility", hint]] for path, hint in hints.items()}
    )
    return source


def value_of(text: str) -> Any:
    """The value of a Python literal or of a layout of Gluon; any other text as it is."""
    if is_layout(text):
        try:
            return layout_value(text)
        except ValueError as error:
            raise CommandError(f"{text!r} is no layout: {error}") from None
    found = literal(text)
    return text if found is None else found[0]


def pairs(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Parse `a=1,b=2` into pairs; CommandError if malformed."""
    out = []
    for part, _ in (item for text in texts for item in split_items(text, "option")):
        name, equals, value = part.partition("=")
        if not equals:
            raise CommandError(f"{part!r} is no NAME=VALUE")
        out.append((name.strip(), value.strip()))
    return out
