"""Reads PTX text into the values of `ptx`."""

from __future__ import annotations

import bisect
import functools
import re
import struct

from ..support.text import unescape_assembly
from .errors import PTXError
from .ptx import (
    Address,
    Function,
    Immediate,
    Instruction,
    Labels,
    Location,
    Module,
    Name,
    Operand,
    Pair,
    Register,
    Special,
    Tuple,
    Variable,
)
from .types import TYPES

__all__ = ["parse"]

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
_SPACE = re.compile(r"\s*")
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)[^\n;]*;?")
_FILE = re.compile(r'\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"[^\n]*')
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_HEAD = re.compile(r"\.(version|target|address_size)\s+([^\n]*)")
_SECTION = re.compile(r"\.section\s+[^{]*\{[^}]*\}")
_FUNCTION = re.compile(r"(?:\.(?:visible|extern|weak|noreturn)\s+)*\.(entry|func)\b")
_NAME = re.compile(r"[A-Za-z_$%][\w$]*")
_INSTRUCTION = re.compile(r"(?:@\s*(!?)\s*([%\w$]+)\s+)?([a-z][\w]*)((?:\.[\w:]+|::\w+)*)\s*(.*)", re.S)
_REG = re.compile(r"\.reg\s+(?:\.v[24]\s+)?\.(\w+)\s+(.*)", re.S)
_RANGE = re.compile(r"([%\w$]+)\s*<\s*(\d+)\s*>")
_DECLARATION = re.compile(
    r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?P<space>global|shared|const|local|param|reg)\b(?P<attributes>[^\[=,]*?)"
    r"(?P<name>[A-Za-z_$%][\w$]*)\s*(?P<dimensions>(?:\[\s*\w*\s*\]\s*)*)(?:=\s*(?P<initial>.*))?$",
    re.S,
)
_DIRECTIVE = re.compile(
    r"\.(reqntid|maxntid|minnctapersm|maxnreg|maxnctapersm|reqnctapercluster|explicitcluster|maxclusterrank"
    r"|noreturn|blocksareclusters|pragma\s+\"[^\"]*\"\s*;?)\s*([\d\s,]*)"
)
_INTEGER = re.compile(r"([+-]?)\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uU]?$")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*([eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+([eE][+-]?\d+)?)$")
_ADDRESS_PART = re.compile(r"\s*([+-])?\s*([^+\-\s]+)\s*")


@functools.lru_cache(maxsize=64)
def parse(text: str) -> Module:
    """The module of a PTX text. Raises PTXError, which names the line."""
    return _Parser(text).module()


def split(text: str) -> list[str]:
    """`text` at the commas that stand in no brackets."""
    if not any(c in text for c in "{[("):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "{[(":
            depth += 1
        elif c in "}])":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return parts


def integer(text: str) -> int | None:
    """The value of an integer literal, None for anything else."""
    m = _INTEGER.match(text.strip())
    if m is None:
        return None
    digits = m[2]
    base = 16 if digits[:2] in ("0x", "0X") else 2 if digits[:2] in ("0b", "0B") else 8 if digits[0] == "0" else 10
    value = int(digits, base)
    return -value if m[1] == "-" else value


class _Scope:
    """Names of one pair of braces; an inner scope sees the outer ones."""

    def __init__(self, outer: _Scope | None, number: int) -> None:
        self.outer = outer
        self.suffix = f"@{number}" if number else ""
        self.names: dict[str, str] = {}
        self.cache: dict[str, Operand] = {}
        #: Unique names that are registers; one set for all scopes of a function.
        self.registers: set[str] = outer.registers if outer is not None else set()

    def declare(self, name: str, register: bool = False) -> str:
        self.names[name] = name + self.suffix
        if register:
            self.registers.add(self.names[name])
        self.cache.clear()
        return self.names[name]

    def find(self, name: str) -> str | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


class _Body:
    """The body of a function during parsing."""

    def __init__(self) -> None:
        self.registers: dict[str, str] = {}
        self.variables: dict[str, Variable] = {}
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, Labels] = {}
        self.jumps: list[tuple[int, _Scope]] = []


