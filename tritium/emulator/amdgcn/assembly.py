"""Assembly text of AMD GPUs as instructions, labels, data and kernel descriptors.

The syntax is that of LLVM's AMDGPU backend ("User Guide for AMDGPU Backend", sections "Assembler" and "Syntax of
AMDGPU Instruction Operands"): what a compiler prints, and what its assembler accepts.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import NamedTuple

from ...support.dataclasses import dataclass, field
from ..errors import AssemblyError
from .metadata import Metadata, read_list, read_metadata

__all__ = ["CODE_ALIGNMENT", "INSTRUCTION_BYTES", "Instruction", "Module", "Operand", "parse", "parse_operand"]

#: Every instruction occupies so many bytes of the emulated code, which no program can observe but by label arithmetic.
INSTRUCTION_BYTES = 8
#: The alignment, as a power of two, of kernels and of the place where one begins whose arguments are preloaded.
CODE_ALIGNMENT = 8

_ENCODINGS = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa")
#: Scalar registers with a name, by their index in the register file (RDNA3 ISA, section 6.2 "Scalar ALU Operands").
_NAMED = {
    "flat_scratch": (102, 2),
    "flat_scratch_lo": (102, 1),
    "flat_scratch_hi": (103, 1),
    "xnack_mask": (104, 2),
    "xnack_mask_lo": (104, 1),
    "xnack_mask_hi": (105, 1),
    "vcc": (106, 2),
    "vcc_lo": (106, 1),
    "vcc_hi": (107, 1),
    "m0": (124, 1),
    "exec": (126, 2),
    "exec_lo": (126, 1),
    "exec_hi": (127, 1),
}
_FLAGS_IN_OPERANDS = re.compile(r"(\w+):(\[[^\]]*\]|[^\s,]+)$")
_REGISTER = re.compile(r"(s|v|a|ttmp|acc)(?:(\d+)|\[\s*(\d+)\s*(?::\s*(\d+))?\s*\])(?:\.([lh]))?$")
_SYMBOL = re.compile(r"([A-Za-z_.$][\w.$]*)(?:@(\w+(?:@\w+)?))?\s*([+-]\s*\d+)?$")


class Operand(NamedTuple):
    """One operand. `kind` is a register file ("s", "v", "a"), or "int", "float", "symbol", "word" or "call"."""

    kind: str
    number: int = 0
    width: int = 1
    value: float = 0
    name: str = ""
    half: str = ""
    negate: bool = False
    absolute: bool = False
    extend: bool = False

    @property
    def is_register(self) -> bool:
        return self.kind in ("s", "v", "a")

    @property
    def is_null(self) -> bool:
        return self.kind == "word" and self.name == "null"


@dataclass(frozen=True)
class Instruction:
    """An instruction: its name without encoding suffix, operands, modifiers, and where it comes from."""

    name: str
    encoding: str
    operands: tuple[Operand, ...]
    modifiers: dict[str, str]
    text: str
    line: int
    loc: tuple[str, int, int] | None = None
    address: int = 0
    second: Instruction | None = None  # the other half of a dual-issue instruction

    @property
    def language(self) -> str:
        return "AMDGCN"

    def number(self, modifier: str, default: int = 0) -> int:
        """A modifier such as `offset:16` as a number."""
        text = self.modifiers.get(modifier)
        return default if text is None else int(text, 0)

    def bits(self, modifier: str, default: int, count: int) -> tuple[int, ...]:
        """A modifier such as `op_sel:[0,1]` as `count` bits; those that it leaves out are `default`."""
        text = self.modifiers.get(modifier)
        given = [int(t, 0) for t in text.strip("[]").split(",")] if text else []
        return tuple((given + [default] * count)[:count])


@dataclass
class Module:
    """What a text has: instructions in order, labels (index of an instruction), data, kernels and their metadata."""

    target: str = ""
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    aligned: list[int] = field(default_factory=list)  # instructions that begin at a multiple of 256 bytes
    data: bytearray = field(default_factory=bytearray)
    symbols: dict[str, int] = field(default_factory=dict)  # offsets in `data`
    fixups: list[tuple[int, str, int]] = field(default_factory=list)  # (offset, symbol, bytes)
    lds: dict[str, tuple[int, int]] = field(default_factory=dict)  # (size, alignment)
    constants: dict[str, int] = field(default_factory=dict)
    descriptors: dict[str, dict[str, str]] = field(default_factory=dict)
    metadata: dict[str, Metadata] = field(default_factory=dict)
    formats: list[str] = field(default_factory=list)  # of printf

    @property
    def architecture(self) -> str:
        found = re.search(r"gfx[0-9a-f]+", self.target)
        return found.group(0) if found else ""


def parse(text: str) -> Module:
    """Read a text; AssemblyError where it is no assembly of AMD GPUs."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.read(line, number)
    if not reader.module.target:
        raise AssemblyError("the text has no .amdgcn_target")
    return reader.module


