"""Machines of earlier launches, which later ones of the same program and shape use again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

__all__ = ["KeptMachines"]

KEPT_MACHINES = 8
KEPT_BYTES = 256 << 20


class AnyMachine(Protocol):
    """The part of a machine that is used here."""

    @property
    def program(self) -> object: ...
    @property
    def footprint(self) -> int: ...


M = TypeVar("M", bound=AnyMachine)


class KeptMachines(Generic[M]):
    """At most 8 machines, and as many as fit in 256 MiB, but at least one; the least recently used go first."""

    def __init__(self) -> None:
        self._machines: OrderedDict[tuple[Hashable, ...], M] = OrderedDict()

    def get(self, program: object, shape: tuple[Hashable, ...], make: Callable[[], M]) -> M:
        """The machine of `program` and `shape`: a new one, or one that an earlier launch has used."""
        key = (id(program), *shape)
        machine = self._machines.pop(key, None)
        if machine is None or machine.program is not program:
            machine = make()
        self._machines[key] = machine
        while len(self._machines) > KEPT_MACHINES or (len(self._machines) > 1 and self.bytes() > KEPT_BYTES):
            self._machines.popitem(last=False)
        return machine

    def bytes(self) -> int:
        """The memory of the machines that are kept."""
        return sum(machine.footprint for machine in self._machines.values())
