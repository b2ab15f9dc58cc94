"""Vector masks made from sign bits, which LLVM's code generator gets wrong on AVX-512, made otherwise.

LLVM 22 makes a mask of the sign bits of a vector with `vpmovb2m` and its like, and its last pass on machine code
(x86-compress-evex) replaces that and the `kmov` behind it by `vpmovmskb` — also where the vector is in one of the
registers 16 to 31, which that instruction cannot name: it reads the register 16 below (llvm/llvm-project#191304), and
also where another block reads the mask, which nothing sets any longer (#198197). Neither llvmlite nor LLVM has a
switch for it.

Sign bits are asked for by two operations: a comparison with zero (or minus one), and a truncation to `i1`. Here both
compare with a number that the code generator cannot see through, which makes it a `vpcmp` or `vptestm`; these write
masks of their own accord and are as fast.
"""

from __future__ import annotations

import re

__all__ = ["without_sign_masks"]

_VALUE = r"(?:%[\w$.-]+|%\"[^\"]*\"|zeroinitializer|undef|poison|splat \([^)]*\)|<[^>]*>)"
_MASK = re.compile(
    r"^ *(?P<name>%\S+) = (?:"
    rf"trunc (?:nuw |nsw )*<(?P<wide>\d+) x i(?P<of>8|16|32|64)> (?P<whole>{_VALUE}) to <\d+ x i1>"
    r"|icmp (?:samesign )?(?P<predicate>slt|sge|sgt|sle|ult|uge|ugt|ule) "
    rf"<(?P<lanes>\d+) x i(?P<bits>8|16|32|64)> (?P<value>{_VALUE}), (?P<bound>zeroinitializer|splat \(i\d+ -?\d+\))"
    r")(?P<metadata>(?:, ![^\n]*)?)$",
    re.M,
)
_BODY = re.compile(r"^define [^\n]*\{\n(?:[^\s;][^\n]*:[^\n]*\n)?", re.M)


def without_sign_masks(llir: str) -> str:
    """LLVM's text `llir` with the same meaning, in which no mask is visibly made of sign bits."""
    if "x i1>" not in llir:
        return llir
    prefix = "hidden"
    while f"%{prefix}." in llir:
        prefix += "s"
    parts, at = [], 0
    starts = [found.end() for found in _BODY.finditer(llir)]
    for start, end in zip(starts, [*starts[1:], len(llir)], strict=True):
        text = _rewritten(llir[start:end], prefix)
        parts.append(llir[at:start])
        parts.append(text)
        at = end
    return "".join([*parts, llir[at:]])


def _rewritten(body: str, prefix: str) -> str:
    """A function's text from its first instruction on."""
    constants: dict[int, str] = {}

    def made(found: re.Match[str]) -> str:
        mask = found["name"]
        if found["whole"]:
            lanes, bits, value, bound, then = int(found["wide"]), int(found["of"]), found["whole"], 1, "ne"
        else:
            lanes, bits, value, then = int(found["lanes"]), int(found["bits"]), found["value"], found["predicate"]
            bound = 0 if found["bound"] == "zeroinitializer" else int(found["bound"].split()[-1].rstrip(")"))
            if not _is_of_the_sign(then, bound, bits):
                return found[0]
        hidden = constants.setdefault(bound, f"%{prefix}.constant.{len(constants)}")
        own = f"%{prefix}.{mask.strip('%').replace(chr(34), '')}"
        type = f"<{lanes} x i{bits}>"
        lines = [
            f"{own}.scalar = trunc i64 {hidden} to i{bits}" if bits < 64 else f"{own}.scalar = add i64 {hidden}, 0",
            f"{own}.lane = insertelement {type} poison, i{bits} {own}.scalar, i64 0",
            f"{own}.splat = shufflevector {type} {own}.lane, {type} poison, <{lanes} x i32> zeroinitializer",
        ]
        if found["whole"]:
            lines.append(f"{own}.bit = and {type} {value}, {own}.splat")
            lines.append(f"{mask} = icmp ne {type} {own}.bit, zeroinitializer{found['metadata']}")
        else:
            lines.append(f"{mask} = icmp {then} {type} {value}, {own}.splat{found['metadata']}")
        return "\n".join(f"  {line}" for line in lines)

    body = _MASK.sub(made, body)
    hidden = (f'  {name} = call i64 asm "", "=r,0"(i64 {number})\n' for number, name in constants.items())
    return "".join(hidden) + body


def _is_of_the_sign(predicate: str, bound: int, bits: int) -> bool:
    """Does the comparison say no more than which sign a number has?"""
    least = -(1 << bits - 1)
    bounds = {"slt": 0, "sge": 0, "sgt": -1, "sle": -1, "ult": least, "uge": least, "ugt": ~least, "ule": ~least}
    return bounds[predicate] == bound
