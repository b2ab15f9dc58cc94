"""Operations, values, blocks and regions: the nodes of the IR and the links between them.

Nodes are dumb on purpose: operands, results, attributes, regions, links, a location. What an operation
means stands in its class (`dialects`), what can be done with it in rules and passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from ..support import UNKNOWN, InternalError, Location
from ..support.lazy import LazyMethod
from .interning import Attribute
from .types import Type

__all__ = ["Block", "BlockArgument", "OpResult", "Operation", "Region", "Value"]


class Value:
    """Something an operation can take: the result of another, or an argument of a block.

    `users` maps each using operation to the number of its operands that are this value, in the order of first use.
    """

    __slots__ = ("hint", "type", "users")

    type: Type
    users: dict[Operation, int]
    hint: str | None

    @property
    def block(self) -> Block | None:
        """The block that defines this value."""
        raise NotImplementedError

    @property
    def defining_op(self) -> Operation | None:
        """The operation this is a result of; None for a block argument."""
        return None

    @property
    def has_one_use(self) -> bool:
        """True when exactly one operand anywhere is this value."""
        return len(self.users) == 1 and next(iter(self.users.values())) == 1

    @property
    def uses(self) -> list[tuple[Operation, int]]:
        """Every operand that is this value: the operation and the operand's number."""
        return [(op, i) for op in self.users for i, v in enumerate(op.operands) if v is self]

    def replace_uses_where(self, other: Value, wanted: Callable[[Operation], bool]) -> None:
        """Make the operations for which `wanted` holds take `other` instead."""
        for op, i in self.uses:
            if wanted(op):
                op.set_operand(i, other)

    def replace_all_uses_with(self, other: Value) -> None:
        """Make every operation that takes this value take `other` instead."""
        if other is self:
            return
        for op in list(self.users):
            operands = op.operands
            for i, v in enumerate(operands):
                if v is self:
                    operands[i] = other
            other.users[op] = other.users.get(op, 0) + self.users[op]
        self.users.clear()


class OpResult(Value):
    """Result number `index` of the operation `owner`."""

    __slots__ = ("index", "owner")

    def __init__(self, owner: Operation, index: int, ty: Type) -> None:
        self.owner = owner
        self.index = index
        self.type = ty
        self.users = {}
        self.hint = None

    @property
    def block(self) -> Block | None:
        return self.owner.parent

    @property
    def defining_op(self) -> Operation | None:
        return self.owner

    def __repr__(self) -> str:
        return f"<result {self.index} of {self.owner.name}: {self.type}>"


class BlockArgument(Value):
    """Argument number `index` of the block `owner`."""

    __slots__ = ("index", "loc", "owner")

    def __init__(self, owner: Block, index: int, ty: Type, loc: Location = UNKNOWN) -> None:
        self.owner = owner
        self.index = index
        self.type = ty
        self.users = {}
        self.hint = None
        self.loc = loc

    @property
    def block(self) -> Block | None:
        return self.owner

    def __repr__(self) -> str:
        return f"<block argument {self.index}: {self.type}>"


def _shown_name(op: Operation, **_: object) -> str:
    """`<tt.load>`: how an operation is shown where its text cannot be made."""
    return f"<{op.name}>"


