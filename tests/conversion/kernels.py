"""Running TTIR text on this machine: parse, lower, compile, launch on NumPy arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tritium.backends.cpu import LoadedKernel, compile_llvm, host_target, load_kernel
from tritium.conversion.tt_to_ttc import convert_tt_to_ttc
from tritium.conversion.ttc_to_llvm import LoweredModule, ttc_to_llvm
from tritium.dialects import builtin, tt
from tritium.ir import element_type, parse_module

__all__ = ["Kernel", "poisoned"]


class Kernel:
    """A compiled kernel; `kernel(grid, *args)` runs it. `ttcir` and `lowered` are there to look at."""

    def __init__(self, text: str, sanitize: bool = False, target: Any = None) -> None:
        module = parse_module(text)
        func = next(op for op in module.body if isinstance(op, tt.Func) and op.sym_visibility != "private")
        self.types = [arg.type for arg in func.entry.args]
        self.target = target or host_target()
        self.ttcir: builtin.Module = convert_tt_to_ttc(module, self.target, sanitize)
        self.lowered: LoweredModule = ttc_to_llvm(self.ttcir, self.target)
        self.loaded: LoadedKernel | None = None

    def __call__(self, grid: tuple[int, ...], *args: Any, bounds: int = 0) -> bytes | None:
        if self.loaded is None:
            self.loaded = load_kernel(compile_llvm(self.lowered.text, self.target), self.lowered.name)
        slots = b"".join(_slot(a, ty) for a, ty in zip(args, self.types, strict=True)) or bytes(8)
        buffer = ctypes.create_string_buffer(slots, len(slots))
        x, y, z = (*grid, 1, 1)[:3]
        return self.loaded.launch(ctypes.addressof(buffer), x, y, z, 0, bounds)


def _slot(value: Any, ty: Any) -> bytes:
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data).to_bytes(8, "little")
    name = str(element_type(ty))
    if name == "f32":
        return np.float32(value).tobytes() + bytes(4)
    if name == "f64":
        return np.float64(value).tobytes()
    return (int(value) & (2**64 - 1)).to_bytes(8, "little")


def poisoned(shape: tuple[int, ...] | int, dtype: Any) -> np.ndarray:
    """An output array full of a value that no test computes."""
    return np.full(shape, 113, dtype)


def elementwise(op: str, ty: str, block: int, count: int = 2) -> str:
    """o[i] = op(x[i], y[i]) for i < n, in blocks."""
    t = f"tensor<{block}x{ty}>"
    p = f"tensor<{block}x!tt.ptr<{ty}>>"
    operands = "%a, %b" if count == 2 else "%a"
    return f"""
    tt.func public @k(%x: !tt.ptr<{ty}>, %y: !tt.ptr<{ty}>, %o: !tt.ptr<{ty}>, %n: i32) {{
      %pid = tt.get_program_id x : i32
      %size = arith.constant {block} : i32
      %start = arith.muli %pid, %size : i32
      %range = tt.make_range {{end = {block} : i32, start = 0 : i32}} : tensor<{block}xi32>
      %splat = tt.splat %start : i32 -> tensor<{block}xi32>
      %offs = arith.addi %splat, %range : tensor<{block}xi32>
      %ns = tt.splat %n : i32 -> tensor<{block}xi32>
      %mask = arith.cmpi slt, %offs, %ns : tensor<{block}xi32>
      %xs = tt.splat %x : !tt.ptr<{ty}> -> {p}
      %xp = tt.addptr %xs, %offs : {p}, tensor<{block}xi32>
      %a = tt.load %xp, %mask : {p}
      %ys = tt.splat %y : !tt.ptr<{ty}> -> {p}
      %yp = tt.addptr %ys, %offs : {p}, tensor<{block}xi32>
      %b = tt.load %yp, %mask : {p}
      %r = {op} {operands} : {t}
      %os = tt.splat %o : !tt.ptr<{ty}> -> {p}
      %op = tt.addptr %os, %offs : {p}, tensor<{block}xi32>
      tt.store %op, %r, %mask : {p}
      tt.return
    }}"""