def _without_comment(line: str) -> str:
    """A line up to its comment; `;` and `//` inside strings begin none."""
    if ";" not in line and "//" not in line:
        return line
    quoted, at = False, 0
    while at < len(line):
        if line[at] == '"' and (at == 0 or line[at - 1] != "\\"):
            quoted = not quoted
        elif not quoted and (line[at] == ";" or line.startswith("//", at)):
            return line[:at]
        at += 1
    return line


class _Reader:
    def __init__(self) -> None:
        self.module = Module()
        self.section = ".text"
        self.files: dict[int, str] = {}
        self.loc: tuple[str, int, int] | None = None
        self.descriptor: dict[str, str] | None = None
        self.yaml: list[str] | None = None

    def read(self, line: str, number: int) -> None:
        if self.yaml is not None:
            if line.strip() != ".end_amdgpu_metadata":
                self.yaml.append(line)
                return
            self.module.metadata = read_metadata(self.yaml)
            self.module.formats = read_list(self.yaml, "amdhsa.printf")
            self.yaml = None
            return
        text = _without_comment(line).strip()
        while found := re.match(r'([\w.$]+|"[^"]+"):\s*(?![\w:])|([\w.$]+):\s+', text):
            self.label(found.group(1) or found.group(2))
            text = text[found.end() :].strip()
        if not text:
            return
        if text[0] == ".":
            name, _, rest = text.partition("\t") if "\t" in text else text.partition(" ")
            self.directive(name, rest.strip(), number)
        elif self.section.startswith(".text"):
            self.instruction(text, number)

    def label(self, name: str) -> None:
        if self.section.startswith(".text"):
            self.module.labels[name.strip('"')] = len(self.module.instructions)
        else:
            self.module.symbols[name.strip('"')] = len(self.module.data)

    def instruction(self, text: str, number: int) -> None:
        m = self.module
        address = len(m.instructions) * INSTRUCTION_BYTES
        m.instructions.append(parse_instruction(text, number, self.loc, address))

    # -- directives ----------------------------------------------------------------------------------------------------

    def directive(self, name: str, rest: str, line: int) -> None:
        if self.descriptor is not None:
            if name == ".end_amdhsa_kernel":
                self.descriptor = None
            else:
                self.descriptor[name.removeprefix(".amdhsa_")] = rest
        elif name in _DIRECTIVES:
            _DIRECTIVES[name](self, rest)
        elif name in _DATA and self.keeps_data:
            self.values(_DATA[name], rest, line)

    @property
    def keeps_data(self) -> bool:
        return self.section.startswith((".rodata", ".data", ".bss"))

    def values(self, size: int, rest: str, line: int) -> None:
        """Integers or symbols of a data directive."""
        for item in rest.split(","):
            try:
                value = int(item.strip(), 0)
            except ValueError:
                self.module.fixups.append((len(self.module.data), item.strip(), size))
                value = 0
            self.module.data += (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def target(self, rest: str) -> None:
        self.module.target = rest.strip('"')

    def enter_section(self, rest: str) -> None:
        self.section = rest.split(",")[0].strip().strip('"')

    def kernel(self, rest: str) -> None:
        self.descriptor = self.module.descriptors.setdefault(rest.strip().strip('"'), {})

    def begin_metadata(self, rest: str) -> None:
        self.yaml = []

    def file(self, rest: str) -> None:
        found = re.match(r'(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', rest)
        if found:
            folder, name = found.group(2), found.group(3)
            path = folder if name is None else name if name.startswith("/") else f"{folder}/{name}"
            self.files[int(found.group(1))] = path

    def location(self, rest: str) -> None:
        file, line, column = (int(part) for part in [*rest.split()[:3], "0"][:3])
        self.loc = (self.files[file], line, column) if line and file in self.files else None

    def set_constant(self, rest: str) -> None:
        name, _, value = rest.partition(",")
        if re.fullmatch(r"\s*-?(0x[0-9a-fA-F]+|\d+)\s*", value):
            self.module.constants[name.strip()] = int(value, 0)

    def shared_symbol(self, rest: str) -> None:
        name, size, *align = (part.strip() for part in rest.split(","))
        self.module.lds[name] = (int(size, 0), int(align[0], 0) if align else 4)

    def align(self, rest: str) -> None:
        power = int(rest.split(",")[0], 0)
        if self.section.startswith(".text"):
            if power >= CODE_ALIGNMENT:
                self.module.aligned.append(len(self.module.instructions))
        elif self.keeps_data:
            self.module.data += bytes(-len(self.module.data) % (1 << power))

    def zeros(self, rest: str) -> None:
        if self.keeps_data:
            self.module.data += bytes(int(rest.split(",")[0], 0))

    def string(self, rest: str, end: bytes = b"\0") -> None:
        if self.keeps_data:
            inner = rest.strip()[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1")
            self.module.data += inner + end


_DATA = {
    ".byte": 1,
    ".short": 2,
    ".2byte": 2,
    ".hword": 2,
    ".long": 4,
    ".4byte": 4,
    ".int": 4,
    ".word": 4,
    ".quad": 8,
    ".8byte": 8,
}
_DIRECTIVES: dict[str, Callable[[_Reader, str], None]] = {
    ".amdgcn_target": _Reader.target,
    ".section": _Reader.enter_section,
    ".text": lambda reader, _: reader.enter_section(".text"),
    ".data": lambda reader, _: reader.enter_section(".data"),
    ".amdhsa_kernel": _Reader.kernel,
    ".amdgpu_metadata": _Reader.begin_metadata,
    ".file": _Reader.file,
    ".loc": _Reader.location,
    ".set": _Reader.set_constant,
    ".amdgpu_lds": _Reader.shared_symbol,
    ".p2align": _Reader.align,
    ".zero": _Reader.zeros,
    ".skip": _Reader.zeros,
    ".ascii": lambda reader, rest: reader.string(rest, b""),
    ".asciz": _Reader.string,
}


# -- instructions ------------------------------------------------------------------------------------------------------


def parse_instruction(text: str, line: int, loc: tuple[str, int, int] | None, address: int) -> Instruction:
    """One instruction; `::` separates the halves of a dual-issue instruction."""
    first, _, other = text.partition("::")
    second = parse_instruction(other.strip(), line, loc, address) if other else None
    mnemonic, _, rest = first.strip().replace("\t", " ").partition(" ")
    name, encoding = mnemonic, ""
    for suffix in _ENCODINGS:
        if mnemonic.endswith(suffix):
            name, encoding = mnemonic[: -len(suffix)], suffix[1:]
            break
    modifiers: dict[str, str] = {}
    try:
        if name in ("s_delay_alu", "s_waitcnt", "s_waitcnt_depctr", "s_sendmsg"):
            modifiers["text"] = rest.strip()
            operands: tuple[Operand, ...] = ()
        else:
            operands = _operands(rest.strip(), modifiers)
    except ValueError as error:
        raise AssemblyError(f"cannot read the operands of {text!r}: {error}") from None
    return Instruction(name, encoding, operands, modifiers, text, line, loc, address, second)


def _split(text: str) -> list[str]:
    """The operands of a list, split at commas outside brackets."""
    out, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        elif char == "," and depth == 0:
            out.append(text[start:at].strip())
            start = at + 1
    out.append(text[start:].strip())
    return out


def _operands(text: str, modifiers: dict[str, str]) -> tuple[Operand, ...]:
    """The operands; the modifiers that follow them are added to `modifiers`."""
    if not text:
        return ()
    parts = _split(text)
    operands: list[Operand] = []
    for n, part in enumerate(parts):
        words = _words(part)
        if n == len(parts) - 1 or len(words) > 1:
            first = 1
            # A modifier may stand where the last operand would: after `off` and the like it does not.
            if words and ":" in words[0] and not _REGISTER.match(words[0]) and _FLAGS_IN_OPERANDS.match(words[0]):
                first = 0
            for word in words[first:]:
                key, _, value = word.partition(":")
                modifiers[key] = value or "1"
            words = words[:first]
        operands.extend(parse_operand(word) for word in words)
    return tuple(operands)


def _words(text: str) -> list[str]:
    """The words of a text, split at spaces outside brackets and bars."""
    out, depth, word = [], 0, ""
    for char in text:
        depth += (char in "[(") - (char in "])")
        if char == " " and depth == 0:
            if word:
                out.append(word)
            word = ""
        else:
            word += char
    return [*out, word] if word else out


def parse_operand(text: str) -> Operand:
    """An operand: a register, a constant, a symbol, with its input modifiers.

    >>> parse_operand("-|v3|").negate, parse_operand("s[4:7]").width, parse_operand("0.5").value
    (True, 4, 0.5)
    """
    text = text.strip()
    if text.startswith("sext(") and text.endswith(")"):
        return parse_operand(text[5:-1])._replace(extend=True)
    if text.startswith("neg(") and text.endswith(")"):
        return parse_operand(text[4:-1])._replace(negate=True)
    if text.startswith("abs(") and text.endswith(")"):
        return parse_operand(text[4:-1])._replace(absolute=True)
    if text.startswith("|") and text.endswith("|") and len(text) > 1:
        return parse_operand(text[1:-1])._replace(absolute=True)
    if text.startswith("-") and len(text) > 1 and not text[1].isdigit() and text[1] != ".":
        return parse_operand(text[1:])._replace(negate=True)
    if text.startswith("[") and text.endswith("]"):
        return _register_list(text)
    return _register(text) or _constant(text)


def _register_list(text: str) -> Operand:
    """A list of adjacent registers, `[s0,s1]`."""
    parts = [parse_operand(part) for part in text[1:-1].split(",")]
    first = parts[0]
    if any(p.kind != first.kind or p.number != first.number + n for n, p in enumerate(parts)):
        raise ValueError(f"{text} is no list of adjacent registers")
    return first._replace(width=len(parts))


def _register(text: str) -> Operand | None:
    if found := _REGISTER.match(text):
        kind, single, low, high, half = found.groups()
        first = int(single if single is not None else low)
        count = 1 if single is not None or high is None else int(high) - first + 1
        if kind == "ttmp":
            kind, first = "s", first + 108
        return Operand({"acc": "a"}.get(kind, kind), first, count, half=half or "")
    if text in _NAMED:
        index, count = _NAMED[text]
        return Operand("s", index, count)
    return None


def _constant(text: str) -> Operand:
    if re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|\d+)", text):
        return Operand("int", value=int(text, 0))
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?", text):
        return Operand("float", value=float(text))
    if found := re.fullmatch(r"(\w+)\((.*)\)", text):
        return Operand("call", name=found.group(1) + "(" + found.group(2).replace(" ", "") + ")")
    if found := _SYMBOL.fullmatch(text):
        name, part, addend = found.groups()
        if part is None and addend is None:
            return Operand("word", name=name)
        return Operand("symbol", name=name, half=part or "", value=int((addend or "0").replace(" ", "")))
    raise ValueError(f"{text!r} is no operand")


def float_bits(value: float, bits: int) -> int:
    """The bits of a number in a format of 16, 32 or 64 bits."""
    return int.from_bytes(struct.pack({16: "<e", 32: "<f", 64: "<d"}[bits], value), "little")