class Operation:
    """One operation. Subclasses (see `definition.Op`) give it a name, fields and traits.

    `operands` must only be changed through `set_operand` / `set_operands`, which keep the use lists right.
    """

    __slots__ = ("attributes", "loc", "next", "operands", "parent", "prev", "regions", "results", "successors")

    name: str = ""
    traits: int = 0
    is_registered: bool = True

    operands: list[Value]
    results: list[OpResult]
    attributes: dict[str, Attribute]
    regions: list[Region]
    successors: list[Block]
    loc: Location
    parent: Block | None
    prev: Operation | None
    next: Operation | None

    def setup(
        self,
        operands: list[Value],
        result_types: Iterable[Type],
        attributes: dict[str, Attribute],
        regions: list[Region],
        successors: list[Block],
        loc: Location,
    ) -> None:
        """Fill in a new operation and enter it in the use lists of its operands."""
        self.operands = operands
        self.attributes = attributes
        self.regions = regions
        self.successors = successors
        self.loc = loc
        self.parent = self.prev = self.next = None
        for v in operands:
            users = v.users
            users[self] = users.get(self, 0) + 1
        results = self.results = []
        for ty in result_types:
            results.append(OpResult(self, len(results), ty))
        for region in regions:
            region.parent = self

    # -- operands ---------------------------------------------------------------------------------------------

    def set_operand(self, i: int, value: Value) -> None:
        """Replace operand `i`."""
        self._drop_use(self.operands[i])
        self.operands[i] = value
        value.users[self] = value.users.get(self, 0) + 1

    def set_operands(self, values: Iterable[Value]) -> None:
        """Replace all operands."""
        for v in self.operands:
            self._drop_use(v)
        self.operands = list(values)
        for v in self.operands:
            v.users[self] = v.users.get(self, 0) + 1

    def _drop_use(self, value: Value) -> None:
        n = value.users[self] - 1
        if n:
            value.users[self] = n
        else:
            del value.users[self]

    # -- place ------------------------------------------------------------------------------------------------

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this one."""
        block = self.parent
        return None if block is None or block.parent is None else block.parent.parent

    @property
    def parent_region(self) -> Region | None:
        """The region whose blocks hold this operation."""
        return None if self.parent is None else self.parent.parent

    def detach(self) -> None:
        """Unlink from the block; operands and uses stay."""
        block = self.parent
        if block is None:
            return
        prev, nxt = self.prev, self.next
        if prev is None:
            block.first = nxt
        else:
            prev.next = nxt
        if nxt is None:
            block.last = prev
        else:
            nxt.prev = prev
        self.parent = self.prev = self.next = None

    def erase(self) -> None:
        """Unlink and drop; results must have no uses left."""
        for r in self.results:
            if r.users:
                raise InternalError(f"{self.name} erased while {next(iter(r.users)).name} still uses its result")
        self.drop_references()
        self.detach()

    def drop_references(self) -> None:
        """Leave the use lists of all operands; nested operations too, which have no block from then on."""
        for v in self.operands:
            v.users.pop(self, None)
        self.operands = []
        for region in self.regions:
            for block in region.blocks:
                for op in block:
                    op.drop_references()
                    op.parent = None

    def move_before(self, other: Operation) -> None:
        """Unlink, and link again just before `other`."""
        self.detach()
        assert other.parent is not None
        other.parent.insert_before(self, other)

    def move_after(self, other: Operation) -> None:
        """Unlink, and link again just after `other`."""
        self.detach()
        assert other.parent is not None
        if other.next is None:
            other.parent.append(self)
        else:
            other.parent.insert_before(self, other.next)

    def is_before(self, other: Operation) -> bool:
        """True when this comes before `other` in the block both are in."""
        if self is other or self.parent is not other.parent:
            return False
        ahead, behind = self.next, other.next  # in turns: whichever comes to the other or to the end tells
        while ahead is not other and behind is not None:
            if ahead is None or behind is self:
                return False
            ahead, behind = ahead.next, behind.next
        return True

    def replace_with(self, values: Iterable[Value]) -> None:
        """Replace all results by `values`, then erase."""
        for r, v in zip(self.results, values, strict=True):
            r.replace_all_uses_with(v)
        self.erase()

    # -- walking and copying ----------------------------------------------------------------------------------

    def walk(self) -> Iterator[Operation]:
        """This operation and all nested ones, parents first; the current one may be erased."""
        yield self
        outer: list[tuple[Iterator[Block], Operation | None]] = []  # blocks to visit, after the rest of one
        blocks = _blocks_of(self)
        op: Operation | None = None
        while True:
            while op is not None:
                following = op.next
                yield op
                if op.regions:
                    outer.append((blocks, following))
                    blocks, op = _blocks_of(op), None
                else:
                    op = following
            block = next(blocks, None)
            if block is not None:
                op = block.first
            elif outer:
                blocks, op = outer.pop()
            else:
                return

    def walk_post(self) -> Iterator[Operation]:
        """All nested operations, children first, then this one."""
        for region in self.regions:
            for block in list(region.blocks):
                for op in block:
                    if op.regions:
                        yield from op.walk_post()
                    else:
                        yield op
        yield self

    def clone(self, mapping: dict[Any, Any] | None = None) -> Any:
        """A detached deep copy; `mapping` maps old values and blocks to new ones and is filled in along the way."""
        mapping = {} if mapping is None else mapping
        return _clone(self, mapping, mapping.get)

    def is_ancestor_of(self, op: Operation | None) -> bool:
        """True when `op` is this operation or nested in it."""
        while op is not None:
            if op is self:
                return True
            op = op.parent_op
        return False

    #: how `str(op)` is made; the printer puts itself here, since it is in a module above.
    to_text: ClassVar[Callable[..., str]] = _shown_name

    def __str__(self) -> str:
        return Operation.to_text(self)

    _repr_mimebundle_ = LazyMethod("..support.display", __package__)  # what notebooks show

    def __repr__(self) -> str:
        """The operation's text in one line, with `{ … }` for each region; its name if that cannot be printed."""
        try:
            text = Operation.to_text(self, regions=False, aliases=False) if _links_end(self) else _shown_name(self)
        except Exception:  # a debugger also shows operations that are half built or half erased
            return _shown_name(self)
        line, *rest = text.replace("{...}", "{ … }").split("\n", 1)
        return f"{line} …" if rest else line


def _blocks_of(op: Operation) -> Iterator[Block]:
    """The blocks of an operation's regions."""
    for region in op.regions:
        yield from list(region.blocks)


def _links_end(op: Operation) -> bool:
    """Whether no block in the outermost operation around `op` has a cycle of links, which would never be printed."""
    above = {op}
    while (parent := op.parent_op) is not None:
        if parent in above:
            return False
        above.add(parent)
        op = parent
    pending, seen = [op], {op}
    while pending:
        for region in pending.pop().regions:
            for block in region.blocks:
                inner = block.first
                while inner is not None:
                    if inner in seen:
                        return False
                    seen.add(inner)
                    if inner.regions:
                        pending.append(inner)
                    inner = inner.next
    return True


