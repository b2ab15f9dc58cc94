"""The ways in which one launch is run: the kernel's Python, the IR's text, machine code."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compiler import CompiledKernel, GPUTarget, make_backend
from ...frontend.errors import CompilationError
from ...interpreter import AssertionFailed, Evaluator, OutOfBoundsError, UndefinedError
from ...interpreter.evaluator import argument_values, pick_kernel
from ...interpreter.kernels import InterpreterError
from ...ir import Operation, parse_module
from ...runtime import driver, interpreted
from ...runtime.arrays import HOST
from ...runtime.cuda_launcher import CudaLauncher
from ...runtime.emulated import EmulatedCUDADriver
from ...runtime.emulated_driver import EmulatedDriver
from ...runtime.emulated_hip import EmulatedHIPDriver
from ...runtime.launcher import make_launcher
from ...support import TritiumError
from .compare import Result
from .hardware import OnGPU
from .launch import Arguments

__all__ = ["Failure", "Launch", "Maker", "Outcome", "active", "emulated_driver", "evaluate"]


@dataclass(frozen=True)
class Failure:
    """A run that came to no end: what it said. `unknown` where the evaluator does not know an operation; `error` is
    what was raised, where machine code failed."""

    message: str
    unknown: bool = False
    error: Exception | None = None

    def __str__(self) -> str:
        return self.message


Outcome = Result | Failure
Maker = Callable[[Operation, tuple[int, int, int], list[np.ndarray]], Evaluator]


class Launch:
    """One launch: arguments, grid, and the source, target and options that the kernel is compiled from.

    `gpu` is the number of the GPU of this machine that runs the machine code, by default the one whose memory arrays
    are in; None where code for GPUs is emulated.
    """

    def __init__(
        self,
        src: Any,
        target: Any,
        options: dict[str, Any],
        grid: Sequence[int],
        args: Sequence[Any],
        gpu: int | None = None,
    ) -> None:
        self.src = src
        self.target = target
        self.options = options
        x, y, z = (*grid, 1, 1)[:3]
        self.grid = (x, y, z)
        self.arguments = Arguments(dict(src.signature), args)
        self.there: OnGPU | None = None
        self.check_races = True
        """Does the emulator look for races? After one was found, results are compared without."""
        self.gpu = gpu if self.arguments.gpu == HOST else self.arguments.gpu

    def _run(self, run: Callable[[list[np.ndarray]], Any], regions: list[np.ndarray] | None = None) -> Outcome:
        regions = self.arguments.fresh(regions)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                run(regions)
        except UndefinedError as error:
            return Failure(str(error), "does not know" in str(error))
        except CompilationError as error:
            if "which is not interpreted" in str(error):  # instructions of GPUs in Gluon
                return Failure(str(error), True)
            if not isinstance(error, InterpreterError):
                raise  # the kernel is none, and no launch would do
            return Failure(str(error), "is machine code, which" in str(error))
        except (TritiumError, AssertionFailed, OutOfBoundsError) as error:
            return Failure(str(error), error=error)
        return Result(tuple(regions))

    def in_python(self) -> Outcome:
        """The kernel's function, line by line."""
        src = self.src

        def run(regions: list[np.ndarray]) -> None:
            values = dict(zip(src.signature, self.arguments.launch(regions)))
            types = (src.signature, src.constants, src.attrs)
            interpreted.launch(src.fn, self.grid, values, types, self.target, self.options)

        return self._run(run)

    def on_ir(
        self,
        module: Operation,
        make: Maker | None = None,
        regions: list[np.ndarray] | None = None,
        limit: int | None = None,
    ) -> Outcome:
        """A program of any MLIR stage, by an evaluator that is made for it and its regions.

        With `regions` of an earlier run, arrays stand at the same addresses again. A program of more than `limit`
        operations is an unknown Failure.
        """
        made: list[Evaluator] = []

        def run(regions: list[np.ndarray]) -> None:
            evaluator = Evaluator(module, self.grid) if make is None else make(module, self.grid, regions)
            evaluator.masked_zeros = True  # as docs/semantics promises on every target
            if self.target.backend == "cpu":
                evaluator.target = make_backend(self.target).target
            if limit is not None:
                evaluator.max_steps = limit
            made.append(evaluator)
            evaluate(evaluator, self.arguments.evaluated(regions))

        outcome = self._run(run, regions)
        if limit is not None and isinstance(outcome, Failure) and made and made[0].steps > limit:
            return Failure(f"it takes more than {limit:,} operations", True)
        return outcome

    def on_text(self, text: str, make: Maker | None = None, limit: int | None = None) -> Outcome:
        """The same for a text."""
        return self.on_ir(parse_module(text), make, limit=limit)

    def on_machine(self, kernel: CompiledKernel, emulated: bool = False) -> Outcome:
        """Machine code: on this processor, on a GPU of this machine, or (if it is `emulated`) on the emulator.

        A kernel that was emulated is no more launched on hardware.
        """

        return self._run(lambda regions: self._launch(kernel, regions, None, emulated))

    def on_copy(self, kernel: CompiledKernel, regions: list[np.ndarray], side: np.ndarray, emulated: bool) -> Outcome:
        """The same for a kernel that was compiled from the text of a stage, and takes one array of bytes more."""
        return self._run(lambda regions: self._launch(kernel, regions, side, emulated), regions)

    def _launch(
        self, kernel: CompiledKernel, regions: list[np.ndarray], side: np.ndarray | None, emulated: bool
    ) -> None:
        arguments = self.arguments
        if self.gpu is not None and not emulated:
            self.there = there = OnGPU(arguments, regions, self.gpu)
            if side is None:
                args = arguments.launch(regions, there.place)
            else:
                args = [*(v for _, v in arguments.flat(regions, there.place)), there.beside(side)]
            CudaLauncher(kernel)(self.grid, args, None)
            there.finish()
            return
        args = arguments.launch(regions) if side is None else [*(v for _, v in arguments.flat(regions)), side]
        with active(self.target, self.check_races):
            make_launcher(kernel)(self.grid, args, None)

    def host_addresses(self, addresses: np.ndarray) -> np.ndarray:
        """Addresses that the last run of machine code computed, as those of the regions on the CPU."""
        return addresses if self.there is None else self.there.host_addresses(addresses)


def emulated_driver(target: GPUTarget, check_races: bool = True) -> EmulatedDriver:
    """The driver of an emulated GPU of this target."""
    if target.backend == "hip":
        return EmulatedHIPDriver(str(target.arch), check_races)
    return EmulatedCUDADriver(int(target.arch), check_races)


@contextlib.contextmanager
def active(target: Any, check_races: bool = True) -> Iterator[None]:
    """Launches for GPUs within it are emulated."""
    if target.backend == "cpu":
        yield
        return
    before = driver._active
    driver.set_active(emulated_driver(target, check_races))
    try:
        yield
    finally:
        driver.set_active(before) if before is not None else driver.reset_active()


def evaluate(evaluator: Evaluator, args: Sequence[Any]) -> None:
    """Run all programs of an evaluator's grid, x fastest, as `interpreter.run` does."""
    func = pick_kernel(evaluator.module)
    values = argument_values(evaluator.memory, func, args)
    x, y, z = evaluator.grid
    with np.errstate(all="ignore"):
        for k in range(z):
            for j in range(y):
                for i in range(x):
                    evaluator.program = (i, j, k)
                    evaluator.call(func, list(values))
