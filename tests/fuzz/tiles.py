"""Random tile programs: kernels whose meaning is that of the same text over NumPy arrays."""

import random

SHAPES = [(16,), (64,), (8, 16), (32, 8), (4, 4, 8), (1, 32), (256,), (16, 64)]


HEAD = """
import tritium as triton
import tritium.language as tl

@triton.jit
def kernel(x, y, outf, outi, n):
    pid = tl.program_id(0)"""


class Tiles:
    """Writes one kernel over blocks; the same seed writes the same text."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = {"pid": ((), "i")}  # name -> (shape, kind); kind is i, f or b
        self.count = 0
        self.lines = []

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, kind=None, shape=None):
        found = [n for n, (s, k) in self.values.items() if kind in (None, k) and shape in (None, s)]
        return self.random.choice(found) if found else None

    def put(self, shape, kind, text, indent="    "):
        n = self.name()
        self.lines.append(f"{indent}{n} = {text}")
        self.values[n] = (shape, kind)
        return n

    def kernel(self):
        shape = self.random.choice(SHAPES)
        self.shape = shape
        self.load(shape, "f", "x")
        self.load(shape, "i", "y")
        if self.random.random() < 0.5:
            self.load(shape, "f", "x", masked=True)
        for _ in range(self.random.randint(3, 9)):
            self.step()
        if self.random.random() < 0.5:
            self.loop()
        for _ in range(self.random.randint(0, 4)):
            self.step()
        at = 0
        for n, (s, k) in list(self.values.items())[-14:]:
            size = 1
            for d in s:
                size *= d
            if k == "b":
                self.lines.append(f"    {n} = tl.where({n}, 1, 0)")
            out = "outf" if k == "f" else "outi"
            offs = self.offsets(s) if s else "0"
            mask = f", mask={offs} < n" if s and self.random.random() < 0.3 else ""
            self.lines.append(f"    tl.store({out} + pid * 65536 + {at} + {offs}, {n}{mask})")
            at += max(size, 16)
        return "\n".join([HEAD, *self.lines, ""])

    def offsets(self, shape):
        terms, stride = [], 1
        for axis in range(len(shape) - 1, -1, -1):
            index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
            r = f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "")
            terms.append(r if stride == 1 else f"{r} * {stride}")
            stride *= shape[axis]
        return "(" + " + ".join(terms) + ")"

    def load(self, shape, kind, source, masked=False):
        offs = self.put(shape, "i", self.offsets(shape))
        extra = f", mask={offs} < n, other={self.random.choice(['0', '1'])}" if masked else ""
        step = " + pid * 7" if self.random.random() < 0.5 else ""
        self.put(shape, kind, f"tl.load({source}{step} + {offs}{extra})")

    def step(self, indent="    "):
        self.random.choice(STEPS)(self, indent)

    def binary(self, indent):
        a = self.pick(self.random.choice("if"))
        if a is None:
            return
        s, k = self.values[a]
        b = self.pick(k, s)
        if self.random.random() < 0.3:
            b = str(self.random.randint(1, 5)) if k == "i" else self.random.choice(["2.0", "0.5", "3", "-1.5"])
        op = self.random.choice("+-*") if k == "f" else self.random.choice(["+", "-", "*", "&", "|", "^"])
        self.put(s, k, f"{a} {op} {b}", indent)

    def compare(self, indent):
        a = self.pick(self.random.choice("if"))
        s, k = self.values[a]
        b = self.pick(k, s) if self.random.random() < 0.7 else "2"
        self.put(s, "b", f"{a} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {b}", indent)

    def logic(self, indent):
        a = self.pick("b")
        if a is None:
            self.compare(indent)
            return
        s, _ = self.values[a]
        self.put(s, "b", f"{a} {self.random.choice('&|^')} {self.pick('b', s)}", indent)

    def where(self, indent):
        c = self.pick("b")
        if c is None:
            self.compare(indent)
            return
        s, _ = self.values[c]
        k = self.random.choice("if")
        a, b = self.pick(k, s), self.pick(k, s)
        if a is None:
            return
        if self.random.random() < 0.3:
            b = "0" if k == "i" else "0.0"
        self.put(s, k, f"tl.where({c}, {a}, {b})", indent)

    def minmax(self, indent):
        a = self.pick(self.random.choice("if"))
        s, k = self.values[a]
        self.put(s, k, f"tl.{self.random.choice(['minimum', 'maximum'])}({a}, {self.pick(k, s)})", indent)

    def cast(self, indent):
        a = self.pick(self.random.choice("ib"))
        if a is None:
            return
        s, k = self.values[a]
        if k == "b":
            self.put(s, "i", f"tl.cast({a}, tl.int32)" if not s else f"{a}.to(tl.int32)", indent)
        else:
            small = self.put(s, "i", f"{a} & 1023", indent)
            self.put(s, "f", f"tl.cast({small}, tl.float32)" if not s else f"{small}.to(tl.float32)", indent)

    def unary(self, indent):
        a = self.pick(self.random.choice("if"))
        s, k = self.values[a]
        if k == "f":
            b = self.put(s, k, f"tl.minimum(tl.maximum({a}, -4.0), 4.0)", indent)  # keeps exp small
            form = self.random.choice(["tl.abs({})", "tl.exp({})", "-{}", "tl.floor({})", "tl.sqrt(tl.abs({}))"])
            self.put(s, k, form.format(b), indent)
        else:
            self.put(s, k, self.random.choice(["-{}", "~{}", "tl.abs({})"]).format(a), indent)

    def axis(self, s):
        return self.random.randrange(len(s))

    def reduce(self, indent, keep=False):
        a = self.pick(self.random.choice("if"))
        s, k = self.values[a]
        if not s:
            return None
        ax = self.axis(s)
        f = self.random.choice(["sum", "max", "min"])
        text = f"tl.{f}({a}, axis={ax})"
        t = tuple(d for i, d in enumerate(s) if i != ax)
        return self.put(t, k, text, indent), s, ax, k

    def reduce_back(self, indent):
        done = self.reduce(indent)
        if not done:
            return
        r, s, ax, k = done
        other = self.pick(k, s)
        if len(s) == 1:
            self.put(s, k, f"{other} - {r}", indent)
        else:
            index = ", ".join("None" if i == ax else ":" for i in range(len(s)))
            self.put(s, k, f"{other} {self.random.choice('+-*') if k == 'i' else '-'} {r}[{index}]", indent)

    def reshape(self, indent):
        a = self.pick()
        s, k = self.values[a]
        if not s:
            return
        size = 1
        for d in s:
            size *= d
        d0 = self.random.choice([d for d in (1, 2, 4, 8) if d <= size])
        t = self.random.choice([(size,), (d0, size // d0), s])
        self.put(t, k, f"tl.reshape({a}, {t})", indent)

    def trans(self, indent):
        a = self.pick()
        s, k = self.values[a]
        if len(s) != 2:
            return
        self.put(s[::-1], k, f"tl.trans({a})", indent)

    def cumsum(self, indent):
        a = self.pick("i")
        s, k = self.values[a]
        if s:
            reverse = ", reverse=True" if self.random.random() < 0.3 else ""
            self.put(s, k, f"tl.cumsum({a}, axis={self.axis(s)}{reverse})", indent)

    def dot(self, indent):
        a = self.pick("f")
        s, k = self.values[a]
        b = self.pick(k, s)
        if len(s) == 2 and min(s) >= 8:
            small = [self.put(s, k, f"tl.minimum(tl.maximum({v}, -4.0), 4.0)", indent) for v in (a, b)]
            self.put((s[0], s[0]), k, f"tl.dot({small[0]}, tl.trans({small[1]}), input_precision='ieee')", indent)

    def scalar(self, indent):
        a = self.pick("i", ())
        if a is None:
            return
        b = self.pick("i")
        s, k = self.values[b]
        self.put(s, k, f"{b} + {a}", indent)

    def constant(self, indent):
        s = self.values[self.pick()][0]
        if not s:
            return
        if self.random.random() < 0.5:
            self.put(s, "f", f"tl.full({list(s)}, {self.random.choice([1.5, 0.0, -2.0])}, tl.float32)", indent)
        else:
            self.put(s, "i", f"tl.zeros({list(s)}, tl.int32) + {self.random.randint(-3, 9)}", indent)

    def loop(self):
        """A loop that carries some values, with a branch inside."""
        carried = [n for n, (s, k) in self.values.items() if k in "if"]
        carried = self.random.sample(carried, min(len(carried), self.random.randint(1, 3)))
        fresh = []
        for n in carried:
            m = f"c{n}"
            self.lines.append(f"    {m} = {n}")
            self.values[m] = self.values[n]
            fresh.append(m)
        bound = self.random.choice(["3", "n & 3", "2"])
        self.lines.append(f"    for i in range({bound}):")
        keep = dict(self.values)
        inner = "        "
        for _ in range(self.random.randint(1, 4)):
            self.step(inner)
        for m in fresh:
            s, k = self.values[m]
            value = self.pick(k, s)
            if self.random.random() < 0.3:
                self.lines.append(f"{inner}if i {self.random.choice(['==', '>'])} 1:")
                self.lines.append(f"{inner}    {m} = {value}")
            elif k == "i":
                self.lines.append(f"{inner}{m} = {m} + {value} * i")
            else:
                self.lines.append(f"{inner}{m} = {m} * 0.5 + {value}")
        self.values = keep


STEPS = [Tiles.binary, Tiles.binary, Tiles.compare, Tiles.where, Tiles.cast, Tiles.unary, Tiles.reduce, Tiles.minmax]
STEPS += [Tiles.reduce_back, Tiles.reshape, Tiles.constant, Tiles.logic, Tiles.scalar, Tiles.trans]
STEPS += [Tiles.cumsum, Tiles.dot]
