"""C source around a cubin: a loader, a launcher and an unloader, with the header that declares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any

from ...backends.nvidia.launch import MAX_X, MAX_YZ, launch_attributes
from ...backends.nvidia.target import CUDATarget
from ...backends.nvidia.tensor_map import BIT, LAST_TO_CORRECT, SMALL, WORD
from ...compiler import CompiledKernel, GPUTarget
from ...runtime.tensor_maps import HOST_TYPES, L2_128B, TF32
from . import cuda_text as text
from .grid import BITS, Expression, Grid
from .interface import Interface, Parameter, directive, told

__all__ = ["c_expression", "cuda_files"]

_ALWAYS_SHARED = 48 << 10  # bytes that every kernel may have; more must be asked for
_PORTABLE_CLUSTER = 8  # CTAs of a cluster that every GPU with clusters takes
_DYNAMIC_SHARED, _CARVE_OUT, _LARGE_CLUSTER = 8, 9, 14  # CUfunction_attribute
_HALVES = {"fp16": "tt_fp16", "f16": "tt_fp16", "bf16": "tt_bf16"}
_FLOAT32 = 7  # CUtensorMapDataType
_BOOLEANS = ("i1", "u1", "B")

_DRIVER = {
    "prepare": (
        ("cuDeviceGetCount", "(int *)"),
        ("cuKernelSetAttribute", "(int, int, tt_kernel, int)"),
    ),
    "scratch": (
        ("cuMemAllocAsync", "(CUdeviceptr *, size_t, CUstream)"),
        ("cuMemFreeAsync", "(CUdeviceptr, CUstream)"),
    ),
    "maps": (
        ("cuDriverGetVersion", "(int *)"),
        (
            "cuTensorMapEncodeTiled",
            (
                "(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, "
                "const unsigned *, int, int, int, int)"
            ),
        ),
    ),
}


def cuda_files(kernel: CompiledKernel, interface: Interface, grid: Grid, header: str) -> dict[str, str]:
    """The contents of the `.h` (called `header`) and the `.c` of a kernel compiled for a GPU of NVIDIA's."""
    values = {**_names(kernel, interface), "header": header}
    return {".h": _header(values, kernel, interface, grid), ".c": _source(values, kernel, interface, grid)}


def _names(kernel: CompiledKernel, interface: Interface) -> dict[str, Any]:
    arch = kernel.values.get("arch") or f"sm{kernel.values['target']['arch']}"
    return {
        "function": interface.function,
        "kernel": interface.base,
        "symbol": kernel.name,
        "title": f"{interface.function}: the kernel {kernel.name} for {str(arch).replace('sm', 'sm_')}",
        "arguments": "".join(f", {p.declared}" for p in interface.taken),
    }


# ---- the header ----------------------------------------------------------------------------------------------------


def _header(values: Mapping[str, Any], kernel: CompiledKernel, interface: Interface, grid: Grid) -> str:
    types = text.TYPES
    if _has_descriptors(interface):
        types += "\n" + Template(text.TENSOR_TYPE).substitute(pointer="CUdeviceptr ", name="TritiumTensor")
    return Template(text.HEADER).substitute(
        values,
        how="The driver has to know CUDA 12.0 or later; nothing else is needed to run it.",
        guard=f"TRITIUM_{interface.function.upper()}_H",
        types=types,
        directive=directive(interface, f"cuda:{CUDATarget.of(kernel_target(kernel)).capability}"),
        told=told(interface, grid),
        full=", ".join(p.declared for p in interface.parameters),
        algorithm=interface.algorithm,
    )


def _has_descriptors(interface: Interface) -> bool:
    return any(p.type.startswith("tensordesc") for p in interface.parameters)


def kernel_target(kernel: CompiledKernel) -> GPUTarget:
    """The target a kernel was compiled for."""
    return GPUTarget("cuda", kernel.values.get("arch") or kernel.values["target"]["arch"], 32)


# ---- the source ----------------------------------------------------------------------------------------------------


