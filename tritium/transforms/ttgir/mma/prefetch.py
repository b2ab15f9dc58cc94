"""prefetch: Prefetch dot operands from shared memory into registers, one iteration ahead.

    %d = scf.for … iter_args(%a_buf = %a0, %b_buf = %b0, %acc = %zero) {
      %a = ttg.local_load %a_buf : … -> tensor<128x64xf16, #dot_a>
      %b = ttg.local_load %b_buf : … -> tensor<64x128xf16, #dot_b>
      %r = tt.dot %a, %b, %acc
      …
      scf.yield %next_a, %next_b, %r
    }

    %a_head = ttg.local_load %a0[0:16 along K]             before the loop
    %b_head = ttg.local_load %b0[0:16 along K]
    %d:… = scf.for … iter_args(…, %x = %a_head, %y = %b_head) {
      %a1 = ttg.local_load %a_buf[16:32]; …                the rest of K, in steps of an instruction's depth
      %r0 = tt.dot %x, %y, %acc                            overlaps with the loads of %a1 and %b1
      %a2 = ttg.local_load %a_buf[32:48]; …
      %r1 = tt.dot %a1, %b1, %r0; …
      %next_x = ttg.local_load %next_a[0:16]               for the next iteration
      %r = tt.dot %a3, %b3, %r2                            overlaps with them
      scf.yield …, %next_x, %next_y
    }

The latency of shared memory exceeds that of an MMA instruction; without this, each iteration starts with a stall. The
dot is split along K into pieces as deep as the operand layout has adjacent elements for (8 `kWidth`), and each piece is
read while the previous one is multiplied: registers hold two of them at a time. The last dot follows the reads for the
next iteration, unless something before depends on it.

**Conditions.** The loop has one dot, by `mma.sync` (or AMD's MFMA), whose operands are read from shared memory, with
elementwise conversions at most; and the buffers of the next iteration are known at the end of this one: they are
loop-carried, or indexed by carried values, and waited for by a token that is available early.

Loops with TMA loads are not changed: they wait on mbarriers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....dialects import arith, tt, ttg
from ....dialects.ttg_layouts import AmdMfma, DotOperand, NvidiaMma
from ....dialects.ttg_memory import MemDescType
from ....dialects.ttg_operands import cluster_bases
from ....ir import (
    CONSTANT,
    ELEMENTWISE,
    BlockArgument,
    Builder,
    CountedLoop,
    Operation,
    TensorType,
    Value,
    count,
    is_tma_copy,
    may_change,
    pass_on,
)

__all__ = ["prefetch"]


class Read(NamedTuple):
    """An operand that is read from `buffer` after `token`, and then passed through the operations of `then`."""

    buffer: Value
    token: Value | None
    then: list[Operation]


@pass_on("module", statistics={"loops prefetched": "loops that read operands of the next iteration"})
def prefetch(module: Operation) -> bool:
    """Prefetch the first piece of each dot's operands one iteration ahead, in the loops of a module."""
    changed = 0
    for loop in [op for op in module.walk() if isinstance(op, CountedLoop)]:
        found = _candidate(loop)
        if found is not None and may_change("prefetch", loop):
            _Rewriter(loop, *found).run()
            changed += 1
    count("loops prefetched", changed)
    return changed > 0


# -- analysis ----------------------------------------------------------------------------------------------------


def _candidate(loop: CountedLoop) -> tuple[Any, list[Read]] | None:
    """The dot of a loop and the sources of its operands, if those of the next iteration can be read early."""
    dots = [op for op in loop.body if op.__class__ is tt.Dot]
    if len(dots) != 1 or any(is_tma_copy(op) for op in loop.body):
        return None
    (dot,) = dots
    layout = dot.d.type.encoding
    if not isinstance(layout, AmdMfma) and not (isinstance(layout, NvidiaMma) and layout.versionMajor == 2):
        return None
    if dot.a.type.shape[-1] < _piece(dot) or not isinstance(dot.a.type.encoding, DotOperand):
        return None
    reads = [_read(v) for v in (dot.a, dot.b)]
    if None in reads or any(_is_replicated_over_ctas(r.buffer) for r in reads if r is not None):
        return None
    known: list[Read] = [r for r in reads if r is not None]
    carried = all(_is_carried(loop, r.buffer) for r in known)
    early = any(r.token is not None for r in known) and all(
        _is_known_early(loop, v) for r in known for v in (r.buffer, r.token)
    )
    return (dot, known) if carried or early else None


