"""What a module says about the machine, and that the layouts in it fit to that.

| attribute | where | says |
|---|---|---|
| `ttg.num-warps` | module, `tt.func` | warps per CTA; a partition of `ttg.warp_specialize` has a number of its own |
| `ttg.threads-per-warp` | module | 32, if it is not there |
| `ttg.num-ctas` | module | blocks a cluster; 1, if it is not there |
| `ttg.target` | module | what it is compiled for, `"cuda:90"` |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..hardware.nvidia import NvidiaGPU, nvidia_gpu
from ..hardware.nvidia_features import Feature
from ..ir import SURROUNDINGS, IntegerAttr, Operation, Region, StringAttr, TensorType, Type, Value
from ..ir.parameters import power_of_two
from .ttg_layouts import Distributed, Layout, is_irregular
from .ttg_memory import MemDescType, MemoryLayout
from .ttg_rules import rule_of

__all__ = [
    "NUM_CTAS",
    "NUM_WARPS",
    "OPAQUE",
    "TARGET",
    "THREADS_PER_WARP",
    "gpu_of",
    "has_feature",
    "num_ctas",
    "num_warps",
    "target_of",
    "threads_per_warp",
]

OPAQUE = "tritium.opaque"
"""Attribute of an f32 constant whose value LLVM must not know."""

NUM_WARPS = "ttg.num-warps"
NUM_CTAS = "ttg.num-ctas"
THREADS_PER_WARP = "ttg.threads-per-warp"
TARGET = "ttg.target"

_PARTITIONS = "ttg.warp_specialize.partitions"
_MODULE_ONLY = frozenset((NUM_CTAS, THREADS_PER_WARP, TARGET))
_SAID = _MODULE_ONLY | {NUM_WARPS}


def _number(op: Operation, name: str) -> int | None:
    attr = op.attributes.get(name)
    return attr.value if isinstance(attr, IntegerAttr) else None


def _module_of(op: Operation) -> Operation:
    while (parent := op.parent_op) is not None and op.name != "builtin.module":
        op = parent
    return op


def threads_per_warp(op: Operation) -> int:
    """How many threads a warp has in the module around `op`."""
    return _number(_module_of(op), THREADS_PER_WARP) or 32


def num_ctas(op: Operation) -> int:
    """How many blocks a cluster has in the module around `op`."""
    return _number(_module_of(op), NUM_CTAS) or 1


def target_of(op: Operation) -> str:
    """The target that the module around `op` names, `cuda:90`; empty where it names none."""
    attr = _module_of(op).attributes.get(TARGET)
    return attr.value if isinstance(attr, StringAttr) else ""


def gpu_of(op: Operation) -> NvidiaGPU | None:
    """The NVIDIA GPU that the module around `op` is compiled for; None where it names none, or another target."""
    kind, _, number = target_of(op).partition(":")
    return nvidia_gpu(int(number)) if kind == "cuda" and number.isdigit() else None


def has_feature(op: Operation, feature: Feature) -> bool:
    """Whether the module around `op` is compiled for an NVIDIA GPU with a feature."""
    gpu = gpu_of(op)
    return gpu is not None and gpu.has(feature)


def num_warps(op: Operation | None) -> int | None:
    """How many warps run `op`: those of the partition, function or module around it; None where nothing says so."""
    region: Region | None = None
    while op is not None:
        if op.name == _PARTITIONS and region is not None:
            return _partition_warps(op, op.regions.index(region))
        if op.name in ("builtin.module", "tt.func") and (n := _number(op, NUM_WARPS)) is not None:
            return n
        region = op.parent.parent if op.parent is not None else None
        op = op.parent_op
    return None


def _partition_warps(partitions: Operation, i: int) -> int | None:
    parent = partitions.parent_op
    counts = getattr(parent.attributes.get("partitionNumWarps"), "values", ()) if parent is not None else ()
    return counts[i] if i < len(counts) else None


# -- do the layouts fit? ------------------------------------------------------------------------------------------

#: Operations that may have tensors of which two threads hold the same element, or whose warps are swizzled.
_TAKE_ANY_LAYOUT = frozenset(
    [f"tt.{name}" for name in (
        "make_range", "splat", "broadcast", "load", "store", "join", "split", "dot", "dot_scaled", "call", "return",
        "func", "expand_dims", "reshape", "trans", "addptr", "bitcast", "fp_to_fp", "int_to_ptr", "ptr_to_int",
        "clampf", "precise_divf", "precise_sqrt", "mulhiui", "extern_elementwise", "elementwise_inline_asm",
        "map_elementwise",
    )] + [f"ttg.{name}" for name in ("convert_layout", "fp4_to_fp", "local_load", "local_store")]
)  # fmt: skip
_DIALECTS = frozenset(("tt", "ttg", "ttng", "gluon"))


class _Machine(NamedTuple):
    """The numbers of threads, warps and CTAs that layouts must match."""

    warps: int | None
    threads: int
    ctas: int


class _Verdicts:
    """Which types are `good` for any operation on one machine, and what is wrong with the others."""

    __slots__ = ("good", "machine")

    def __init__(self, machine: _Machine) -> None:
        self.machine = machine
        self.good: set[Type] = set()

    def wrong(self, ty: Type) -> str | None:
        """What is wrong with a type; None if nothing is, though not all operations may take it."""
        layout: Any = getattr(ty, "encoding", None)
        message = None
        if isinstance(layout, Layout):
            if isinstance(ty, TensorType):
                message = self.tensor(ty, layout)
            elif isinstance(ty, MemDescType) and layout.ctas != self.machine.ctas:
                message = f"{ty} is distributed over {layout.ctas} CTAs, there are {self.machine.ctas}"
        if message is None and not (isinstance(layout, Layout) and is_irregular(layout)):
            self.good.add(ty)
        return message

    def tensor(self, ty: TensorType, layout: Any) -> str | None:
        """What is wrong with a tensor's layout."""
        machine = self.machine
        if not isinstance(layout, Distributed):
            kind = "a buffer's" if isinstance(layout, MemoryLayout) else "no tensor's"
            return f"{ty} has {kind} layout"
        if layout.rank != len(ty.shape):
            return f"{ty} has {len(ty.shape)} dimensions, its layout {layout.rank}"
        if layout.ctas != machine.ctas:
            return f"{ty} is distributed over {layout.ctas} CTAs, there are {machine.ctas}"
        if not all(map(power_of_two, ty.shape)):
            return f"{ty} has a layout, so that its shape must be powers of two"
        if layout.lanes != machine.threads:
            return f"{ty} is distributed over {layout.lanes} threads per warp, there are {machine.threads}"
        if machine.warps is None:
            return f"{ty} has a layout, but nothing around it has the attribute {NUM_WARPS}"
        if layout.warps != machine.warps:
            return f"{ty} is distributed over {layout.warps} warps, there are {machine.warps}"
        return None


