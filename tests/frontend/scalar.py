"""Executes scalar TTIR: integers, branches, loops, calls, stores into lists. Small enough to be checked by reading."""

import operator

BINARY = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divsi": lambda a, b: int(a / b),
    "arith.remsi": lambda a, b: a - b * int(a / b),
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.shli": operator.lshift,
    "arith.shrsi": operator.rshift,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": operator.truediv,
}
COMPARE = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def wrap(value, ty):
    """`value` as an integer of type `ty`; floats unchanged."""
    if isinstance(value, float):
        return value
    bits = getattr(ty, "width", 64)
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


class Machine:
    """Runs functions of one module."""

    def __init__(self, module):
        self.functions = {f.sym_name: f for f in module.body if f.name == "tt.func"}
        self.env = {}

    def call(self, function, args):
        outer, self.env = self.env, dict(zip(function.entry.args, args))
        results = self.block(function.entry)
        self.env = outer
        return results

    def block(self, block):
        for op in block:
            operands = [self.env[v] for v in op.operands]
            if op.name in ("tt.return", "scf.yield", "scf.condition"):
                return operands
            results = self.execute(op, operands)
            assert len(results) == len(op.results), op.name
            self.env.update(zip(op.results, results))
        return []

    def execute(self, op, operands):
        name = op.name
        if name in BINARY:
            return [wrap(BINARY[name](*operands), op.results[0].type)]
        return getattr(self, name.replace(".", "_"))(op, operands)

    def arith_constant(self, op, operands):
        return [op.value.value]

    def arith_cmpi(self, op, operands):
        predicate = int(op.attributes["predicate"].value)
        if predicate >= len(COMPARE):  # the orders of unsigned numbers
            operands = self.unsigned(op, operands)
            predicate -= 4
        return [int(COMPARE[predicate](*operands))]

    @staticmethod
    def unsigned(op, operands):
        return [v & ((1 << op.operands[0].type.width) - 1) for v in operands]

    def arith_divui(self, op, operands):
        a, b = self.unsigned(op, operands)
        return [wrap(a // b, op.results[0].type)]

    def ub_poison(self, op, operands):
        return [0xBAD]

    def arith_extui(self, op, operands):
        return operands

    def arith_extsi(self, op, operands):
        return operands

    def arith_trunci(self, op, operands):
        return [wrap(operands[0], op.results[0].type)]

    def arith_sitofp(self, op, operands):
        return [float(operands[0])]

    def arith_select(self, op, operands):
        return [operands[1] if operands[0] else operands[2]]

    def tt_addptr(self, op, operands):
        (data, at), offset = operands
        return [(data, at + offset)]

    def tt_load(self, op, operands):
        data, at = operands[0]
        return [data[at]]

    def tt_store(self, op, operands):
        (data, at), value, *mask = operands
        if all(mask):
            data[at] = value
        return []

    def tt_assert(self, op, operands):
        assert operands[0], op.message
        return []

    def tt_call(self, op, operands):
        return self.call(self.functions[op.callee], operands)

    def scf_if(self, op, operands):
        region = op.regions[0 if operands[0] else 1]
        return self.block(region.blocks[0]) if region.blocks else []

    def scf_for(self, op, operands):
        lower, upper, step, *carried = operands
        assert step > 0
        body = op.regions[0].blocks[0]
        for i in range(lower, upper, step):
            self.env.update(zip(body.args, [i, *carried]))
            carried = self.block(body)
        return carried

    def scf_while(self, op, operands):
        head, body = (region.blocks[0] for region in op.regions)
        while True:
            self.env.update(zip(head.args, operands))
            go_on, *operands = self.block(head)
            if not go_on:
                return operands
            self.env.update(zip(body.args, operands))
            operands = self.block(body)


def run(module, *args):
    """Run the public function; lists are passed as the addresses of their first elements."""
    machine = Machine(module)
    (kernel,) = (f for f in machine.functions.values() if f.sym_visibility == "public")
    machine.call(kernel, [(a, 0) if isinstance(a, list) else a for a in args])