def _piece(dot: Any) -> int:
    """The depth of a piece along K."""
    operand = dot.a.type.encoding
    width = getattr(operand, "kWidth", 0)
    return 8 * width if width else 256 // dot.a.type.element.width  # type: ignore[no-any-return]


def _read(value: Any) -> Read | None:
    """The read of an operand from shared memory: through operations with one operand and one use."""
    then: list[Operation] = []
    op = value.defining_op
    while op is not None and op.results[0].has_one_use:
        if op.__class__ is ttg.LocalLoad:
            if not isinstance(op.result.type.encoding, DotOperand):
                return None
            return Read(op.src, op.token, then[::-1])
        if len(op.operands) != 1 or op.regions:
            return None
        then.append(op)
        op = op.operands[0].defining_op
    return None


def _is_replicated_over_ctas(buffer: Any) -> bool:
    """Whether several CTAs of a cluster own the same part."""
    layout = buffer.type.encoding
    blocks = getattr(layout, "CGALayout", ()) or (cluster_bases(layout, buffer.type.shape) if layout.ctas > 1 else ())
    return any(not any(basis) for basis in blocks)


def _is_carried(loop: CountedLoop, value: Value | None) -> bool:
    return isinstance(value, BlockArgument) and value.owner is loop.body and value.index > 0


def _is_known_early(loop: CountedLoop, value: Value | None) -> bool:
    """Whether the value for the next iteration can be computed at the end of this one."""
    op = None if value is None else value.defining_op
    if value is None or op is None or op.parent is not loop.body:
        return True
    simple = op.traits & (ELEMENTWISE | CONSTANT) or op.__class__ in (ttg.AsyncWait, ttg.MemDescIndex)
    return bool(simple) and not op.regions and all(_is_known_early(loop, v) for v in op.operands)


# -- the new loop -------------------------------------------------------------------------------------------------