_machines: dict[_Machine, _Verdicts] = {}


class _LookedAt(dict[type[Operation], Any]):
    """For a class of operations, a function that says what is wrong with their layouts together; None: they are not
    looked at."""

    def __missing__(self, cls: type[Operation]) -> Any:
        looked_at = cls.is_registered and cls.name.partition(".")[0] in _DIALECTS
        found = self[cls] = (rule_of(cls) or _nothing) if looked_at else None
        return found


def _nothing(op: Operation) -> str | None:
    return None


_looked_at = _LookedAt()


def _verdicts(machine: _Machine) -> _Verdicts:
    return _machines.get(machine) or _machines.setdefault(machine, _Verdicts(machine))


def layouts_fit(root: Operation) -> list[tuple[Operation, str]]:
    """The operations in `root` at which a layout does not fit to the machine, or to the others at the operation.

    Operands are results or arguments of blocks: where all types of these are good, and none comes from outside, the
    first walk need not look at operands. It ends where it meets another type, or regions of several blocks.
    """
    walk = _Walk(quick=root.name == "builtin.module")
    _operation(root, _verdicts(_machine_of(root)), walk)
    if walk.irregular:
        walk = _Walk(quick=False)
        _operation(root, _verdicts(_machine_of(root)), walk)
    return walk.found


