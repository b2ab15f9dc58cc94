"""What lowering one function carries along: names of values, the text so far, what the module must declare."""

from __future__ import annotations

from typing import Any

from ...ir import Attribute, Block, Operation, Type, Value
from ...support import InternalError, UnsupportedOperation
from ..llvm.emitter import Emitter
from ..llvm.module import ModuleContext
from ..lowerings import Lowerings
from .types import literal, llvm_type

__all__ = ["LOWERINGS", "FunctionContext", "LocatedContext", "lowers"]


class FunctionContext(Emitter):
    """The emitter of one function, with a name for each SSA value."""

    __slots__ = ("can_stop", "entry_allocas", "module", "names", "next_program", "scratch_bytes")

    def __init__(self, module: ModuleContext) -> None:
        super().__init__()
        self.module = module
        self.names: dict[Value, str] = {}
        self.next_program = "next"
        self.entry_allocas: list[str] = []
        self.scratch_bytes = 0
        self.can_stop = False

    def __call__(self, value: Value) -> str:
        """The LLVM operand of a value."""
        try:
            return self.names[value]
        except KeyError:
            raise InternalError(f"{value!r} is used before it is lowered") from None

    def typed(self, value: Value) -> str:
        """`<type> <operand>`"""
        return f"{llvm_type(value.type)} {self(value)}"

    def bind(self, value: Value, name: str) -> None:
        """Give a value its operand text."""
        self.names[value] = name

    def parts(self, value: Value) -> list[str]:
        """The operand alone: on this target a value is one."""
        return [self(value)]

    def bind_parts(self, value: Value, parts: list[str]) -> None:
        """Give a value its only operand."""
        (self.names[value],) = parts

    @staticmethod
    def types_of(ty: Type) -> list[str]:
        """The LLVM types of the parts of a value."""
        return [llvm_type(ty)]

    def constant(self, value: Value, attr: Attribute) -> None:
        """Bind a value to a literal."""
        self.names[value] = literal(attr)

    def reserve(self, size: int) -> str:
        """A pointer to `size` bytes of scratch memory of this program, aligned to 64."""
        name = f"%buffer{len(self.entry_allocas)}"
        self.entry_allocas.append(f"  {name} = getelementptr i8, ptr %scratch, i64 {self.scratch_bytes}")
        self.scratch_bytes += -(-size // 64) * 64
        return name

    def splat(self, scalar: str, scalar_type: str, lanes: int) -> str:
        """The scalar operand in every lane."""
        vector = f"<{lanes} x {scalar_type}>"
        one = self.op(f"insertelement {vector} poison, {scalar_type} {scalar}, i64 0")
        return self.op(f"shufflevector {vector} {one}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def call(self, result: Type, intrinsic: str, *operands: tuple[str, str]) -> str:
        """Call an external function or intrinsic on (type, operand) pairs, declaring it."""
        ty = llvm_type(result)
        self.module.declare(f"declare {ty} @{intrinsic}({', '.join(t for t, _ in operands)})")
        return self.op(f"call {ty} @{intrinsic}({', '.join(f'{t} {v}' for t, v in operands)})")

    def call_void(self, intrinsic: str, *operands: tuple[str, str]) -> None:
        """The same for a function without a result."""
        self.module.declare(f"declare void @{intrinsic}({', '.join(t for t, _ in operands)})")
        self.stmt(f"call void @{intrinsic}({', '.join(f'{t} {v}' for t, v in operands)})")

    def block_body(self, block: Block) -> None:
        """Lower all operations of a block."""
        for op in block:
            self._lower(op)

    def _lower(self, op: Operation) -> None:
        lower = LOWERINGS.find(type(op))
        if lower is None:
            raise UnsupportedOperation(op, "is not supported on the CPU")
        lower(self, op)


class LocatedContext(FunctionContext):
    """The same with the place in the source behind every instruction, as `debug` (a `DebugInfo`) writes it."""

    __slots__ = ("at", "debug")

    def __init__(self, module: ModuleContext, debug: Any) -> None:
        super().__init__(module)
        self.debug = debug
        self.at = ""

    def op(self, text: str) -> str:
        """Emit `%tN = text` with its place."""
        return super().op(text + self.at)

    def stmt(self, text: str) -> None:
        """Emit an instruction without a result, with its place."""
        super().stmt(text + self.at)

    def block_body(self, block: Block) -> None:
        """Lower all operations of a block, each at its place; what follows is at that of the block's owner."""
        before = self.at
        for op in block:
            self.at = self.debug.at(op.loc)
            self._lower(op)
        self.at = before


LOWERINGS = Lowerings()
"""How each operation is written in LLVM IR."""
lowers = LOWERINGS.lowers
