"""`tritium compile`: a kernel of a file, or the text of a stage, through the stages of a target. Nothing is launched.

    tritium compile vector_add.py::add_kernel --target cuda:90 --signature '*fp32:16, *fp32:16, *fp32:16, i32' \\
        --constants BLOCK_SIZE=1024
    tritium compile kernel.ttgir --target cuda:80 --stage ptx

A signature names the types of the parameters in order, each with what its value is divisible by; a literal stands for a
compile-time value, `name=type` for the parameter of that name. Neither a driver nor a GPU is needed.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ..alias import install
from ..backends.errors import BackendError
from ..compiler import ASTSource, CompiledKernel, GPUTarget, IRSource, compile, default_target
from ..compiler.stated_target import TargetWarning, choose_target
from ..runtime.jit import JITFunction
from ..support import TritiumError
from ..support.dataclasses import dataclass
from ..support.suggestions import did_you_mean

__all__ = ["Request", "compile_request", "main", "parse_signature", "parse_target", "source_of"]

#: What is shown below the stages of each backend: the metadata's key, and how it is called.
FIGURES = {
    "cuda": {
        "n_regs": "registers a thread",
        "n_spills": "of them spilled",
        "stack_size": "bytes of stack a thread",
        "shared": "bytes of shared memory",
        "num_warps": "warps",
    },
    "cpu": {"scratch_bytes": "bytes of scratch memory"},
}


@dataclass
class Request:
    """One command line: `file` is FILE.py::kernel or the text of a stage; `options` are those of the target."""

    file: str
    target: str = ""
    signature: str = ""
    constants: str = ""
    stages: Sequence[str] = ()
    output: str = ""
    options: Sequence[str] = ()


class CommandError(TritiumError):
    """A command line that cannot be followed."""


def main(request: Request) -> int:
    """Compile, show the table on standard error, print or write the stages that are wanted; the exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always", TargetWarning)
            kernel = compile_request(request)
        _table(kernel, Console(stderr=True, soft_wrap=True, highlight=False))
        _deliver(kernel, request)
    except (TritiumError, BackendError, KeyError, OSError) as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium compile: error: {text}", file=sys.stderr)
        return 1
    return 0


def _show_warning(message: Warning | str, *_: Any) -> None:
    """A warning without the place in the compiler that it comes from."""
    text = str(message)
    print(text if "warning:" in text.split("\n")[0] else f"tritium compile: warning: {text}", file=sys.stderr)


def compile_request(request: Request) -> CompiledKernel:
    """The compiled kernel of a command line."""
    source = source_of(request)
    target = parse_target(request.target) if request.target else choose_target(source, default_target)
    options = {name: _literal(text) for name, text in _pairs(request.options)}
    return compile(source, target=target, options=options, until=_last(request))


def _last(request: Request) -> str | None:
    """The last stage to make: all of them, but where one alone is wanted."""
    return request.stages[0] if len(request.stages) == 1 and request.stages[0] not in ("sass", "source") else None


def parse_target(text: str) -> Any:
    """`cuda:90` and the like as a target; `cpu` is this machine, `hip:gfx942` has 64 threads a warp.

    >>> parse_target("cuda:90")
    GPUTarget(backend='cuda', arch=90, warp_size=32)
    """
    backend, _, arch = text.partition(":")
    if backend == "cpu":
        return GPUTarget("cpu", arch, 1)
    if not arch:
        raise CommandError(f"the target {text!r} names no architecture: write it like cuda:90")
    return GPUTarget(backend, int(arch) if arch.isdigit() else arch, 64 if backend == "hip" else 32)


def source_of(request: Request) -> Any:
    """What the command line wants compiled."""
    path, _, name = request.file.partition("::")
    if not Path(path).is_file():
        raise CommandError(f"there is no file {path!r}")
    if not path.endswith(".py"):
        if request.signature or request.constants or name:
            raise CommandError(f"{path} says itself what its kernel takes")
        return IRSource(path)
    fn = _kernel(path, name)
    types, values, attrs = parse_signature(request.signature, fn.arg_names)
    for key, text in _pairs([request.constants] if request.constants else []):
        if key not in fn.arg_names:
            raise CommandError(f"{fn.__name__} has no parameter {key!r}; it has: {', '.join(fn.arg_names)}")
        types.pop(key, None)
        values[key] = _literal(text)
    return ASTSource(fn, types, values, {(fn.arg_names.index(k),): v for k, v in attrs.items() if k in types})