def _clone(op: Operation, mapping: dict[Any, Any], get: Callable[[Any, Any], Any]) -> Operation:
    new = op.__class__.__new__(op.__class__)
    if not op.is_registered:
        new.op_name = op.op_name  # type: ignore[attr-defined]
    operands = []
    for v in op.operands:
        operands.append(get(v, v))
    successors = [get(b, b) for b in op.successors] if op.successors else []
    new.setup(operands, (), op.attributes.copy(), [], successors, op.loc)
    results = new.results
    for old in op.results:
        r = OpResult(new, old.index, old.type)
        r.hint = old.hint
        mapping[old] = r
        results.append(r)
    for region in op.regions:
        copy = Region()
        copy.parent = new
        new.regions.append(copy)
        clone_region_into(region, copy, mapping)
    return new


def clone_region_into(source: Region, target: Region, mapping: dict[Any, Any]) -> None:
    """Append copies of the blocks of `source` to `target`."""
    for block in source.blocks:
        mapping[block] = new = Block()
        for arg in block.args:
            mapping[arg] = fresh = new.add_argument(arg.type, arg.loc)
            fresh.hint = arg.hint
        target.append(new)
    later: list[tuple[Operation, Operation]] = []
    for block in source.blocks:
        new = mapping[block]
        for op in block:
            copy = _clone(op, mapping, mapping.get)
            new.append(copy)
            if len(source.blocks) > 1:
                later.append((op, copy))
    for op, copy in later:  # operands defined in a block that comes later in the list
        for i, v in enumerate(op.operands):
            mapped = mapping.get(v, v)
            if copy.operands[i] is not mapped:
                copy.set_operand(i, mapped)


class Block:
    """A list of operations with arguments; doubly linked, so that inserting and erasing are O(1)."""

    __slots__ = ("args", "first", "last", "parent")

    def __init__(self, arg_types: Iterable[Type] = ()) -> None:
        self.args: list[BlockArgument] = [BlockArgument(self, i, t) for i, t in enumerate(arg_types)]
        self.first: Operation | None = None
        self.last: Operation | None = None
        self.parent: Region | None = None

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this block."""
        return None if self.parent is None else self.parent.parent

    def add_argument(self, ty: Type, loc: Location = UNKNOWN) -> BlockArgument:
        """Append an argument."""
        arg = BlockArgument(self, len(self.args), ty, loc)
        self.args.append(arg)
        return arg

    def insert_argument(self, at: int, ty: Type, loc: Location = UNKNOWN) -> BlockArgument:
        """Insert an argument before number `at`."""
        arg = BlockArgument(self, at, ty, loc)
        self.args.insert(at, arg)
        for i, a in enumerate(self.args):
            a.index = i
        return arg

    def erase_argument(self, at: int) -> None:
        """Remove an argument that has no uses."""
        if self.args[at].users:
            raise InternalError("a block argument with uses cannot be erased")
        del self.args[at]
        for i, a in enumerate(self.args):
            a.index = i

    def append(self, op: Operation) -> None:
        """Link `op` at the end."""
        last = self.last
        op.parent = self
        op.prev = last
        op.next = None
        if last is None:
            self.first = op
        else:
            last.next = op
        self.last = op

    def insert_before(self, op: Operation, anchor: Operation) -> None:
        """Link `op` just before `anchor`, which is in this block."""
        prev = anchor.prev
        op.parent = self
        op.prev = prev
        op.next = anchor
        anchor.prev = op
        if prev is None:
            self.first = op
        else:
            prev.next = op

    def prepend(self, op: Operation) -> None:
        """Link `op` at the front."""
        if self.first is None:
            self.append(op)
        else:
            self.insert_before(op, self.first)

    @property
    def terminator(self) -> Operation | None:
        """The last operation."""
        return self.last

    def erase(self) -> None:
        """Erase all operations, last first, and unlink the block from its region."""
        for op in reversed(list(self)):
            op.erase()
        if self.parent is not None:
            self.parent.blocks.remove(self)
            self.parent = None

    def __iter__(self) -> Iterator[Operation]:
        op = self.first
        while op is not None:
            following = op.next
            yield op
            op = following

    def __reversed__(self) -> Iterator[Operation]:
        op = self.last
        while op is not None:
            before = op.prev
            yield op
            op = before

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Region:
    """A list of blocks; the first is the entry."""

    __slots__ = ("blocks", "parent")

    def __init__(self, *blocks: Block) -> None:
        self.blocks: list[Block] = []
        self.parent: Operation | None = None
        for b in blocks:
            self.append(b)

    def append(self, block: Block) -> Block:
        """Add a block at the end."""
        block.parent = self
        self.blocks.append(block)
        return block

    @property
    def entry(self) -> Block:
        """The first block."""
        return self.blocks[0]

    @property
    def block(self) -> Block:
        """The only block."""
        if len(self.blocks) != 1:
            raise InternalError(f"a region of {len(self.blocks)} blocks where one was expected")
        return self.blocks[0]

    @property
    def empty(self) -> bool:
        """True when it has no block."""
        return not self.blocks
