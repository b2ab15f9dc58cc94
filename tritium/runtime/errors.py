"""Errors at run time, with messages for the author of the launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backends.errors import OutOfResources, PTXASError
from ..support import TritiumError, UnknownOptionError
from ..support.lazy import lazy_attributes

if TYPE_CHECKING:
    from ..interpreter.kernels import InterpreterError

__all__ = [
    "ArgumentError",
    "AutotunerError",
    "ConfigError",
    "ConflictError",
    "DeviceAssertError",
    "GridArgumentError",
    "IntegerOverflowError",
    "InterpreterError",
    "LaunchError",
    "OutOfResources",
    "PTXASError",
    "PreloadError",
    "ReadOnlyError",
    "SanitizerError",
    "UnknownOptionError",
]

__getattr__ = lazy_attributes("tritium.runtime", {"InterpreterError": "..interpreter.kernels"}, globals())


class LaunchError(TritiumError, RuntimeError):
    """A launch is not possible: no grid, an invalid grid, a changed global."""


class GridArgumentError(LaunchError, KeyError):
    """A grid function uses a name that is no argument of the launch."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show the repr


class ArgumentError(TritiumError, TypeError):
    """An argument of a launch is missing, too much, or of a type that no kernel takes."""


class PreloadError(ArgumentError, RuntimeError):
    """Specialization data of another function or target, or none at all."""


class DescriptorError(ArgumentError, ValueError, AssertionError):
    """An invalid tensor descriptor (Triton raises either of these bases for it)."""


class IntegerOverflowError(ArgumentError, OverflowError):
    """An integer argument has more bits than any type of the language."""


class AutotunerError(TritiumError):
    """Tuning cannot be done as described."""


class ConfigError(AutotunerError, ValueError):
    """An invalid configuration or option of `autotune`."""


class ConflictError(AutotunerError, ValueError):
    """A launch passes a parameter that the configurations of `autotune` set."""


class _KernelError(TritiumError, RuntimeError):
    """An error reported by a running kernel.

    Attributes: `kernel` (name), `file`, `line`, `column` (of the operation, None if unknown), `program` (x, y, z).
    """

    def __init__(
        self,
        text: str,
        kernel: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        program: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        super().__init__(text)
        self.kernel = kernel
        self.file = file
        self.line = line
        self.column = column
        self.program = program


class DeviceAssertError(_KernelError, AssertionError):
    """A failed `tl.device_assert` (or `assert`), in a kernel compiled with `debug=True`."""


class ReadOnlyError(_KernelError, ArgumentError):
    """A store to a read-only array, by a kernel that does not store to it on every path, so that it was launched.

    Attributes besides those of every kernel error: `argument` (the parameter's name), `address` (of the element's first
    byte).
    """

    argument: str = ""
    address: int = 0


class SanitizerError(_KernelError):
    """An access outside the array it belongs to, in a kernel compiled with `sanitize=True`.

    Attributes besides those of every kernel error: `access` ("load", "store" or "atomic"), `argument` (the parameter's
    name, None if unknown), `address` (of the element's first byte), `lower`, `upper` (the array's bytes), `index`
    (the element's number in the array, None if unknown), `count` (elements of the array, None if unknown).
    """

    access: str = ""
    argument: str | None = None
    address: int = 0
    lower: int = 0
    upper: int = 0
    index: int | None = None
    count: int | None = None
