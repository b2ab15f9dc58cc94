"""What can go wrong at run time. Every text is meant for the person who wrote the launch."""

from __future__ import annotations

from ..support import TritiumError

__all__ = [
    "ArgumentError",
    "AutotunerError",
    "DeviceAssertError",
    "IntegerOverflowError",
    "InterpreterError",
    "LaunchError",
    "OutOfResources",
    "PTXASError",
    "SanitizerError",
    "UnknownOptionError",
]


class LaunchError(TritiumError, RuntimeError):
    """A kernel cannot be launched as asked: no grid, a grid that is none, a changed global."""


class ArgumentError(TritiumError, TypeError):
    """An argument of a launch is missing, too much, or of a type that no kernel takes."""


class IntegerOverflowError(ArgumentError, OverflowError):
    """An integer argument has more bits than any type of the language."""


class UnknownOptionError(TritiumError, KeyError):
    """A keyword of a launch is neither a parameter of the kernel nor an option."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show the repr


class OutOfResources(TritiumError):
    """The kernel needs more of something than the hardware has."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        self.required = required
        self.limit = limit
        self.name = name
        super().__init__(
            f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. "
            "Reducing block sizes or `num_stages` may help."
        )

    def __reduce__(self) -> object:
        return (type(self), (self.required, self.limit, self.name))


class PTXASError(TritiumError):
    """The assembler of NVIDIA GPUs failed. Scripts that tune kernels catch it by name; no CPU compile raises it."""


class AutotunerError(TritiumError):
    """Tuning cannot be done as described."""


class InterpreterError(TritiumError):
    """A kernel failed while it was interpreted."""


class _KernelError(TritiumError, RuntimeError):
    """Something a running kernel reported.

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
    """A `tl.device_assert` (or `assert`) that did not hold, in a kernel compiled with `debug=True`."""


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
