"""The instruction mix of a kernel's SASS: instructions by kind, memory accesses by width; static counts and in loops.

    LDG.128     static count 4, 4 in loops, 16 bytes per thread
    FFMA        static count 64, 64 in loops

Kinds are those of the tables of instructions in NVIDIA's "CUDA Binary Utilities" 13.0, section 4.3 (Instruction Set
Reference). An instruction is in a loop if it is between a label and a later branch back to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ...support.dataclasses import dataclass
from .disassembler import Instruction
from .instructions import Count

__all__ = ["KINDS", "MemoryCount", "instruction_mix", "loops_of", "memory_by_width", "places_of", "width_of"]

_SPACES = {
    "global": r"LDG|STG|ATOMG?|REDG?|LD|ST|UTMALDG|UTMASTG|UTMAREDG|UBLKCP|UBLKRED",
    "global to shared": r"LDGSTS",
    "shared": r"LDS|STS|LDSM|STSM|ATOMS|STAS|REDAS|MOVM",
    "local": r"LDL|STL",
    "constant": r"LDC|LDCU|ULDC",
}

#: The kinds of instructions, in order: name -> pattern of the opcode up to its first dot.
KINDS = {
    "mma": r"[HIDQO]MMA|[HIQB]GMMA|UTC\w*MMA",
    "float32": r"FADD2?|FMUL2?|FFMA2?|FMNMX3?|FSEL|FSETP?|FCHK|FSWZADD|FADD32I|FMUL32I|FFMA32I|FHADD|FHFMA",
    "float64": r"D(?:ADD|MUL|FMA|SETP|MNMX)",
    "float16": r"H(?:ADD2|FMA2|MUL2|SET2|SETP2|MNMX2)\w*",
    "special functions": r"MUFU",
    "conversions": r"[FI]2[FI]P?|F2FP|FRND|I2FP|F2IP",
    "integers": r"IADD3?|IADD32I|IMAD|IMUL|IABS|IDP4?A?|IMNMX|VIADD(?:MNMX)?|VIMNMX3?|VABSDIFF4?|LEA|LOP3?|LOP32I|POPC"
    r"|SHF|SHL|SHR|FLO|BREV|BMSK|SGXT|ISETP|ISCADD|PLOP3|VHMNMX",
    "moves": r"MOV|MOV32I|SEL|PRMT|CS2R|S2R|S2UR|R2UR|P2R|R2P|B2R|R2B",
    "warp": r"SHFL|VOTEU?|MATCH|REDUX|CREDUX",
    **{f"memory: {space}": opcodes for space, opcodes in _SPACES.items()},
    "barriers": r"BAR|SYNCS|MEMBAR|FENCE|(?:CGA)?ERRBAR|DEPBAR|LDGDEPBAR|WARPGROUP|WARPSYNC|ARRIVES|NANOSLEEP|ELECT"
    r"|CCTL|CCTLL|UTMACMDFLUSH|UTMACCTL|UTMAPF|UCGABAR_\w+|ACQBULK|ACQSHMINIT|USETMAXREG|PREEXIT",
    "uniform": r"(?!UTM|UBLK|UTC|ULDC)U\w+",
    "control": r"BRA|BRX|BRXU|JMP|JMXU?|CALL|RET|EXIT|BSSY|BSYNC|BREAK|BMOV|NOP|KILL|BPT|YIELD|WARPSYNC|RPCMOV|PMTRIG",
}
OTHERS = "others"
_KIND = re.compile("|".join(f"(?P<k{i}>(?:{pattern})$)" for i, pattern in enumerate(KINDS.values())))
_NAMES = list(KINDS)
_MEMORY = {name for name in KINDS if name.startswith("memory: ") and name != "memory: constant"}
_WIDTH = re.compile(r"\.(?:[US])?(8|16|32|64|128|256)$")


@dataclass(frozen=True)
class MemoryCount:
    """Accesses of one kind and width: `LDG.128`, the space, bytes per thread (0 for TMA), the static
    count, and the part of it in loops."""

    name: str
    space: str
    bytes: int
    number: int
    in_loops: int


def kind_of(opcode: str) -> str:
    """The kind of an opcode with its modifiers.

    >>> kind_of("LDG.E.128.CONSTANT"), kind_of("HGMMA.64x128x16.F32"), kind_of("UIADD3"), kind_of("IMAD.MOV.U32")
    ('memory: global', 'mma', 'uniform', 'moves')
    """
    if opcode.startswith("IMAD.MOV"):
        return "moves"
    found = _KIND.match(opcode.partition(".")[0])
    return OTHERS if found is None or found.lastgroup is None else _NAMES[int(found.lastgroup[1:])]


def width_of(opcode: str) -> int:
    """The bits per thread of an access; 0 for TMA.

    >>> [width_of(op) for op in ("LDG.E.128", "LDG.E", "STS.U8", "LDSM.16.M88.4", "LDGSTS.E.BYPASS.128", "UTMALDG.2D")]
    [128, 32, 8, 128, 128, 0]
    """
    name, *modifiers = opcode.split(".")
    if name.startswith("U") and name not in ("ULDC", "LDCU"):
        return 0
    if name in ("LDSM", "STSM"):
        return 32 * next((int(m) for m in reversed(modifiers) if m in ("2", "4")), 1)
    found = [int(m[1]) for m in (_WIDTH.match(f".{part}") for part in modifiers) if m]
    return max(found) if found else 32


def loops_of(code: Sequence[Instruction]) -> list[bool]:
    """For each instruction, whether it is in a loop."""
    labels = {label: i for i, instruction in enumerate(code) for label in instruction.labels}
    inside = [False] * len(code)
    for i, instruction in enumerate(code):
        begin = labels.get(instruction.target, i)
        if begin < i:  # a branch to itself is what pads the end of a function
            inside[begin : i + 1] = [True] * (i + 1 - begin)
    return inside


def instruction_mix(code: Sequence[Instruction]) -> dict[str, list[Count]]:
    """Kind -> its opcodes (to their first dot), the most frequent first; kinds without any are left out."""
    total: Counter[tuple[str, str]] = Counter()
    looped: Counter[tuple[str, str]] = Counter()
    for instruction, inside in zip(code, loops_of(code)):
        key = kind_of(instruction.opcode), instruction.opcode.partition(".")[0]
        total[key] += 1
        looped[key] += inside
    out: dict[str, list[Count]] = {name: [] for name in (*KINDS, OTHERS)}
    for (kind, name), number in total.most_common():
        out[kind].append(Count(name, number, looped[kind, name]))
    return {kind: counts for kind, counts in out.items() if counts}


def memory_by_width(code: Sequence[Instruction]) -> list[MemoryCount]:
    """Accesses to memory by space and width, the widest of a space first."""
    total: Counter[tuple[str, str, int]] = Counter()
    looped: Counter[tuple[str, str, int]] = Counter()
    for instruction, inside in zip(code, loops_of(code)):
        kind, bits = kind_of(instruction.opcode), width_of(instruction.opcode)
        if kind in _MEMORY:
            key = kind.partition(": ")[2], instruction.opcode.partition(".")[0], bits
            total[key] += 1
            looped[key] += inside
    order = {space: i for i, space in enumerate(_SPACES)}
    rows = sorted(total, key=lambda key: (order[key[0]], key[1], -key[2]))
    return [MemoryCount(_named(*key), key[0], key[2] // 8, total[key], looped[key]) for key in rows]


def _named(space: str, name: str, bits: int) -> str:
    return f"{name}.{bits}" if bits else name


def places_of(code: Sequence[Instruction], kind: str) -> Counter[tuple[str, int]]:
    """(file, line) -> the static count of instructions of a kind."""
    return Counter((i.file, i.line) for i in code if i.line and kind_of(i.opcode) == kind)
