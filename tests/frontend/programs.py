"""Random scalar programs: kernels whose meaning is that of the Python text, for differential tests of control flow."""

import random

VARIABLES = ["a", "b", "c", "d"]


class Generator:
    """Writes one module with a kernel and helpers; the same seed writes the same text."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.helpers = []
        self.counter = 0
        self.returns = ["return"]  # what a `return` inside a loop may be

    def module(self):
        helpers = [self.helper(i) for i in range(self.random.randint(0, 2))]
        body = self.block(3, loop=False, early=True)
        kernel = [
            "@SourceFunction",
            "def kernel(out, a, b):",
            *self.indent(["c = a", "d = 3", *body, *(f"tl.store(out + {i}, {v})" for i, v in enumerate(VARIABLES))]),
        ]
        head = ["import tritium.language as tl", "from tritium.frontend.callee import SourceFunction", ""]
        return "\n".join([*head, *(line for helper in helpers for line in helper), *kernel, ""])

    def helper(self, i):
        name = f"helper{i}"
        body = []
        self.returns = []
        if self.random.random() < 0.5:
            self.returns = [f"return {self.value()}", f"return {self.value()}"]
            body += self.s_for(2, False, False)
        for _ in range(self.random.randint(1, 3)):
            body += [f"if {self.condition()}:", *self.indent(self.returning())]
            body += self.block(1, loop=False)
        lines = ["@SourceFunction", f"def {name}(a, b, c=5):", *self.indent(["d = c", *body, f"return {self.value()}"])]
        self.helpers.append(name)
        self.returns = ["return"]
        return [*lines, "", ""]

    def returning(self):
        inner = self.block(1, loop=False)
        if self.random.random() < 0.4:
            return [*inner, f"if {self.condition()}:", *self.indent([f"return {self.value()}"])]
        return [*inner, f"return {self.value()}"]

    @staticmethod
    def indent(lines):
        return ["    " + line for line in lines]

    def block(self, depth, loop, early=False):
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, loop, early)
        return lines

    def statement(self, depth, loop, early):
        kinds = ["assign", "assign", "augment", "swap", "unpack"]
        if depth:
            kinds += ["if", "if", "ifelse", "elif", "for", "while", "static"]
            if early and not loop:
                kinds += ["return"]
            if loop:
                kinds += ["jump", "jump"]
        return getattr(self, "s_" + self.random.choice(kinds))(depth, loop, early)

    def variable(self):
        return self.random.choice(VARIABLES)

    def s_assign(self, depth, loop, early):
        return [f"{self.variable()} = {self.value()}"]

    def s_augment(self, depth, loop, early):
        v = self.variable()
        return [f"{v} {self.random.choice(['+=', '-=', '^=', '|='])} {self.atom()}", f"{v} = {v} & 255"]

    def s_swap(self, depth, loop, early):
        a, b = self.random.sample(VARIABLES, 2)
        return [f"{a}, {b} = {b}, {a}"]

    def s_unpack(self, depth, loop, early):
        a, b, c = self.random.sample(VARIABLES, 3)
        return [f"{a}, ({b}, {c}) = {self.value()}, ({self.atom()}, {self.value()})"]

    def s_if(self, depth, loop, early):
        return [f"if {self.condition()}:", *self.indent(self.block(depth - 1, loop, early))]

    def s_ifelse(self, depth, loop, early):
        return [*self.s_if(depth, loop, early), "else:", *self.indent(self.block(depth - 1, loop, early))]

    def s_elif(self, depth, loop, early):
        lines = self.s_if(depth, loop, early)
        for _ in range(self.random.randint(1, 2)):
            lines += [f"elif {self.condition()}:", *self.indent(self.block(depth - 1, loop, early))]
        if self.random.random() < 0.5:
            lines += ["else:", *self.indent(self.block(depth - 1, loop, early))]
        return lines

    def s_return(self, depth, loop, early):
        store = f"tl.store(out + 4, {self.atom()})"
        return [f"if {self.condition()}:", *self.indent([*self.block(depth - 1, loop), store, "return"])]

    def s_jump(self, depth, loop, early):
        jump = self.random.choice(["break", "continue", *self.returns])
        condition = self.condition() if self.random.random() < 0.9 else self.random.choice(["2 > 1", "1 > 2"])
        lines = [f"if {condition}:", *self.indent([*self.block(0, True), jump])]
        if self.random.random() < 0.3:
            other = self.random.choice(["break", "continue"])
            lines += ["else:", *self.indent([*self.block(0, True), *([other] if self.random.random() < 0.3 else [])])]
        return lines

    def fresh(self):
        self.counter += 1
        return f"i{self.counter}"

    def s_for(self, depth, loop, early):
        bounds = self.random.choice(
            ["{n}", "1, {n}", "{n}, 0, -1", "0, {n}, 2", "{n} + 7, {n}, -3", "{n}, {n} + 3", "2, 2"]
        ).format(n=f"({self.atom()} & 3)")
        i = self.fresh()
        iterator = self.random.choice(["range", "range", "tl.range"])
        body = [*self.block(depth - 1, True), f"{self.variable()} = ({i} + {self.atom()}) & 255"]
        return [f"for {i} in {iterator}({bounds}):", *self.indent(body)]

    def s_static(self, depth, loop, early):
        i = self.fresh()
        body = [*self.block(depth - 1, True), f"{self.variable()} = ({i} + {self.atom()}) & 255"]
        return [f"for {i} in tl.static_range({self.random.randint(0, 2)}):", *self.indent(body)]

    def s_while(self, depth, loop, early):
        i = self.fresh()
        body = [f"{i} -= 1", *self.block(depth - 1, True)]
        extra = f" and ({self.condition()})" if self.random.random() < 0.5 else ""
        return [f"{i} = {self.atom()} & 3", f"while {i} > 0{extra}:", *self.indent(body)]

    def atom(self):
        return self.random.choice([*VARIABLES, str(self.random.randint(0, 9))])

    def value(self):
        return f"({self.expression(2)}) & 255"

    def expression(self, depth):
        if not depth or self.random.random() < 0.2:
            return self.atom()
        pick = self.random.random()
        if pick < 0.15:
            return f"({self.expression(depth - 1)} + a if {self.condition()} else {self.expression(depth - 1)} + 0 * a)"
        if pick < 0.3 and self.helpers:
            extra = f", c={self.value()}" if self.random.random() < 0.5 else ""
            return f"{self.random.choice(self.helpers)}({self.atom()} + 0 * a, {self.value()}{extra})"
        if pick < 0.4:
            return f"{self.random.choice(['min', 'max'])}({self.expression(depth - 1)}, {self.atom()})"
        op = self.random.choice(["+", "-", "*", "&", "|", "^"])
        return f"({self.expression(depth - 1)} {op} {self.expression(depth - 1)})"

    def condition(self):
        kinds = ["{a} < {b}", "{a} == {b}", "{a} > {b} - 2", "0 < {a} <= {b}", "not {a} >= {b}", "{a} & 1 != 0"]
        one = self.random.choice(kinds).format(a=self.atom(), b=self.atom())
        if self.random.random() < 0.3:
            other = self.random.choice(kinds).format(a=self.atom(), b=self.atom())
            return f"({one}) {self.random.choice(['and', 'or'])} ({other})"
        return one