class _Rewriter:
    """Build the loop with prefetched operands of one dot.

    `carried`: the argument index of each buffer and token that the new loop carries and the old one does not; `heads`
    those of the first pieces. Operations that may run before the last dot are placed before `following`, that dot;
    after one that may not, all others are placed at the end.
    """

    def __init__(self, loop: CountedLoop, dot: Any, reads: list[Read]) -> None:
        self.loop, self.dot, self.reads = loop, dot, reads
        self.piece, self.whole = _piece(dot), dot.a.type.shape[-1]
        self.arguments: list[Value] = list(loop.init_args)
        self.carried: dict[tuple[int, bool], int] = {}
        self.heads: list[int] = []
        self.following: Operation | None = None

    def run(self) -> None:
        """Build the new loop and replace the old one."""
        loop = self.loop
        before = Builder(loop.parent, loop, loop.loc)
        self.prologue(before)
        new = loop.clone_without_body(loop.lb, loop.ub, loop.step, self.arguments)
        for argument, old in zip(new.body.args, loop.body.args):
            argument.hint = old.hint
        mapping: dict[Any, Any] = dict(zip(loop.body.args, new.body.args))
        self.fill(new, mapping)
        self.finish(new, mapping)
        before.insert(new)
        for result, old in zip(new.results, loop.results):
            result.hint = old.hint
        loop.replace_with(new.results[: len(loop.results)])

    def prologue(self, b: Builder) -> None:
        """Before the loop: initial values of what it will carry, and the first pieces."""
        loop = self.loop
        known: dict[Any, Any] = dict(zip(loop.body.args, [loop.lb, *loop.init_args]))
        firsts = [(self.copied(r.buffer, b, known), self.copied(r.token, b, known)) for r in self.reads]
        for i, (read, first) in enumerate(zip(self.reads, firsts)):
            for is_token, value, start in ((False, read.buffer, first[0]), (True, read.token, first[1])):
                if value is not None and not _is_carried(loop, value):
                    self.carried[i, is_token] = len(self.arguments)
                    self.arguments.append(start)
        for i, (buffer, token) in enumerate(firsts):
            self.heads.append(len(self.arguments))
            self.arguments.append(self.read(i, buffer, token, 0, b))

    def copied(self, value: Value | None, b: Builder, known: dict[Any, Any]) -> Any:
        """Clone `value` with the values in `known` for those of the loop; values from outside are kept."""
        op = None if value is None else value.defining_op
        if value is None or value in known or op is None or op.parent is not self.loop.body:
            return known.get(value, value)
        for operand in op.operands:
            self.copied(operand, b, known)
        b.insert(op.clone(known))
        return known[value]

    def read(self, i: int, buffer: Any, token: Value | None, start: int, b: Builder) -> Value:
        """Read the piece of operand `i` that starts at `start` along K."""
        ty = buffer.type
        axis = len(ty.shape) - (1 if i == 0 else 2)
        shape = tuple(self.piece if d == axis else n for d, n in enumerate(ty.shape))
        part = MemDescType(shape, ty.element, ty.encoding, ty.memorySpace, ty.mutable, ty.allocShape)
        offsets = [start if d == axis else 0 for d in range(len(shape))]
        view = b.add(ttg.MemDescSubslice(buffer, offsets, result=part))
        layout = DotOperand(i, self.dot.d.type.encoding, self.piece // 8)
        value = b.add(ttg.LocalLoad(view, token, result=TensorType(shape, ty.element, layout)))
        for op in self.reads[i].then:
            copy = op.clone({op.operands[0]: value})
            result = copy.results[0].type
            copy.results[0].type = TensorType(shape, result.element, value.type.encoding)
            value = b.add(copy)
        return value  # type: ignore[no-any-return]

    def fill(self, new: Any, mapping: dict[Any, Any]) -> None:
        """Emit the body, with the dot in pieces, and other operations before the last of them where possible."""
        b = Builder(new.body)
        for op in self.loop.body:
            if op is self.loop.terminator:
                break
            if op.regions or any(v.defining_op is self.dot for v in op.operands):
                b.at_end(new.body)
            if op is not self.dot:
                b.insert(op.clone(mapping))
                continue
            last = self.pieces(new, mapping, b)
            mapping[self.dot.d] = last.results[0]
            b.at(last)
        self.following = b.before

    def pieces(self, new: Any, mapping: dict[Any, Any], b: Builder) -> Any:
        """Emit the dots of all pieces, each piece read before the previous dot; returns the last operation."""
        operands = [new.body.args[1 + i] for i in self.heads]
        total = mapping.get(self.dot.c, self.dot.c)
        made = None
        for end in range(self.piece, self.whole + 1, self.piece):
            last = end == self.whole
            ahead = [] if last else [self.read(i, *self.current(new, mapping, i), end, b) for i in range(2)]
            made = tt.Dot(*operands, total, self.dot.inputPrecision, self.dot.maxNumImpreciseAcc, loc=self.dot.loc)
            total = b.add(made)
            operands = ahead
        total.hint = self.dot.d.hint
        return made

    def current(self, new: Any, mapping: dict[Any, Any], i: int) -> tuple[Any, Any]:
        """The buffer and token of operand `i` in this iteration."""
        out = []
        for is_token, value in ((False, self.reads[i].buffer), (True, self.reads[i].token)):
            at = self.carried.get((i, is_token))
            out.append(mapping.get(value, value) if at is None else new.body.args[1 + at])
        return out[0], out[1]

    def finish(self, new: Any, mapping: dict[Any, Any]) -> None:
        """Read the first pieces of the next iteration, and yield."""
        old = self.loop.body
        b = Builder(new.body, self.following, self.loop.loc)
        yielded = [mapping.get(v, v) for v in self.loop.yielded]
        following: dict[Any, Any] = dict(zip(old.args[1:], yielded))
        if any(_uses(v, old.args[0]) for r in self.reads for v in (r.buffer, r.token)):
            following[old.args[0]] = b.add(arith.AddI(new.body.args[0], self.loop.step))
        nexts = [(self.copied(r.buffer, b, following), self.copied(r.token, b, following)) for r in self.reads]
        extra = [nexts[i][is_token] for i, is_token in self.carried]
        heads = [self.read(i, buffer, token, 0, b) for i, (buffer, token) in enumerate(nexts)]
        new.body.append(new.make_yield([*yielded, *extra, *heads], self.loop.terminator.loc))


def _uses(value: Value | None, what: Value) -> bool:
    """Whether `value` depends on `what`, within its block."""
    if value is what:
        return True
    op = None if value is None else value.defining_op
    return op is not None and op.parent is what.block and any(_uses(v, what) for v in op.operands)