def _source(values: Mapping[str, Any], kernel: CompiledKernel, interface: Interface, grid: Grid) -> str:
    metadata, cubin = kernel.values, kernel.kernel
    arguments = _Arguments(kernel, interface)
    wanted = list(_wanted(metadata))
    scratch = [(kind, size) for kind in ("global", "profile") if (size := metadata.get(f"{kind}_scratch_size"))]
    uses = {"prepare": wanted, "scratch": scratch, "maps": arguments.mapped}
    driver = [row for name, rows in _DRIVER.items() if uses[name] for row in rows]
    rows = ", ".join(f"{{{a}, {v}}}" for a, v in wanted)
    ctas = metadata.get("num_ctas") or 1
    declarations, before, after = _around(launch_attributes(metadata), scratch, arguments.count)
    return Template(text.SOURCE).substitute(
        values,
        more="".join(f" \\\n  X({name}, {types})" for name, types in driver),
        cubin_bytes=len(cubin),
        cubin=_bytes(cubin),
        prepare_function=Template(text.PREPARE_FUNCTION).substitute(rows=rows) if wanted else "",
        prepare=text.PREPARE if wanted else "",
        helpers="".join(arguments.helpers),
        declarations=declarations,
        max_x=MAX_X // ctas,
        max_yz=MAX_YZ,
        times=f" * {ctas}" if ctas > 1 else "",
        threads=32 * metadata["num_warps"],
        shared=metadata.get("shared") or 0,
        before=before,
        unless="if (!status) " if scratch else "",
        after=after,
        grid="".join(_grid(grid)),
        values="".join(arguments.lines),
    )


def _wanted(metadata: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """The function attributes that the driver sets only on request."""
    shared = metadata.get("shared") or 0
    if shared + (metadata.get("static_shared") or 0) > _ALWAYS_SHARED:
        yield _DYNAMIC_SHARED, shared
        yield _CARVE_OUT, 100
    if (metadata.get("num_ctas") or 1) > _PORTABLE_CLUSTER:
        yield _LARGE_CLUSTER, 1


def _around(
    attributes: Sequence[tuple[int, tuple[int, ...]]], scratch: Sequence[tuple[str, int]], count: int
) -> tuple[str, str, str]:
    """The text before a launch, declarations first, and after it."""
    declarations = before = after = ""
    if attributes:
        rows = ", ".join(f"{{{number}, 0, {{{', '.join(map(str, v))}}}}}" for number, v in attributes)
        declarations += f"  tt_attribute attributes[] = {{{rows}}};\n"
        before += f"  config.attributes = attributes;\n  config.attribute_count = {len(attributes)};\n"
    if scratch:
        declarations += "  uint64_t programs;\n  CUresult freed = CUDA_SUCCESS;\n"
        before += "  programs = (uint64_t)config.grid[0] * config.grid[1] * config.grid[2];\n"
    for kind, size in scratch:
        names = {"name": f"{kind}_scratch", "each": size, "index": count + (kind == "profile")}
        declarations += f"  CUdeviceptr {names['name']} = 0;\n"
        before += Template(text.SCRATCH_BEFORE).substitute(names)
        after += Template(text.SCRATCH_AFTER).substitute(names)
    return declarations, before, after


def _bytes(data: bytes) -> str:
    rows = (data[i : i + 32] for i in range(0, len(data), 32))
    return "".join(f"  {','.join(map(str, row))},\n" for row in rows)


def _grid(grid: Grid) -> Iterator[str]:
    """Statements that fill `tt_grid`."""
    for axis, size in enumerate(grid.sizes):
        for divisor in size.divisors():
            yield f"  if (({c_expression(divisor)}) == 0) return CUDA_ERROR_INVALID_VALUE;\n"
        for amount in size.shift_amounts():
            yield f"  if ((uint64_t)({c_expression(amount)}) > {BITS - 1}) return CUDA_ERROR_INVALID_VALUE;\n"
        yield f"  tt_grid[{axis}] = {c_expression(size)};\n"


_C = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "shl": "<<", "shr": ">>"}


def c_expression(e: Expression) -> str:
    """An expression in C, of 64 bits; operands are in parentheses wherever that could matter."""
    if e.operation == "int":
        return f"INT64_C({e.operands[0]})"
    if e.operation == "name":
        return f"(int64_t){e.operands[0]}"
    a, b = map(c_expression, e.operands)
    if e.operation == "cdiv":
        return f"(({a} + {b} - 1) / {b})"
    if e.operation in ("min", "max"):
        return f"({a} {'<' if e.operation == 'min' else '>'} {b} ? {a} : {b})"
    return f"({a} {_C[e.operation]} {b})"


