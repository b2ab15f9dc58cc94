"""An object file around a kernel for CPUs, with a function that C programs call, and the header that declares it.

The function is made as LLVM text: no C compiler is needed here.
"""

from __future__ import annotations

from string import Template

from ...backends.cpu.export import export_object
from ...compiler import CompiledKernel
from . import cpu_text as text
from .cuda_text import TENSOR_TYPE
from .grid import BITS, DIVISIONS, SHIFTS, Expression, Grid
from .interface import Interface, Parameter, directive, told

__all__ = ["cpu_files"]

_HALVES = {"fp16": "tritium.fp16", "f16": "tritium.fp16", "bf16": "tritium.bf16"}
_DIMENSIONS = 5  # of a TritiumHostTensor
_SHAPE_AT, _STRIDES_AT = 8, 8 + 8 * _DIMENSIONS


def cpu_files(kernel: CompiledKernel, interface: Interface, grid: Grid, header: str) -> dict[str, str | bytes]:
    """The contents of the `.h` (called `header`) and the `.o` of a kernel compiled for a CPU."""
    target = kernel.backend.target
    launcher = _Launcher(interface, grid, kernel.values.get("num_threads") or 0).text
    code = export_object(kernel.asm["llir"], kernel.name, launcher, target, kernel.values)
    return {".h": _header(kernel, interface, grid, header), ".o": code}


def _header(kernel: CompiledKernel, interface: Interface, grid: Grid, header: str) -> str:
    target = kernel.backend.target
    types = ""
    if any(p.type.startswith("tensordesc") for p in interface.parameters):
        types = "\n" + Template(TENSOR_TYPE).substitute(pointer="void *", name="TritiumHostTensor")
    return Template(text.HEADER).substitute(
        title=f"{interface.function}: the kernel {kernel.name} for {target}",
        object=header.removesuffix(".h") + ".o",
        guard=f"TRITIUM_{interface.function.upper()}_H",
        types=types,
        directive=directive(interface, f"cpu:{target.triple}:{target.cpu}"),
        kernel=interface.base,
        told=told(interface, grid),
        function=interface.function,
        arguments=interface.arguments,
    )


class _Launcher:
    """The LLVM text of the function: `text`."""

    def __init__(self, interface: Interface, grid: Grid, threads: int) -> None:
        self._lines: list[str] = []
        self._next = 0
        self._wide: dict[str, str] = {}
        slots: list[str] = []
        for p in interface.taken:
            slots += self._slots(p)
        sizes = [self._size(size) for size in grid.sizes]
        for size, value in zip(grid.sizes, sizes):
            if size.constant is None:
                self._guard(f"icmp slt i64 {value}, 0")
        self._line(f"%args = alloca [{max(1, len(slots))} x i64], align 8")
        for i, (ty, value) in enumerate(slot.split(" ") for slot in slots):
            at = self._value(f"getelementptr i64, ptr %args, i64 {i}")
            self._line(f"store {ty} {value}, ptr {at}, align 8")
        given = f"ptr @tritium.kernel.state, ptr %args, {', '.join(f'i64 {size}' for size in sizes)}, i64 {threads}"
        self._line(f"%status = call i32 @tritium.run({given}, ptr @tritium.sites)")
        self._line("ret i32 %status")
        parameters = ", ".join(f"{_llvm_type(p)} %p.{p.name}" for p in interface.taken)
        head = f"define i32 @{interface.function}({parameters}) nounwind {{"
        self.text = "\n".join([head, *self._lines, "wrong:", "  ret i32 1", "}", ""])

    def _line(self, line: str) -> None:
        self._lines.append(f"  {line}")

    def _value(self, instruction: str) -> str:
        self._next += 1
        self._line(f"%v{self._next} = {instruction}")
        return f"%v{self._next}"

    def _slots(self, p: Parameter) -> list[str]:
        """The contents of a parameter's slots, each a type and a value."""
        ty, value = _llvm_type(p), f"%p.{p.name}"
        if p.type.startswith("tensordesc"):
            return self._tensor(p)
        if p.type in _HALVES:
            return [f"i64 {self._value(f'call i64 @{_HALVES[p.type]}(float {value})')}"]
        if p.type in ("i1", "u1", "B"):
            some = self._value(f"icmp ne i8 {value}, 0")
            return [f"i64 {self._value(f'zext i1 {some} to i64')}"]
        if ty in ("i8", "i16", "i32"):
            value = self._value(f"{'zext' if p.type[0] == 'u' else 'sext'} {ty} {value} to i64")
            ty = "i64"
        if ty == "i64":
            self._wide[p.name] = value
        return [f"{ty} {value}"]

    def _tensor(self, p: Parameter) -> list[str]:
        """Base, shape and strides, from a structure."""
        rank = p.type.count(",", p.type.index("["), p.type.index("]")) + 1
        offsets = [start + 8 * i for start in (_SHAPE_AT, _STRIDES_AT) for i in range(rank)]
        loaded = [f"ptr {self._value(f'load ptr, ptr %p.{p.name}')}"]
        for offset in offsets:
            at = self._value(f"getelementptr i8, ptr %p.{p.name}, i64 {offset}")
            loaded.append(f"i64 {self._value(f'load i64, ptr {at}')}")
        return loaded

    def _size(self, e: Expression) -> str:
        """An expression of the grid."""
        if e.operation == "int":
            return str(e.operands[0])
        if e.operation == "name":
            return self._wide[e.operands[0]]
        a, b = map(self._size, e.operands)
        if e.operation in DIVISIONS:
            self._guard(f"icmp eq i64 {b}, 0")
        if e.operation in SHIFTS:
            self._guard(f"icmp ugt i64 {b}, {BITS - 1}")
        if e.operation == "cdiv":
            above = self._value(f"add i64 {a}, {b}")
            above = self._value(f"add i64 {above}, -1")
            return self._value(f"sdiv i64 {above}, {b}")
        if e.operation in ("min", "max"):
            return self._value(f"call i64 @llvm.s{e.operation}.i64(i64 {a}, i64 {b})")
        return self._value(f"{_INSTRUCTIONS[e.operation]} i64 {a}, {b}")

    def _guard(self, wrong: str) -> None:
        """Return an error where the comparison `wrong` holds."""
        found = self._value(wrong)
        self._next += 1
        self._line(f"br i1 {found}, label %wrong, label %l{self._next}")
        self._lines.append(f"l{self._next}:")


_INSTRUCTIONS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "sdiv",
    "mod": "srem",
    "shl": "shl",
    "shr": "ashr",
}


def _llvm_type(p: Parameter) -> str:
    """The type of a parameter of the function."""
    if p.ctype.endswith("*"):
        return "ptr"
    if p.ctype in ("float", "double"):
        return p.ctype
    return f"i{p.ctype.removeprefix('u').removeprefix('int').removesuffix('_t')}"