class _Walk:
    """What a walk finds; `quick`: types are looked at where values are made, `irregular`: not all of these are good."""

    __slots__ = ("found", "irregular", "quick")

    def __init__(self, quick: bool) -> None:
        self.found: list[tuple[Operation, str]] = []
        self.quick, self.irregular = quick, False

    def made(self, values: Iterable[Value], verdicts: _Verdicts) -> None:
        """Values some of whose types are not known to be good."""
        for v in values:
            if v.type not in verdicts.good and (verdicts.wrong(v.type) or v.type not in verdicts.good):
                self.irregular = True


def _machine_of(op: Operation) -> _Machine:
    return _Machine(num_warps(op), threads_per_warp(op), num_ctas(op))


def _operation(op: Operation, verdicts: _Verdicts, walk: _Walk) -> None:
    """The attributes of `op` itself, and all in its regions."""
    if op.name == "builtin.module":
        verdicts = _verdicts(_machine_of(op))
    elif not _SAID.isdisjoint(op.attributes):
        walk.found += [
            (op, f"the attribute {name} belongs to a module") for name in sorted(_MODULE_ONLY & set(op.attributes))
        ]
        n = _number(op, NUM_WARPS)
        if n is not None:
            if op.name != "tt.func":
                walk.found.append((op, f"the attribute {NUM_WARPS} belongs to a module or tt.func"))
            verdicts = _verdicts(verdicts.machine._replace(warps=n))
    for i, region in enumerate(op.regions):
        inner = verdicts
        if op.name == _PARTITIONS:
            inner = _verdicts(verdicts.machine._replace(warps=_partition_warps(op, i)))
        if walk.quick:
            _quick_region(region, inner, walk)
            continue
        for block in region.blocks:
            _block(block.first, inner, walk)


def _quick_region(region: Region, verdicts: _Verdicts, walk: _Walk) -> None:
    if len(region.blocks) != 1:
        walk.irregular |= bool(region.blocks)
        return
    walk.made(region.blocks[0].args, verdicts)
    good, looked_at, op = verdicts.good, _looked_at, region.blocks[0].first
    while op is not None and not walk.irregular:
        rule = looked_at[op.__class__]
        if rule is not None:
            for r in op.results:
                if r.type not in good:
                    walk.made(op.results, verdicts)
            if rule is not _nothing and not walk.irregular:
                message = rule(op)
                if message:
                    walk.found.append((op, message))
        attributes = op.attributes
        if op.regions or (attributes and not _SAID.isdisjoint(attributes)):
            _operation(op, verdicts, walk)
        op = op.next


def _block(op: Operation | None, verdicts: _Verdicts, walk: _Walk) -> None:
    while op is not None:
        rule = _looked_at[op.__class__]
        if rule is not None:
            message: str | None = None
            for v in (*op.operands, *op.results):
                if v.type not in verdicts.good:
                    message = message or _verdict(op, v.type, verdicts)
            message = message or (rule(op) if rule is not _nothing else None)
            if message:
                walk.found.append((op, message))
        if op.regions or (op.attributes and not _SAID.isdisjoint(op.attributes)):
            _operation(op, verdicts, walk)
        op = op.next


def _verdict(op: Operation, ty: Type, verdicts: _Verdicts) -> str | None:
    message = verdicts.wrong(ty)
    if message or ty in verdicts.good or op.name in _TAKE_ANY_LAYOUT:
        return message
    return f"{op.name} cannot be done with the layout of {ty}"


SURROUNDINGS.append(layouts_fit)
