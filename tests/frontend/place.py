"""A function to emit operations of the language into."""

from tritium.dialects import tt
from tritium.frontend.semantics import Semantic
from tritium.frontend.tensor import tensor
from tritium.ir import Block, Builder, FunctionType, verify


class Place:
    """A function to emit into, with an argument for each wanted type."""

    def __init__(self, *types, options=None):
        self.block = Block([ty.to_ir() for ty in types])
        self.builder = Builder(self.block)
        self.sem = Semantic(self.builder, options)
        self.args = [tensor(v, ty) for v, ty in zip(self.block.args, types)]

    def ops(self):
        return [op.name for op in self.block]

    def check(self):
        """What was emitted is valid IR."""
        func = tt.Func.build("f", FunctionType(tuple(a.type for a in self.block.args), ()))
        func.regions[0].blocks.clear()
        func.regions[0].append(self.block)
        self.builder.at_end(self.block)
        self.builder.insert(tt.Return([]))
        verify(func)