class _Parser:
    """One pass over a text; `at` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else "\n" * m[0].count("\n") + " ", text)
        self.newlines = [i for i, c in enumerate(self.text) if c == "\n"]
        self.at = 0
        self.files: dict[int, str] = {}
        for m in _FILE.finditer(self.text):
            self.files[int(m[1])] = unescape_assembly(m[2])
        self.loc: Location | None = None
        self.scopes = 0

    # -- positions -----------------------------------------------------------------------------------------------

    def line(self, at: int | None = None) -> int:
        return bisect.bisect_left(self.newlines, self.at if at is None else at) + 1

    def fail(self, message: str, at: int | None = None) -> PTXError:
        return PTXError(f"PTX line {self.line(at)}: {message}")

    def skip(self) -> bool:
        """Go to the next character that is no space; False at the end."""
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.at < len(self.text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        m = pattern.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
        return m

    def statement(self) -> str:
        """The text up to the next semicolon, which is passed."""
        end = self.text.find(";", self.at)
        if end < 0:
            raise self.fail("a statement does not end")
        text = self.text[self.at : end].strip()
        self.at = end + 1
        return text

    # -- the module ----------------------------------------------------------------------------------------------

    def module(self) -> Module:
        version, target = (0, 0), ""
        variables: dict[str, Variable] = {}
        functions: dict[str, Function] = {}
        while self.skip():
            if head := self.take(_HEAD):
                if head[1] == "version":
                    major, _, minor = head[2].strip().partition(".")
                    version = (int(major), int(minor))
                elif head[1] == "target":
                    target = head[2].split(",")[0].strip()
            elif self.take(_FILE) or self.take(_LOC) or self.take(_SECTION):
                continue
            elif m := self.take(_FUNCTION):
                function = self.function(m[1] == "entry")
                if function.name not in functions or function.instructions is not None:
                    functions[function.name] = function
            else:
                start = self.at
                text = self.statement()
                if text.startswith((".pragma", ".alias")) or not text:
                    continue
                variable = self.variable(text, start)
                variables[variable.name] = variable
        if not version[0]:
            raise PTXError("this is no PTX: it has no .version")
        return Module(version, target, variables, functions)

    def variable(self, text: str, at: int) -> Variable:
        """A declaration of one variable or parameter, without its semicolon."""
        m = _DECLARATION.match(text)
        if m is None:
            raise self.fail(f"cannot read {text.splitlines()[0]!r}", at)
        words = m["attributes"].split()
        align = int(words[words.index(".align") + 1]) if ".align" in words else 0
        types = [w[1:] for w in words if w[1:] in TYPES]
        if not types:
            raise self.fail(f"{m['name']} has no type", at)
        pointer = ".ptr" in words
        vector = next((int(w[2:]) for w in words if w in (".v2", ".v4", ".v8")), 1)
        count, size = vector, TYPES[types[0]].bytes
        for dimension in re.findall(r"\[\s*(\w*)\s*\]", m["dimensions"]):
            count *= (integer(dimension) or 0) if dimension else 0
        initial = None if m["initial"] is None else tuple(self.initial(m["initial"], at))
        if not count and initial is not None:
            count = len(initial)
        align = size * vector if pointer or not align else align
        return Variable(m["name"], m["space"], types[0], count, align, size * count, initial, pointer)

    def initial(self, text: str, at: int) -> list[object]:
        text = text.strip()
        if text.startswith("{"):
            return [v for part in split(text[1:-1]) for v in self.initial(part, at)]
        symbol = re.match(r"(?:generic\s*\(\s*)?([A-Za-z_$][\w$]*)\s*\)?\s*(?:\+\s*(\d+))?$", text)
        if symbol and not re.match(r"0[fd]", text):
            return [(symbol[1], int(symbol[2] or 0))]
        operand = self.literal(text)
        if operand is None:
            raise self.fail(f"cannot read the initial value {text!r}", at)
        return [operand]

    # -- functions -----------------------------------------------------------------------------------------------

    def parenthesis(self) -> str:
        """The text of a list in parentheses, "" where none stands here."""
        self.skip()
        if not self.text.startswith("(", self.at):
            return ""
        end = self.text.index(")", self.at)
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def formals(self, body: _Body, scope: _Scope) -> tuple[Variable, ...]:
        start = self.at
        variables = tuple(self.variable(part, start) for part in split(self.parenthesis()))
        for v in variables:
            scope.declare(v.name, v.space == "reg")
            if v.space == "reg":
                body.registers[v.name] = v.type
        return variables

    def function(self, entry: bool) -> Function:
        body, scope = _Body(), _Scope(None, 0)
        line = self.line()
        results = () if entry else self.formals(body, scope)
        self.skip()
        name = self.take(_NAME)
        if name is None:
            raise self.fail("a function without a name")
        parameters = self.formals(body, scope)
        directives: dict[str, tuple[int, ...]] = {}
        while self.skip() and (m := self.take(_DIRECTIVE)):
            directives[m[1].split()[0]] = tuple(int(n) for n in re.findall(r"\d+", m[2]))
        defined = self.text.startswith("{", self.at)
        if defined:
            self.at += 1
            self.body(body, scope)
            self.resolve(body)
        elif self.text.startswith(";", self.at):
            self.at += 1
        else:
            raise self.fail(f"the body of {name[0]} is missing")
        instructions = body.instructions if defined else None
        return Function(
            name[0],
            entry,
            parameters,
            results,
            directives,
            body.registers,
            body.variables,
            instructions,
            body.labels,
            body.tables,
            line,
        )

    def resolve(self, body: _Body) -> None:
        """Resolve jumps to the unique names of their labels, which may follow later."""
        for index, scope in body.jumps:
            i = body.instructions[index]
            operands = tuple(
                Name(scope.find(o.name) or o.name) if isinstance(o, Name) else o
                for o in (i.operands if i.opcode != "call" else ())
            )
            body.instructions[index] = i._replace(operands=operands or i.operands)

    def body(self, body: _Body, scope: _Scope) -> None:
        """Statements up to the brace that closes `scope`."""
        while self.skip():
            c = self.text[self.at]
            if c == "}":
                self.at += 1
                return
            if c == "{":
                self.at += 1
                self.scopes += 1
                self.body(body, _Scope(scope, self.scopes))
            elif c == ".":
                self.directive(body, scope)
            elif c == ";":
                self.at += 1
            elif m := self.take(_LABEL):
                self.label(m[1], body, scope)
            else:
                self.instruction(body, scope)
        raise self.fail("a function's braces do not close")

    def label(self, name: str, body: _Body, scope: _Scope) -> None:
        unique = scope.declare(name)
        self.skip()
        if self.text.startswith(".branchtargets", self.at):
            names = self.statement()[len(".branchtargets") :]
            body.tables[unique] = Labels(tuple(split(names)))
        elif self.text.startswith(".callprototype", self.at):
            self.statement()
        else:
            body.labels[unique] = len(body.instructions)

    def directive(self, body: _Body, scope: _Scope) -> None:
        start = self.at
        if m := self.take(_LOC):
            self.loc = (self.files.get(int(m[1]), f"<file {m[1]}>"), int(m[2]), int(m[3]))
            return
        if self.take(_FILE):
            return
        text = self.statement()
        if text.startswith(".reg"):
            self.registers(text, body, scope, start)
        elif not text.startswith(".pragma"):
            variable = self.variable(text, start)
            unique = scope.declare(variable.name)
            body.variables[unique] = variable._replace(name=unique)

    def registers(self, text: str, body: _Body, scope: _Scope, at: int) -> None:
        m = _REG.match(text)
        if m is None or m[1] not in TYPES:
            raise self.fail(f"cannot read {text!r}", at)
        for part in split(m[2]):
            if span := _RANGE.match(part):
                names = [f"{span[1]}{n}" for n in range(int(span[2]))]
            else:
                names = [part]
            for name in names:
                body.registers[scope.declare(name, register=True)] = m[1]

    # -- instructions --------------------------------------------------------------------------------------------

    def instruction(self, body: _Body, scope: _Scope) -> None:
        start = self.at
        text = self.statement()
        m = _INSTRUCTION.match(text)
        if m is None:
            raise self.fail(f"cannot read {text!r}", start)
        guard = None
        if m[2]:
            guard = Register(scope.find(m[2]) or "", bool(m[1]))
            if guard.name not in body.registers:
                raise self.fail(f"{m[2]} is not declared", start)
        cache = scope.cache
        operands = []
        for part in split(m[5]):
            operand = cache.get(part)
            if operand is None and part not in cache:
                operand = cache[part] = self.operand(part, scope, start)
            operands.append(operand)
        if m[3] in ("bra", "brx"):
            body.jumps.append((len(body.instructions), scope))
        modifiers = tuple(m[4].split(".")[1:])
        line = self.line(start)
        text = " ".join(text.split())
        body.instructions.append(Instruction(m[3], modifiers, tuple(operands), guard, line, self.loc, text))

    def operand(self, text: str, scope: _Scope, at: int) -> Operand:
        first = text[:1]
        if first in "{(" and first:
            return Tuple(tuple(self.operand(part, scope, at) for part in split(text[1:-1])))
        if first == "[":
            return self.address(text[1:-1], scope, at)
        if text == "_":
            return None
        if "|" in text:
            left, _, right = text.partition("|")
            return Pair(self.operand(left.strip(), scope, at), self.operand(right.strip(), scope, at))
        if first == "!":
            inner = self.operand(text[1:].strip(), scope, at)
            if isinstance(inner, Register):
                return inner._replace(negated=True)
        elif first == "%" or first.isalpha() or first in "_$":
            return self.named(text, scope, at)
        elif (value := self.literal(text)) is not None:
            return value
        raise self.fail(f"cannot read the operand {text!r}", at)

    def named(self, text: str, scope: _Scope, at: int) -> Operand:
        unique = scope.find(text)
        if unique in scope.registers:
            return Register(unique)
        if text.startswith("%"):
            return Special(text)
        if text == "WARP_SZ":
            return Immediate(32)
        if unique is None:
            base, _, offset = text.partition("+")
            if offset and (value := integer(offset)) is not None:
                return Address(self.named(base.strip(), scope, at), value)
        return Name(unique or text)

    def literal(self, text: str) -> Immediate | None:
        """A constant; the bits of `0f…` and `0d…` as integers."""
        if text[:2] in ("0f", "0F"):
            return Immediate(int(text[2:], 16), 32)
        if text[:2] in ("0d", "0D"):
            return Immediate(int(text[2:], 16), 64)
        value = integer(text)
        if value is not None:
            return Immediate(value)
        if _FLOAT.match(text):
            return Immediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)
        return None

    def address(self, text: str, scope: _Scope, at: int) -> Address:
        first, *rest = split(text)
        base: Operand | None = None
        offset = 0
        for sign, part in _ADDRESS_PART.findall(first):
            value = integer(part)
            if value is not None:
                offset += -value if sign == "-" else value
            elif base is None:
                base = self.operand(part, scope, at)
            else:
                raise self.fail(f"cannot read the address [{text}]", at)
        return Address(base, offset, tuple(self.operand(r, scope, at) for r in rest))
