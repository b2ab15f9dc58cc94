"""Texts with their operations: MLIR by parsing and printing it again, machine code by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..dialects import all as _dialects
from ..ir import Operation, parse_module
from ..ir import Value as IRValue
from ..ir.aliases import Aliases
from ..ir.naming import Naming, naming_root
from ..ir.printer import Printer
from .json_types import Json
from .model import Op, Text, Value

__all__ = ["machine_text", "mlir_text", "python_text", "shape_of"]

assert _dialects.MODULES  # texts may have operations of all dialects

LARGEST = 2_000_000
"""Characters of a text that is parsed; larger ones are shown without operations."""

_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_OPCODE = re.compile(r"^\s*(?:@!?%?\w+\s+)?([a-zA-Z_][\w.]*)")
_REGISTER = {
    "ptx": re.compile(r"%(?:r|rd|rs|f|fd|p|rq|h|hh|b|rl)\d+\b"),
    "amdgcn": re.compile(r"\b[vsa](?:\d+|\[\d+:\d+\])(?!\w)"),
    "asm": re.compile(r"%[a-z]\w*"),
}


class _LinePrinter(Printer):
    """A printer that notes where in its output each operation begins."""

    __slots__ = ("begun",)

    def __init__(self, op: Operation) -> None:
        super().__init__(Naming(naming_root(op)), aliases=Aliases())
        self.begun: list[tuple[int, Operation]] = []

    def operation(self, op: Operation) -> None:
        """Print an operation."""
        self.begun.append((len(self.out), op))
        super().operation(op)


def mlir_text(record: Mapping[str, Json]) -> Text:
    """The text of a record of the kind `ir` with its operations and values."""
    text, files = record["text"], list(record.get("files", ()))
    out = Text(record["hash"], "mlir", text, files)
    places: dict[int, list[int]] = {}
    for line, file, row, column in record.get("lines", ()):
        places.setdefault(line, [file, row, column])
    if len(text) > LARGEST:
        out.problem = f"a text of {len(text):,} characters is shown without its operations"
        return out
    try:
        module = parse_module(text, "text")
    except Exception as error:  # an unknown dialect, or a text that was edited by hand
        out.problem = str(error).split("\n")[0]
        return out
    _add_operations(out, module, places)
    return out


def _add_operations(out: Text, module: Operation, places: Mapping[int, list[int]]) -> None:
    printer = _LinePrinter(module)
    printer.operation(module)
    body = "".join(printer.out)
    assert printer.aliases is not None
    printed = printer.aliases.finish(body)
    if printed.strip() != out.text.strip():
        out.problem = "the text is not in printed form: operations have no lines"
        return
    line, done = 1 + printed.count("\n") - body.count("\n"), 0
    numbers: dict[IRValue, int] = {}
    for start, op in printer.begun:
        line += sum(piece.count("\n") for piece in printer.out[done:start])
        done = start
        results = [_value(out, numbers, printer.names, r, line) for r in op.results]
        operands = [numbers[v] for v in op.operands if v in numbers]
        for index in operands:
            out.values[index].uses.append(line)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    out.values[_value(out, numbers, printer.names, argument, line)].argument = True
        out.ops.append(Op(line, op.name, results, operands, places.get(line)))


def _value(out: Text, numbers: dict[IRValue, int], names: Mapping[IRValue, str], value: IRValue, line: int) -> int:
    ty: Json = value.type
    encoding = getattr(ty, "encoding", None)
    numbers[value] = len(out.values)
    out.values.append(Value(names[value], str(ty), None if encoding is None else str(encoding), line, [], shape_of(ty)))
    return numbers[value]


def shape_of(ty: Json) -> list[int] | None:
    """The shape of a tensor or buffer type; None for scalars."""
    shape = getattr(ty, "shape", None)
    return [int(n) for n in shape] if isinstance(shape, (tuple, list)) and shape else None


def python_text(id: str, file: str, text: str) -> Text:
    """A source file."""
    return Text(id, "python", text, [file])


def machine_text(id: str, language: str, text: str) -> Text:
    """PTX, AMDGCN or assembly with the places of its `.loc` lines, LLVM IR with those of its metadata."""
    out = Text(id, language, text)
    if language == "llir":
        _llvm_operations(out)
    elif len(text) <= LARGEST:
        _instructions(out)
    return out


def _instructions(out: Text) -> None:
    lines = out.text.split("\n")
    files, numbers = _files(lines), dict[str, int]()
    out.files = list(dict.fromkeys(files.values()))
    place: list[int] | None = None
    for line, text in enumerate(lines, 1):
        loc = _LOC.match(text)
        if loc is not None:
            file = files.get(loc[1])
            place = None if file is None or loc[2] == "0" else [out.files.index(file), int(loc[2]), int(loc[3] or 0)]
            continue
        code = re.split(r"//|;(?=\s*$)|#APP|\s#\s", text)[0]
        opcode = _OPCODE.match(code)
        if opcode is None or code.lstrip().startswith((".", "#", ";", "$")) or code.rstrip().endswith((":", ",", "(")):
            continue
        out.ops.append(Op(line, opcode[1], *_registers(out, numbers, code, line), place))


def _files(lines: Sequence[str]) -> dict[str, str]:
    out = {}
    for text in lines:
        found = _FILE.match(text)
        if found is not None:
            folder, name = (found[2], found[3]) if found[3] else ("", found[2])
            out[found[1]] = name if name.startswith("/") or not folder else f"{folder}/{name}"
    return out


def _registers(out: Text, numbers: dict[str, int], code: str, line: int) -> tuple[list[int], list[int]]:
    """The registers that an instruction names: the first is its result, unless it stores, branches or waits."""
    pattern = _REGISTER.get(out.language)
    found = [] if pattern is None else list(dict.fromkeys(pattern.findall(code)))
    opcode = _OPCODE.match(code)
    name = opcode[1] if opcode else ""
    stores = re.match(r"st\b|st\.|red|bar|bra|ret|cp\.|.*_store|s_waitcnt|s_barrier|s_cbranch|s_endpgm", name)
    guard = re.match(r"\s*@!?(%?\w+)", code)
    results: list[int] = []
    operands: list[int] = []
    for register in found:
        first = register not in numbers
        if first:
            numbers[register] = len(out.values)
            out.values.append(Value(register, "register", None, line, []))
        is_result = not stores and not results and not (guard and guard[1] == register)
        (results if is_result else operands).append(numbers[register])
        if not (is_result and first):
            out.values[numbers[register]].uses.append(line)
    return results, operands


_DBG = re.compile(r"!dbg !(\d+)\s*$")
_METADATA = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)\s*$")
_LLVM = re.compile(r"^\s+(?:(%[\w.\-\"]+) = )?(?:tail |musttail |notail )?([a-z]\w*)\b")


def _llvm_operations(out: Text) -> None:
    lines = out.text.split("\n")
    nodes = {m[1]: (m[2], m[3]) for m in map(_METADATA.match, lines) if m}
    for line, text in enumerate(lines, 1):
        found = _LLVM.match(text)
        if found is not None and not text.startswith("!"):
            at = _DBG.search(text)
            out.ops.append(Op(line, found[2], [], [], None if at is None else _llvm_place(out, nodes, at[1])))


def _llvm_place(out: Text, nodes: Mapping[str, tuple[str, str]], number: str) -> list[int] | None:
    kind, fields = nodes.get(number, ("", ""))
    line, column = _field(fields, "line"), _field(fields, "column")
    scope = re.search(r"\bscope: !(\d+)", fields)
    if kind != "DILocation" or not line or scope is None:
        return None
    file = re.search(r"\bfile: !(\d+)", nodes.get(scope[1], ("", ""))[1])
    _, about = nodes.get(file[1], ("", "")) if file else ("", "")
    name = re.search(r'filename: "(.*?)", directory: "(.*?)"', about)
    if name is None:
        return None
    path = f"{name[2]}/{name[1]}" if name[2] and not name[1].startswith("/") else name[1]
    if path not in out.files:
        out.files.append(path)
    return [out.files.index(path), line, column or 0]


def _field(text: str, name: str) -> int:
    found = re.search(rf"\b{name}: (\d+)", text)
    return int(found[1]) if found else 0


def sass_text(id: str, code: Sequence[Json], kernel: str) -> Text:
    """SASS of `disassembler.instructions_of`; `note` says what an instruction waits for."""
    out = Text(id, "sass", "")
    lines = [f"Function:{kernel}"]
    for instruction in code:
        lines += [f"{label}:" for label in instruction.labels]
        lines.append(f"{instruction.control}\t{instruction.text}")
        place = None
        if instruction.line:
            if instruction.file not in out.files:
                out.files.append(instruction.file)
            place = [out.files.index(instruction.file), instruction.line, 0]
        out.ops.append(Op(len(lines), instruction.opcode, [], [], place, _control(instruction.control)))
    out.text = "\n".join(lines) + "\n"
    return out


def _control(fields: str) -> str:
    """A control field in words.

    >>> _control("03:-:2:Y:4")
    'waits for barriers 0 and 1, sets barrier 2 when its result is written, may switch warps, stalls 4 cycles'
    """
    mask, read, write, switch, stall = (fields.split(":") + [""] * 5)[:5]
    waits = [str(i) for i in range(6) if mask.isdigit() and int(mask) >> i & 1]
    parts = [f"waits for barrier{'s' * (len(waits) > 1)} {' and '.join(waits)}"] if waits else []
    parts += [f"sets barrier {read} when its operands are read"] if read.isdigit() else []
    parts += [f"sets barrier {write} when its result is written"] if write.isdigit() else []
    parts += ["may switch warps"] if switch == "Y" else []
    parts += [f"stalls {stall} cycles"] if stall.isdigit() else []
    return ", ".join(parts)


def operations_at(text: Text) -> Iterator[tuple[str, int, int, int]]:
    """(file, line, column, line of the text) of all operations with a place."""
    for op in text.ops:
        if op.place is not None:
            yield text.files[op.place[0]], op.place[1], op.place[2], op.line
