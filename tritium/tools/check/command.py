"""`tritium check`: the launches of a script, or one of a kernel with made-up arguments.

tritium check train.py                        every kernel that the script launches, at its first launch
tritium check train.py::softmax --target cuda:90      on an emulated GPU of compute capability 9.0
tritium check train.py::softmax --target hip:gfx942   on an emulated AMD GPU
tritium check train.py::softmax --target cuda         on the GPU of this machine
tritium check kernels.py::add --signature '*fp32:16, *fp32:16, *fp32:16, i32, 1024' --argument n=5000
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...compiler import default_target, make_backend
from ...runtime import driver
from ...runtime.errors import ArgumentError
from ...runtime.grid import normalize_grid
from ...support import TritiumError, settings
from ..kernel_file import CommandError
from ..request import Request, entries_of, kernel_of, options_of, pairs, parse_target, specialized, value_of
from ..run import run_script
from .inputs import arguments_of
from .oracle import CheckError, Report, check_launch
from .report import render
from .runs import Launch, emulated_driver

__all__ = ["CheckRequest", "main"]

_IR_FILES = (".ttir", ".ttgir", ".ttcir", ".llir", ".mlir", ".ptx")


@dataclass
class CheckRequest:
    """One command line. With a signature the launch is made up, else the script is run with `script_arguments`."""

    request: Request
    arguments: Sequence[str] = ()
    size: int = 50
    every: bool = False
    verbose: bool = False
    script_arguments: Sequence[str] = ()


def main(wanted: CheckRequest) -> int:
    """Check, and print what was found; 0 where all agree, 1 where something differs, 2 where nothing was checked."""
    try:
        reports = _made_up(wanted) if wanted.request.signature else _of_script(wanted)
    except TritiumError as error:
        text = str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium check: error: {text}", file=sys.stderr)
        return 2
    if not reports:
        hint = "the script must launch a kernel; or pass FILE.py::KERNEL with --signature, and arguments are made up"
        print(f"tritium check: error: no kernel was launched\nhint: {hint}", file=sys.stderr)
        return 2
    return 0 if all(reports) else 1


def _tell(report: Report, wanted: CheckRequest) -> Report:
    print(render(report, wanted.verbose), flush=True)
    return report


def _target(text: str) -> tuple[Any, int | None]:
    """What to compile for, and the number of the GPU of this machine that is to run it, if any is."""
    if text == "cuda":
        return driver.cuda.get_current_target(), driver.cuda.get_current_device()
    return default_target() if text in ("", "cpu") else parse_target(text), None


# -- made up ----------------------------------------------------------------------------------------------------------


def _made_up(wanted: CheckRequest) -> list[Report]:
    request = wanted.request
    fn = kernel_of(request)
    entries = entries_of(request, fn)
    given = {name: _argument(text) for name, text in pairs(wanted.arguments)}
    for name in given:
        if name not in entries or entries[name].is_constant:
            raise CommandError(f"--argument {name}: {fn.__name__} takes no such argument at run time")
    values = arguments_of(entries, given, wanted.size)
    grid = [int(n) for n in (request.grid or "4").split(",")]
    src = specialized(fn, entries)
    target, gpu = _target(request.target)
    launch = Launch(src, target, options_of(request), normalize_grid(tuple(grid), None), values, gpu)
    return [_tell(check_launch(launch, wanted.every), wanted)]


def _argument(text: str) -> Any:
    """A number, or the shape of an array: 64x64."""
    parts = text.split("x")
    if len(parts) > 1 and all(part.isdigit() for part in parts):
        return tuple(map(int, parts))
    value = value_of(text)
    if isinstance(value, str):
        raise CommandError(f"{text!r} is neither a number nor a shape such as 64x64")
    return value


# -- of a script ------------------------------------------------------------------------------------------------------


class _Watcher:
    """Checks each kernel, with each of its specializations, when it is launched first."""

    def __init__(self, wanted: CheckRequest, name: str) -> None:
        self.wanted = wanted
        self.name = name
        self.seen: set[Any] = set()
        self.reports: list[Report] = []
        self.busy = False
        self.propagate_errors = True  # a check that cannot be made ends the script

    def __call__(self, metadata: Any) -> None:
        """What a launch calls before it runs."""
        kernel = metadata.kernel
        if self.busy or self.name not in ("", kernel.src.fn.__name__) or kernel.hash in self.seen:
            return
        self.seen.add(kernel.hash)
        self.busy = True
        try:
            self.check(kernel, metadata)
        except (ArgumentError, CheckError) as error:
            print(f"{kernel.name}: not checked: {error}", flush=True)
        finally:
            self.busy = False

    def check(self, kernel: Any, metadata: Any) -> None:
        """Check the launch."""
        names = make_backend(kernel.backend.target).option_names()
        options = {name: kernel.values[name] for name in names if name in kernel.values}
        grid = normalize_grid(metadata.grid, lambda: dict(zip(kernel.src.signature, metadata.args)), kernel.name)
        launch = Launch(kernel.src, kernel.backend.target, options, grid, list(metadata.args))
        self.reports.append(_tell(check_launch(launch, self.wanted.every), self.wanted))


@contextlib.contextmanager
def _on(target: str) -> Iterator[None]:
    """Launches of the script run there."""
    if target in ("", "cpu"):
        yield
        return
    if target == "cuda":
        with _active(driver.cuda):
            yield
        return
    described = parse_target(target)
    if described.backend not in ("cuda", "hip"):
        raise CommandError(f"kernels for {target} cannot be run here: the targets are cpu, cuda, cuda:90, hip:gfx942 …")
    with _active(emulated_driver(described)):
        yield


@contextlib.contextmanager
def _active(one: Any) -> Iterator[None]:
    driver.set_active(one)
    try:
        yield
    finally:
        driver.reset_active()


def _of_script(wanted: CheckRequest) -> list[Report]:
    path, _, name = wanted.request.file.partition("::")
    if path.endswith(_IR_FILES):
        raise CheckError(f"{path} is a file of IR, and check runs Python scripts\nhint: tritium opt verifies IR")
    watcher = _Watcher(wanted, name)
    with settings.runtime.scope(), _on(wanted.request.target):
        settings.runtime.launch_enter_hook = watcher
        run_script(path, wanted.script_arguments)
    return watcher.reports
