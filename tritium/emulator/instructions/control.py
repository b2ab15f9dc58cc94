"""Calls of the runtime, traps, fences and waits."""

from __future__ import annotations

import re
import struct

import numpy as np

from ..access import Target, elements
from ..errors import DeviceAssertion, DeviceTrap, UnknownInstruction
from ..geometry import Mask, Step
from ..ptx import Address, Instruction, Name, Operand, Tuple
from ..registry import emulates
from ..state import MachineState
from ..types import UNSIGNED
from .tensormap import acquire

__all__: list[str] = []

_CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d*)(?:\.(?:\*|\d+))?(?:hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")


@emulates("trap", "brkpt")
def trap(machine: MachineState, i: Instruction) -> Step:
    def run(mask: Mask) -> None:
        raise machine.error(DeviceTrap, "trap", i, int(machine.lanes(mask)[0]))

    return run


@emulates("fence")
def fence(machine: MachineState, i: Instruction) -> Step:
    """The emulator's memory is sequentially consistent: what is left are the caches of other ways to it."""
    if {"tensormap::generic", "acquire"} <= set(i.modifiers):
        return acquire(machine, i)
    of_proxy = i.modifiers[:2] == ("proxy", "async") and i.modifiers[2:] != ("global",)
    if of_proxy and machine.asynchrony is not None:
        return machine.asynchrony.fence
    return lambda mask: None


@emulates("membar", "nanosleep", "griddepcontrol", "pmevent")
def nothing(machine: MachineState, i: Instruction) -> Step:
    """Orders accesses, waits, or waits for other kernels: in the emulator all of it has happened."""
    return lambda mask: None


@emulates("call")
def call(machine: MachineState, i: Instruction) -> Step:
    """A function of the runtime; all others have been inlined."""
    results, callee, arguments = i.operands
    assert isinstance(callee, Name) and isinstance(arguments, Tuple) and isinstance(results, Tuple)
    if callee.name == "vprintf":
        return print_step(machine, i, arguments.items, results.items)
    if callee.name == "__assertfail":
        return assertion_step(machine, i, arguments.items)
    raise UnknownInstruction(f"the emulator has no {callee.name}", i)


class Reader:
    """Reads single values from memory for one thread, as the runtime does."""

    def __init__(self, machine: MachineState, i: Instruction) -> None:
        self.machine, self.i = machine, i
        self.targets = {n: Target(machine, Address(None, 0), None, n, i, write=False) for n in (1, 4, 8)}

    def value(self, address: int, size: int, thread: int) -> int:
        addresses, lanes = np.array([address], np.int64), np.array([thread])
        (piece,) = self.targets[size].locate(addresses, lanes)
        view, at = elements(piece, UNSIGNED[size * 8])
        return int(view[at[0]])

    def text(self, address: int, thread: int) -> str:
        """A string that ends with a zero."""
        out = bytearray()
        while byte := self.value(address + len(out), 1, thread):
            out.append(byte)
        return out.decode(errors="replace")


class Argument:
    """An argument of a call, of `size` bytes: a register, or a `.param` variable of the caller."""

    def __init__(self, machine: MachineState, operand: Operand, size: int, i: Instruction) -> None:
        if not isinstance(operand, Name) or machine.program.symbols[operand.name].space != "local":
            raise UnknownInstruction("the runtime's functions take .param variables", i)
        self.target = Target(machine, Address(operand, 0), "param", size, i, write=False)
        self.dtype = UNSIGNED[size * 8]

    def value(self, thread: int) -> int:
        lanes = np.array([thread])
        (piece,) = self.target.locate(np.array([self.target.fixed], np.int64), lanes)
        view, at = elements(piece, self.dtype)
        return int(view[at[0]])


def print_step(
    machine: MachineState, i: Instruction, arguments: tuple[Operand, ...], results: tuple[Operand, ...]
) -> Step:
    """vprintf(format, arguments): the text of each thread is appended to what the launch has printed."""
    format_, values = (Argument(machine, a, 8, i) for a in arguments)
    reader = Reader(machine, i)
    returned = None
    if results:
        returned = Target(machine, Address(results[0], 0), "param", 4, i, write=True)

    def run(mask: Mask) -> None:
        for thread in machine.lanes(mask):
            t = int(thread)
            template = reader.text(format_.value(t), t)
            machine.prints.append(formatted(template, values.value(t), reader, t))
        if returned is not None:
            for piece in returned.pieces(mask):
                view, at = elements(piece, UNSIGNED[32])
                view[at] = 1

    return run


def formatted(template: str, address: int, reader: Reader, thread: int) -> str:
    """C's printf; each argument stands at a multiple of its size, 4 or 8."""

    def take(size: int) -> int:
        nonlocal address
        address = -(-address // size) * size
        value = reader.value(address, size, thread)
        address += size
        return value

    def one(m: re.Match[str]) -> str:
        kind, spec = m[1], m[0]
        if kind == "%":
            return "%"
        arguments: list[object] = [take(4) for _ in range(spec.count("*"))]
        plain = re.sub(r"(hh|h|ll|l|j|z|t|L)(?=.$)", "", spec)
        long = re.search(r"(ll|l|j|z|t).$", spec) is not None
        if kind in "eEfFgGaA":
            number = struct.unpack("<d", take(8).to_bytes(8, "little"))[0]
            return plain % (*arguments, number)
        if kind == "s":
            return plain % (*arguments, reader.text(take(8), thread))
        if kind == "p":
            return f"{take(8):#x}"
        bits = take(8 if long else 4)
        if kind in "di":
            width = 64 if long else 32
            bits -= (bits >> (width - 1)) << width
        return plain.replace("u", "d") % (*arguments, chr(bits) if kind == "c" else bits)

    return _CONVERSION.sub(one, template)


def assertion_step(machine: MachineState, i: Instruction, arguments: tuple[Operand, ...]) -> Step:
    """__assertfail(message, file, line, function, size of a character)"""
    sizes = (8, 8, 4, 8)
    values = [Argument(machine, a, size, i) for a, size in zip(arguments, sizes)]
    reader = Reader(machine, i)

    def run(mask: Mask) -> None:
        thread = int(machine.lanes(mask)[0])
        message, file, line, function = (v.value(thread) for v in values)
        texts = [reader.text(address, thread) if address else "?" for address in (message, file, function)]
        block = machine.cta_coordinates(int(machine.cta[thread]))
        raise DeviceAssertion(texts[0], texts[1], line, texts[2], machine.where(thread), i, block)

    return run
