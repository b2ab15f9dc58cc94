"""`tritium compile --grid …`: a kernel as files for a C program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...compiler import CompiledKernel, GPUTarget, compile
from ...runtime.driver_config import driver
from ...support import settings
from ...support.lazy import LazyModule
from ..request import Request, entries_of, kernel_of, options_of, parse_target, source_of, specialized
from ..signature import Entry
from .grid import Grid, read_grid
from .interface import AotError, Interface, make_interface
from .output import write_together

__all__ = ["Delivery", "compile_for_c"]

_cpu = LazyModule(".cpu", __package__)
_cuda = LazyModule(".cuda", __package__)

#: Triton's tool has other defaults than a launch, and they are part of the hash.
_DEFAULTS = {"num_warps": 1, "num_stages": 3}
_NO_GPU_HERE = GPUTarget("cuda", 90, 32)


class Delivery(NamedTuple):
    """What writes the files of a kernel for C and returns their paths; `function` is the name of the launcher."""

    function: str
    write: Callable[[], list[Path]]

    def __call__(self) -> list[Path]:
        return self.write()


def compile_for_c(request: Request) -> tuple[CompiledKernel, Delivery]:
    """The kernel of a command line with a grid, and what writes its files and says their paths.

    TritiumError for whatever is wrong with the command line, or cannot be made for C; then nothing is written.
    """
    target = _target(request)
    make_files = _writer(target)
    if request.stages:
        raise AotError("--stage shows stages, and --grid makes C of a kernel: ask for one of them")
    if not request.file.partition("::")[0].endswith(".py"):
        source_of(request)  # which says what is wrong
    fn = kernel_of(request)
    entries = entries_of(request, fn)
    options = {**_DEFAULTS, **options_of(request)}
    if options.get("raise_loads") or options.get("persistent"):
        raise AotError(
            "C code has one version of a kernel; with raise_loads or persistent there are two, one for some launches"
        )
    constants = {name: e.value for name, e in entries.items() if not e.type}
    interface = make_interface(target.backend, _out_name(request, fn), request.signature, entries, constants, options)
    grid = _grid(request, entries, interface)
    kernel = compile(specialized(fn, entries), target=target, options=options)

    def deliver() -> list[Path]:
        paths = _paths(request, interface)
        files = make_files(kernel, interface, grid, paths(".h").name)
        return write_together({paths(ending): contents for ending, contents in files.items()})

    return kernel, Delivery(interface.function, deliver)


def _out_name(request: Request, fn: Any) -> str:
    """The names of the functions: from the command line, or from the name of the kernel."""
    return request.out_name or request.kernel_name or request.file.partition("::")[2] or str(fn.__name__)


def _target(request: Request) -> Any:
    """What to compile for: where nothing is said this machine's GPU, or a Hopper where there is none."""
    if request.target:
        return parse_target(request.target)
    found = driver.active.get_current_target()
    if found.backend == "cuda" or settings.runtime.target == "cpu":
        return found
    print("no GPU found: compiling for cuda:90 (choose another with --target, or cpu)", file=sys.stderr)
    return _NO_GPU_HERE


def _writer(target: Any) -> Callable[[CompiledKernel, Interface, Grid, str], Mapping[str, str | bytes]]:
    if target.backend == "cuda":
        return _cuda.cuda_files  # type: ignore[no-any-return]
    if target.backend == "cpu":
        return _cpu.cpu_files  # type: ignore[no-any-return]
    name = repr(target.backend)
    if target.backend == "hip":
        name = "AMD GPUs: `tritium compile --stage hsaco --output FILE` writes a code object for hipModuleLoad"
    raise AotError(f"no launchers in C are made for {name}")


def _grid(request: Request, entries: Mapping[str, Entry], interface: Interface) -> Grid:
    """The grid, in which parameters have their names of C."""
    names = {p.origin: p for p in interface.parameters}
    integers: dict[str, int | None] = {}
    others: dict[str, str] = {}
    for name, entry in entries.items():
        if entry.is_constant and isinstance(entry.constant, int):
            integers[name] = int(entry.constant)
        elif not entry.is_constant and entry.type[0] in "iu" and entry.type not in ("i1", "u1"):
            integers[name] = None
        else:
            others[name] = f"of type {entry.type}" if entry.type else repr(entry.value)
    return read_grid(request.grid, integers, others, {name: p.name for name, p in names.items()})


def _paths(request: Request, interface: Interface) -> Callable[[str], Path]:
    """The path of the file with an ending: `<out path>.<hash>_<suffix><ending>`, as Triton names it."""
    out = Path(request.output or interface.base)
    if out.is_dir() or request.output.endswith("/"):
        out /= interface.base
    return lambda ending: out.with_suffix(f".{interface.stem}{ending}")
