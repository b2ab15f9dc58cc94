"""amd-canonicalize-pointers: Split pointers into a scalar base and offsets.

    %o = arith.addi (tt.splat %i), %r                      %b = tt.addptr %a, %i
    %p = tt.addptr (tt.splat %a), %o                       %s = tt.splat %b
    %x = tt.load %p                               =>       %x = tt.load (tt.addptr %s, %r)

A base is in scalar registers, one for a wave; offsets can have 32 bits. What all elements share of the offsets is added
to the base (`offset_parts`), the rest is summed up, and both are carried through loops, branches and selects in place
of the pointer. Pointers are put together again where they are used.

Of an argument below 2 GB (`tt.pointer_range` is 32), the base stays and all offsets are summed up in 32 bits: then
`amd-convert-to-buffer-ops` knows the array of an access, and no sum is split that wraps around as a whole only. Other
arguments are split if `enable_large_tensor_ptr_canon`; their offsets have 64 bits, which a single addition of 32-bit
offsets does not need. Pointers that are not computed from such arguments stay, and functions with `ub.poison`.

The pipelines do not run this pass: `amd-convert-to-buffer-ops` splits the pointers of the accesses that it converts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....dialects import arith, tt, ub
from ....dialects.constraints import bit_width
from ....dialects.tt_types import PointerType
from ....ir import (
    Attribute,
    Block,
    Branch,
    Builder,
    DenseArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    Op,
    Operation,
    Region,
    RegionBranch,
    TensorType,
    Type,
    Value,
    count,
    element_type,
    functions_of,
    is_trivially_dead,
    may_change,
    pass_on,
    region_branch_of,
)
from ....ir.interfaces import successor_values
from ....support.dataclasses import dataclass
from .offset_parts import add_offsets, is_zero_offset, offset_parts, resized, uniform_of, zero_offset
from .split_pointers import SplitState, is_pointer, is_view, split_pointers

__all__ = ["CanonicalizePointersOptions", "amd_canonicalize_pointers"]

RANGE = "tt.pointer_range"
HINTS = ("tt.divisibility", "tt.contiguity", "tt.constancy")


@dataclass(frozen=True)
class CanonicalizePointersOptions:
    """`enable_large_tensor_ptr_canon`: also split pointers to arrays that may have 2 GB and more."""

    enable_large_tensor_ptr_canon: bool = False


@pass_on("function", statistics={"functions split": "functions whose pointers are bases and offsets"})
def amd_canonicalize_pointers(
    op: Operation, options: CanonicalizePointersOptions = CanonicalizePointersOptions()
) -> bool:
    """Split the pointers of a function, or of all functions of a module."""
    changed = 0
    for func in functions_of(op):
        arguments = _arguments(func, options.enable_large_tensor_ptr_canon)
        if arguments and not any(isinstance(inner, ub.Poison) for inner in func.walk()):
            if may_change("amd-canonicalize-pointers", func):
                _Splitter(func, arguments).run()
                changed += 1
    count("functions split", changed)
    return changed > 0


def _arguments(func: Operation, large: bool) -> dict[Value, bool]:
    """The arguments to split, and whether each points to an array below 2 GB."""
    given = getattr(func.attributes.get("arg_attrs"), "elements", ())
    found: dict[Value, bool] = {}
    for i, argument in enumerate(func.regions[0].entry.args):
        attributes = given[i] if i < len(given) else None
        known = dict(attributes.entries).get(RANGE) if isinstance(attributes, DictionaryAttr) else None
        small = isinstance(known, IntegerAttr) and known.value == 32
        if isinstance(argument.type, PointerType) and (small or large):
            found[argument] = small
    return found


class _Split(NamedTuple):
    """A pointer as a scalar base and offsets; `narrow`: 64-bit offsets fit into 32 bits; `hints` of the last sum."""

    base: Value
    offset: Value
    narrow: bool
    hints: tuple[tuple[str, Attribute], ...] = ()


class _Splitter:
    """The rewriting of one function, in the order of the program."""

    def __init__(self, func: Operation, arguments: dict[Value, bool]) -> None:
        self.func = func
        self.states = split_pointers(func, arguments)
        self.split: dict[Value, _Split] = {}
        self.replaced: list[Operation] = []
        self.targets: dict[Operation, list[Value | None]] = {}  # what the operands of terminators become
        self.given: dict[Operation, list[Value]] = {}  # these operands, as they were
        self.old_arguments: list[tuple[Block, list[int]]] = []
        entry = func.regions[0].entry
        b = Builder(entry, entry.first, func.loc)
        for argument, small in arguments.items():
            self.split[argument] = _Split(argument, zero_offset(b, IntegerType(32 if small else 64)), True)

    def run(self) -> None:
        """Rewrite the function."""
        for op in self.func.walk():
            branch = region_branch_of(op)
            if branch is not None or isinstance(op, Branch):
                found = [successor_values(op, i) for i in range(len(op.operands))]
                self.targets[op] = [values[0] if values else None for values in found]
                self.given[op] = list(op.operands)
        for block in self.func.regions[0].blocks[1:]:
            self.block_arguments(block)
        for block in self.func.regions[0].blocks:
            for argument in block.args:
                if argument in self.split and block is not self.func.regions[0].entry:
                    self.split[argument] = self.split[argument]._replace(narrow=self.is_narrow(argument))
            self.block(block)
        for op in reversed(self.replaced):
            op.erase()
        for block, positions in reversed(self.old_arguments):
            for i in reversed(positions):
                block.erase_argument(i)
        for op in reversed([op for op in self.func.walk() if not op.regions]):
            if is_trivially_dead(op) and any(is_pointer(v) or _is_integer(v) for v in op.results):
                op.erase()

    def block(self, block: Block) -> None:
        """Rewrite the operations of a block whose arguments are split."""
        op = block.first
        while op is not None:
            following = op.next
            self.operation(op)
            op = following

    def operation(self, op: Operation) -> None:
        """Rewrite an operation and what is in its regions."""
        results = [r for r in op.results if r in self.states]
        if isinstance(op, RegionBranch):
            self.region_branch(op)
        elif isinstance(op, Branch) or region_branch_of(op) is not None:
            self.forward(op)
        elif results and isinstance(op, tt.AddPtr):
            self.split[results[0]] = self.add(op)
            self.replaced.append(op)
        elif results and is_view(op):
            self.split[results[0]] = self.view(op)
            self.replaced.append(op)
        elif results and isinstance(op, arith.Select):
            self.split[results[0]] = self.select(op)
            self.replaced.append(op)
        else:
            self.use(op)
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)

    # -- sums ---------------------------------------------------------------------------------------------------------

    def add(self, op: tt.AddPtr) -> _Split:
        """The parts of a sum."""
        before = self.split[op.ptr]
        b = Builder(op.parent, op, op.loc)
        if self.states[op.ptr].small:
            return _Split(before.base, _sum_in_32_bits(b, before.offset, op.offset), False)
        hints = tuple((name, op.attributes[name]) for name in HINTS if name in op.attributes)
        if not isinstance(op.offset.type, TensorType):
            return before._replace(base=self.advanced(b, before.base, op.offset, op), hints=hints)
        uniform = uniform_of(b, op.offset)
        if uniform is not None:
            return before._replace(base=self.advanced(b, before.base, uniform, op))
        parts = offset_parts(b, op.offset)
        base = self.advanced(b, before.base, parts.uniform, op)
        if is_zero_offset(parts.rest):
            return before._replace(base=base)
        first = isinstance(before.offset.defining_op, tt.Splat)
        narrow = before.narrow and first and bit_width(element_type(parts.rest.type)) == 32
        rest = resized(b, parts.rest, bit_width(element_type(before.offset.type)))
        return _Split(base, add_offsets(b, rest, before.offset), narrow, hints)

    def advanced(self, b: Builder, base: Value, by: Value, op: tt.AddPtr) -> Value:
        """The base plus a scalar."""
        new = tt.AddPtr(base, by)
        if not isinstance(op.result.type, TensorType) or len(op.result.type.shape) == 1:
            new.attributes.update({name: op.attributes[name] for name in HINTS if name in op.attributes})
        made: Value = b.add(new)
        return made

    def view(self, op: Operation) -> _Split:
        """The same operation on the offsets."""
        before = self.split[op.operands[0]]
        ty = op.results[0].type
        assert isinstance(ty, TensorType)
        again = op.clone()
        again.set_operands([before.offset])
        again.results[0].type = TensorType(ty.shape, element_type(before.offset.type), ty.encoding)
        again.results[0].hint = None
        return before._replace(offset=Builder(op.parent, op, op.loc).add(again))

    def select(self, op: arith.Select) -> _Split:
        """Select the bases and the offsets."""
        first, second = self.split[op.true_value], self.split[op.false_value]
        b = Builder(op.parent, op, op.loc)
        base = first.base if first.base is second.base else b.add(arith.Select(op.condition, first.base, second.base))
        width = max(bit_width(element_type(s.offset.type)) for s in (first, second))
        offsets = [resized(b, s.offset, width) for s in (first, second)]
        same = offsets[0] is offsets[1]
        offset = offsets[0] if same else b.add(arith.Select(op.condition, *offsets))
        return _Split(base, offset, first.narrow and second.narrow)

    # -- uses ---------------------------------------------------------------------------------------------------------

    def use(self, op: Operation) -> None:
        """Put the pointers together that an operation uses."""
        if any(v in self.split for v in op.operands):
            b = Builder(op.parent, op, op.loc)
            op.set_operands([self.whole(b, v) if v in self.split else v for v in op.operands])

    def whole(self, b: Builder, value: Value) -> Value:
        """A split pointer put together."""
        base, offset, narrow, hints = self.split[value]
        ty = value.type
        if not isinstance(ty, TensorType):
            made: Value = base if is_zero_offset(offset) else b.add(tt.AddPtr(base, offset))
            return made
        if narrow:
            offset = resized(b, offset, min(32, bit_width(element_type(offset.type))))
        new = tt.AddPtr(b.add(tt.Splat(base, result=ty)), offset)
        new.attributes.update(hints)
        made = b.add(new)
        return made

    # -- control flow -------------------------------------------------------------------------------------------------

    def types(self, value: Value) -> list[Type]:
        """The types of the parts of a split pointer, or its own."""
        state: SplitState | None = self.states.get(value)
        ty = value.type
        if state is None:
            return [ty]
        width = IntegerType(32 if state.small else 64)
        if isinstance(ty, TensorType):
            return [ty.element, TensorType(ty.shape, width, ty.encoding)]
        return [ty, width]

    def operands(self, op: Operation, values: list[Value], targets: list[Value]) -> list[Value]:
        """The operands that become `targets`: both parts of a split pointer, or it put together."""
        b, out = Builder(op.parent, op, op.loc), []
        for value, target in zip(values, targets):
            if target in self.states:
                found = self.split[value]
                width = 32 if self.states[target].small else 64
                out += [found.base, resized(b, found.offset, width)]
            else:
                out.append(self.whole(b, value) if value in self.split else value)
        return out

    def block_arguments(self, block: Block) -> None:
        """Give a block the parts of split pointers as arguments, beside these, which are removed at the end."""
        positions, at = [], 0
        while at < len(block.args):
            argument = block.args[at]
            if argument in self.states:
                positions.append(at)
                parts = [
                    block.insert_argument(at + 1 + k, ty, argument.loc) for k, ty in enumerate(self.types(argument))
                ]
                self.split[argument] = _Split(parts[0], parts[1], False)
                at += len(parts)
            at += 1
        if positions:
            self.old_arguments.append((block, positions))

    def forward(self, op: Operation) -> None:
        """A branch or a terminator of a region."""
        out: list[Value] = []
        sizes = []
        for value, target in zip(op.operands, self.targets[op]):
            part = [value] if target is None else self.operands(op, [value], [target])
            sizes.append(len(part))
            out += part
        _set_operands(op, out, sizes)

    def region_branch(self, op: RegionBranch) -> None:
        """A loop or a branch with regions."""
        inputs: list[Value] = []
        for i, value in enumerate(op.operands):
            targets = op.successor_values(op, i)
            inputs += self.operands(op, [value], [targets[0]]) if targets else [value]
            if not targets and value in self.split:
                inputs[-1] = self.whole(Builder(op.parent, op, op.loc), value)
        old = list(op.results)
        types = [ty for r in old for ty in self.types(r)]
        new: Operation = op
        if len(types) != len(old) or len(inputs) != len(op.operands):
            regions: list[Region] = op.regions
            op.regions = []
            assert isinstance(op, Op)
            new = type(op).create(inputs, types, dict(op.attributes), regions, loc=op.loc)
            assert op.parent is not None
            op.parent.insert_before(new, op)
        else:
            op.set_operands(inputs)
        for region in new.regions:
            for block in region.blocks:
                self.block_arguments(block)
            for block in region.blocks:
                self.block(block)
        if new is not op:
            self.results(old, new)
            self.replaced.append(op)

    def results(self, old: Sequence[Value], new: Operation) -> None:
        """Replace the results of an operation by those of the new one, and record the parts of split ones."""
        at = 0
        for value in old:
            if value in self.states:
                self.split[value] = _Split(new.results[at], new.results[at + 1], self.is_narrow(value))
                at += 2
            else:
                new.results[at].hint = value.hint
                value.replace_all_uses_with(new.results[at])
                at += 1

    def is_narrow(self, value: Value) -> bool:
        """Whether the offsets of everything that becomes a value fit into 32 bits, as far as it has been rewritten."""
        sources = [v for op, targets in self.targets.items() for v, t in zip(self.given[op], targets) if t is value]
        return bool(sources) and all(v in self.split and self.split[v].narrow for v in sources)


def _is_integer(value: Value) -> bool:
    return isinstance(element_type(value.type), IntegerType)


def _set_operands(op: Operation, operands: list[Value], sizes: list[int]) -> None:
    """Set operands of which some were split, with the segments that they belong to."""
    segments = op.attributes.get("operandSegmentSizes")
    if isinstance(segments, DenseArrayAttr) and sum(sizes) != len(sizes):
        new, at = [], 0
        for n in segments.values:
            new.append(sum(sizes[at : at + n]))
            at += n
        op.attributes["operandSegmentSizes"] = DenseArrayAttr(tuple(new), segments.element)
    op.set_operands(operands)


def _sum_in_32_bits(b: Builder, offset: Value, more: Value) -> Value:
    """The sum of two offsets of one base, modulo 2 ** 32, with what all elements share added as scalars."""
    if not isinstance(offset.type, TensorType) or not isinstance(more.type, TensorType):
        return resized(b, add_offsets(b, offset, more), 32)
    ty = offset.type
    equal = [uniform_of(b, v) for v in (offset, more)]
    if all(scalar is not None for scalar in equal):
        total = add_offsets(b, *(resized(b, v, 32) for v in (offset, more)))
        return total
    if equal[0] is not None and is_zero_offset(offset):
        return resized(b, more, 32)
    if equal[1] is not None and is_zero_offset(more):
        return resized(b, offset, 32)
    if any(scalar is not None for scalar in equal):
        return add_offsets(b, resized(b, offset, 32), resized(b, more, 32))
    first, second = (offset_parts(b, v) for v in (offset, more))
    uniform = resized(b, add_offsets(b, first.uniform, second.uniform), 32)
    rest = resized(b, add_offsets(b, first.rest, second.rest), 32)
    if is_zero_offset(uniform):
        return rest
    spread = b.add(tt.Splat(uniform, result=TensorType(ty.shape, IntegerType(32), ty.encoding)))
    return add_offsets(b, spread, rest)
