"""`%%tritium`: run a cell and show the stages of its kernels.

%%tritium                                               kernels that the cell launches
%%tritium --stage ttgir                                 with that stage open
%%tritium add -s '*fp32:16, *fp32, i32, 1024' --target cuda:90    a kernel that is compiled, and not launched
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator
from typing import NoReturn, Protocol

from ..compiler import CompiledKernel, compile
from ..runtime.driver import driver
from ..runtime.jit import JITFunction
from ..support import TritiumError
from ..tools.request import Request, entries_of, options_of, parse_target, specialized
from .html import Markup
from .kernels import kernel_html

__all__ = ["register"]


class Result(Protocol):
    """What running a cell gives."""

    success: bool


class Shell(Protocol):
    """A shell of IPython, as far as the magic needs it."""

    user_ns: dict[str, object]

    def run_cell(self, cell: str) -> Result:
        """Run the code of a cell."""

    def register_magic_function(self, function: Callable[..., object], kind: str, name: str) -> None:
        """Add a magic."""


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise TritiumError(f"%%tritium: {message}")


def _parser() -> argparse.ArgumentParser:
    parser = _Arguments(prog="%%tritium", add_help=False)
    parser.add_argument("kernel", nargs="?", default="")
    parser.add_argument("-s", "--signature", default="")
    parser.add_argument("--constants", default="")
    parser.add_argument("-t", "--target", default="")
    parser.add_argument("--stage", default="")
    parser.add_argument("-O", "--option", action="append", default=[])
    return parser


class Shown:
    """Kernels as one output."""

    def __init__(self, kernels: list[CompiledKernel], stage: str) -> None:
        self.kernels, self.stage = kernels, stage

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        text = "\n".join(map(repr, self.kernels)) or "no kernel was launched in this cell"
        html = Markup("".join(kernel_html(kernel, self.stage) for kernel in self.kernels))
        return {"text/plain": text, "text/html": html} if self.kernels else {"text/plain": text}


def register(shell: Shell) -> None:
    """Add the magic to a shell of IPython."""

    def tritium(line: str, cell: str) -> Shown | None:
        """Run the cell and show the stages of its kernels; see `tritium.notebook.magic`."""
        try:
            asked = _parser().parse_args(shlex.split(line))
            return _run(shell, asked, cell)
        except (TritiumError, ValueError) as error:
            print(error)
            return None

    shell.register_magic_function(tritium, "cell", "tritium")


def _run(shell: Shell, asked: argparse.Namespace, cell: str) -> Shown | None:
    before = {id(kernel) for kernel in _kernels(shell.user_ns)}
    result = shell.run_cell(cell)
    if not result.success:
        return None
    if asked.signature or asked.constants or asked.target:
        return Shown([_compiled(shell.user_ns, asked)], asked.stage)
    found = [kernel for kernel in _kernels(shell.user_ns) if id(kernel) not in before]
    named = [kernel for kernel in found if kernel.name == asked.kernel] if asked.kernel else found
    return Shown(named, asked.stage)


def _functions(names: dict[str, object]) -> Iterator[JITFunction]:
    """The kernels of a namespace, under autotuners and heuristics too."""
    seen = set()
    for value in list(names.values()):
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        if isinstance(value, JITFunction) and id(value) not in seen:
            seen.add(id(value))
            yield value


def _kernels(names: dict[str, object]) -> Iterator[CompiledKernel]:
    """What was compiled of the kernels of a namespace, for all devices."""
    for function in _functions(names):
        for cache in function.device_caches.values():
            kernels = (entry.kernel for entry in cache[0].values())  # some may still be compiling
            yield from (kernel for kernel in kernels if isinstance(kernel, CompiledKernel))


def _compiled(names: dict[str, object], asked: argparse.Namespace) -> CompiledKernel:
    functions = {f.__name__: f for f in _functions(names)}
    name = asked.kernel or next(reversed(functions), "")
    if name not in functions:
        known = ", ".join(functions) or "none"
        raise TritiumError(f"%%tritium: there is no kernel {name!r} in this notebook; there are: {known}")
    function = functions[name]
    request = Request("", signature=asked.signature, constants=asked.constants, options=asked.option)
    target = parse_target(asked.target) if asked.target else driver.active.get_current_target()
    return compile(specialized(function, entries_of(request, function)), target=target, options=options_of(request))
