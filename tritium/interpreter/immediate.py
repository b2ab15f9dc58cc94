"""A builder that runs each operation as it is made, so that the language's own semantics compute instead of compile."""

from __future__ import annotations

from typing import Any

from ..frontend.errors import LanguageError
from ..frontend.visitor.builder import NamingBuilder
from ..ir import Block, Operation, Type, Value
from ..support import UNKNOWN, Location
from .evaluator import Evaluator, shaped

__all__ = ["Computed", "ImmediateBuilder", "Known", "PortableBuilder"]


class Computed(Value):
    """A value that is known: `data` is a NumPy array (of rank 0 for a scalar), a descriptor or a block pointer.

    `defining_op` is the operation that made it, which no longer knows its operands; None for arguments of a launch.
    """

    __slots__ = ("data", "op")

    def __init__(self, ty: Type, data: Any, op: Operation | None = None) -> None:
        self.type = ty
        self.data = data
        self.op = op
        self.users = {}
        self.hint = None

    @property
    def block(self) -> Block | None:
        return None

    @property
    def defining_op(self) -> Operation | None:
        return self.op

    def __repr__(self) -> str:
        return f"<computed {self.type}: {self.data}>"


class Known(dict[Value, Any]):
    """The values of a region; those from outside are computed."""

    def __missing__(self, value: Value) -> Any:
        return value.data  # type: ignore[attr-defined]


class ImmediateBuilder(NamingBuilder):
    """Runs what is inserted at `here`; elsewhere (in the region of a reduction, in a function) it builds as usual.

    Results of an operation that ran are `Computed`, and nothing but the program keeps them: a loop of a million steps
    takes no more memory than one of ten.
    """

    __slots__ = ("evaluator", "here")

    def __init__(self, evaluator: Evaluator) -> None:
        self.here = Block()
        super().__init__(self.here)
        self.evaluator = evaluator

    @property
    def immediate(self) -> bool:
        """Does an operation inserted now run at once?"""
        return self.block is self.here

    def insert(self, op: Any) -> Any:
        """Run `op`, or link it into the block that is being built; the op is returned."""
        if self.block is not self.here:
            return super().insert(op)
        if op.loc is UNKNOWN:
            op.loc = self.loc
        outcome = self.evaluator.execute(op, Known())
        op.results = [Computed(r.type, shaped(v, r.type), op) for r, v in zip(op.results, outcome, strict=True)]
        op.drop_references()
        return op

    def argument(self, ty: Type, data: Any, loc: Location = UNKNOWN) -> Computed:
        """A value that the launch brings."""
        return Computed(ty, shaped(data, ty))


_OF_GPUS = ("ttg.warp_specialize", "ttg.warp_yield", "ttg.warp_return")


class PortableBuilder(ImmediateBuilder):
    """Runs kernels in Gluon, as far as they have a meaning without a GPU."""

    __slots__ = ()

    def insert(self, op: Operation) -> Operation:
        """As of `ImmediateBuilder`. Raises LanguageError for an operation that only NVIDIA GPUs have."""
        if op.name in _OF_GPUS or (op.name.startswith("ttng.") and op.name != "ttng.cluster_barrier"):
            raise LanguageError(
                f"NotImplementedError: {op.name} is an operation of NVIDIA GPUs, which is not interpreted",
                "run the kernel on an emulated GPU (TRITIUM_TARGET=emulated:90)",
            )
        return super().insert(op)