def parse_signature(
    text: str, names: Sequence[str]
) -> tuple[dict[str, str], dict[str, Any], dict[str, list[list[Any]]]]:
    """The types, compile-time values and attributes that a signature gives to the parameters `names`.

    >>> parse_signature("*fp32:16, i32, 1024", ["x", "n", "BLOCK"])
    ({'x': '*fp32', 'n': 'i32'}, {'BLOCK': 1024}, {'x': [['tt.divisibility', 16]]})
    """
    types: dict[str, str] = {}
    values: dict[str, Any] = {}
    attrs: dict[str, list[list[Any]]] = {}
    for i, item in enumerate(_split(text)):
        name, equals, ty = item.partition("=")
        if not equals:
            if i >= len(names):
                raise CommandError(f"the signature has {len(_split(text))} entries, the kernel {len(names)} parameters")
            name, ty = names[i], item
        name, (ty, _, divisor) = name.strip(), ty.strip().partition(":")
        if name not in names:
            raise CommandError(f"the kernel has no parameter {name!r}; it has: {', '.join(names)}")
        if divisor and not divisor.strip().isdigit():
            raise CommandError(f"behind ':' stands what the value is divisible by, not {divisor!r}")
        constant = _constant(ty)
        if constant is not None:
            values[name] = constant[0]
        elif divisor.strip() == "1":  # Triton's spelling of an integer that is 1
            values[name] = 1
        else:
            types[name] = ty
            if divisor:
                attrs[name] = [["tt.divisibility", int(divisor)]]
    return types, values, attrs


def _constant(text: str) -> tuple[Any] | None:
    """A literal's value in a tuple; None for anything else (types are no literals)."""
    try:
        return (ast.literal_eval(text),)
    except (ValueError, SyntaxError):
        return None


def _literal(text: str) -> Any:
    found = _constant(text)
    return text if found is None else found[0]


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "(<[") - (c in ")>]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _pairs(texts: Iterable[str]) -> list[tuple[str, str]]:
    """`a=1,b=2` as pairs."""
    out = []
    for part in (part for text in texts for part in _split(text)):
        name, equals, value = part.partition("=")
        if not equals:
            raise CommandError(f"{part!r} is no NAME=VALUE")
        out.append((name.strip(), value.strip()))
    return out


def _kernel(path: str, name: str) -> Any:
    """The kernel `name` of a Python file, or its only one."""
    install()
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(module.__name__, module)
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        spec.loader.exec_module(module)
    except TritiumError:
        raise
    except Exception as error:  # whatever the file does
        raise CommandError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        del sys.path[0]
    found = {n: fn for n, v in vars(module).items() if (fn := _function(v)) is not None and fn.__module__ == spec.name}
    if not name and len(found) == 1:
        return next(iter(found.values()))
    if name not in found:
        hint = did_you_mean(name, found)
        asked = f"{path} has no kernel {name!r}{hint and '; ' + hint}" if name else f"{path} has several kernels"
        raise CommandError(f"{asked}: {', '.join(found) or 'none at all'}" + ("" if name else f" (write {path}::NAME)"))
    return found[name]


def _function(value: Any) -> Any:
    """The function that `@jit` made, also below `@autotune` and `@heuristics`."""
    while not isinstance(value, JITFunction) and isinstance(getattr(value, "fn", None), object):
        value = getattr(value, "fn", None)
        if value is None:
            return None
    return value


def _table(kernel: CompiledKernel, console: Console) -> None:
    """The stages with their sizes and times, and what the code needs."""
    target = kernel.backend.describe()
    table = Table(box=box.SIMPLE, title=f"{kernel.name} for {target.backend}:{target.arch}", title_justify="left")
    table.add_column("stage")
    table.add_column("size", justify="right")
    table.add_column("ms", justify="right")
    for name in kernel.asm:
        known = dict.get(kernel.asm, name)
        size = "" if known is None else f"{len(known):,} bytes" if isinstance(known, bytes) else _lines(known)
        took = kernel.times.get(name)
        table.add_row(name, size or "on demand", "" if took is None else f"{took:.1f}")
    console.print(table)
    if not kernel.times:
        console.print("from the cache")
    labels = FIGURES.get(target.backend, {})
    figures = [f"{kernel.values[key]:,} {label}" for key, label in labels.items() if key in kernel.values]
    console.print(", ".join(figures), end="\n" if figures else "")


def _lines(text: str) -> str:
    return f"{text.count(chr(10)) + 1:,} lines"


def _deliver(kernel: CompiledKernel, request: Request) -> None:
    """Print the stages that are wanted, or write them to a file or into a folder."""
    names = list(request.stages)
    if not request.output:
        for name in names:
            stage = kernel.asm[name]
            if isinstance(stage, bytes):
                raise CommandError(f"{name} is machine code: write it to a file with -o")
            print(stage, end="" if stage.endswith("\n") else "\n")
        return
    path = Path(request.output)
    if path.is_dir() or request.output.endswith("/"):
        path.mkdir(parents=True, exist_ok=True)
        for name in names or kernel.asm:
            _write(path / f"{kernel.name}.{name}", kernel.asm[name])
    elif len(names) > 1:
        raise CommandError(f"{len(names)} stages do not go into one file: let -o name a folder, {request.output}/")
    else:
        _write(path, kernel.asm[names[0] if names else list(kernel.asm)[-1]])


def _write(path: Path, stage: str | bytes) -> None:
    path.write_bytes(stage if isinstance(stage, bytes) else stage.encode())
    print(path)