_MAP_NUMBERS = {
    "float32": _FLOAT32,
    "tf32": TF32,
    "l2_promotion": L2_128B,
    "last_to_correct": LAST_TO_CORRECT,
    "small": SMALL,
    "word": WORD,
    "bit": BIT,
}


class _Arguments:
    """The statements that put the parameters where the driver finds them: `tt_parameters`, an address each."""

    def __init__(self, kernel: CompiledKernel, interface: Interface) -> None:
        self.rows = iter(kernel.values.get("tensordesc_meta") or ())
        self.twice = CUDATarget.of(kernel_target(kernel)).has_descriptors
        self.mapped = False
        self.declared: list[str] = []
        self.filled: list[str] = []
        self.addresses: list[str] = []
        for p in interface.taken:
            self._add(p)
        self.count = len(self.addresses)
        types = {p.type for p in interface.taken}
        halves = {"tt_fp16": text.FP16, "tt_bf16": text.BF16}
        self.helpers = [code for name, code in halves.items() if types & {t for t, f in _HALVES.items() if f == name}]
        if self.mapped:
            self.helpers.append(Template(text.TENSOR_MAP).substitute(_MAP_NUMBERS))

    @property
    def lines(self) -> list[str]:
        """The statements."""
        addresses = ", ".join([*self.addresses, "&tt_scratch[0]", "&tt_scratch[1]"])
        declared = [*self.declared, "CUdeviceptr tt_scratch[2] = {0, 0};", f"void *tt_parameters[] = {{{addresses}}};"]
        return [f"    {line}\n" for line in (*declared, *self.filled)]

    def _add(self, p: Parameter) -> None:
        if p.type.startswith("tensordesc"):
            self._tensor(p)
        elif p.type in _HALVES:
            self._copy(f"uint16_t ttp_{p.name} = {_HALVES[p.type]}({p.name})", f"ttp_{p.name}")
        elif p.type in _BOOLEANS:
            self._copy(f"uint8_t ttp_{p.name} = {p.name} != 0", f"ttp_{p.name}")
        else:
            self.addresses.append(f"&{p.name}")

    def _copy(self, declaration: str, name: str) -> None:
        self.declared.append(f"{declaration};")
        self.addresses.append(f"&{name}")

    def _tensor(self, p: Parameter) -> None:
        """A descriptor: a tensor map with shape and strides, or what the kernel takes apart."""
        shape = p.type[p.type.index("[") + 1 : p.type.index("]")]
        rank, row = shape.count(",") + 1, next(self.rows, None)
        if row is None:
            self._copy(f"CUdeviceptr ttp_{p.name}_base = {p.name}->base", f"ttp_{p.name}_base")
            self._numbers(p, rank, "int64_t", "whole")
        else:
            self._map(p, rank, row)
        if row is not None or self.twice:
            self._numbers(p, rank, "int32_t", "part")

    def _numbers(self, p: Parameter, rank: int, size_type: str, name: str) -> None:
        for field, ctype in (("shape", size_type), ("strides", "int64_t")):
            made = f"ttp_{p.name}_{field}_{name}"
            terms = ", ".join(f"({ctype}){p.name}->{field}[{i}]" for i in range(rank))
            self.declared.append(f"{ctype} {made}[] = {{{terms}}};")
            self.addresses += [f"&{made}[{i}]" for i in range(rank)]

    def _map(self, p: Parameter, rank: int, row: Mapping[str, Any]) -> None:
        self.mapped = True
        kind = HOST_TYPES.get(row["elem_type"], row["elem_type"])
        nan = p.type.rstrip(">").endswith("nan")
        box = ", ".join(map(str, row["block_size"]))
        fields = [rank, kind, row["elem_size"], row["swizzle"], int(nan), 2 if row.get("fp4_padded") else 1]
        self.declared.append(f"static const tt_box ttp_{p.name}_box = {{{', '.join(map(str, fields))}, {{{box}}}}};")
        self._copy(f"tt_map ttp_{p.name}_map", f"ttp_{p.name}_map")
        call = f"tt_describe(tt_it, &ttp_{p.name}_map, {p.name}, &ttp_{p.name}_box)"
        self.filled += [f"tt_status = {call};", "if (tt_status) return tt_status;"]
