"""Texts that Triton's tests quote from another release: compared with what Triton 3.9 prints for the same program.

A test fails that looks for words of 3.7 in IR or PTX, and 3.9 has other words there. A class of `known.toml` says so by
`golden = "<stage>: <pattern>"`. What the test had compiled was kept (`triton_plugin`), and its lines that match the pattern
are compared with those of Triton 3.9:

- stage `module`: the frontend's module, which FileCheck read; 3.9 ran the same test and left its own (`--peer`);
- stage `expected`: the text that the test expects, without constants' places, blocks that nothing reaches, and names of
  values and of the language's modules (`canonical`);
- stage `ptx`: 3.9 compiles the `ttir` of the test's kernel for the same target and options.

Where both have the same, in the same order, the test's outcome is "golden": nothing differs from Triton 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.conformance.known import Class, load
from tests.conformance.triton_report import Found, Row
from tests.triton_oracle import TritonError, TritonOracle

__all__ = ["judge", "matching", "same"]

PLACE = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.M)
ALIAS = re.compile(r"#loc\d*\b")
CONSTANT = re.compile(r"^ *(%[\w.$-]+) = (arith\.constant .*)$", re.M)


def matching(text: str, pattern: str) -> list[str]:
    """What a pattern finds in a text. IR says places and constants where they are used: in which order they stand at its
    ends, and are numbered, says nothing."""
    places = dict(PLACE.findall(text))
    while any(ALIAS.search(place) for place in places.values()):
        places = {name: ALIAS.sub(lambda at: places[at[0]], place) for name, place in places.items()}
    plain = ALIAS.sub(lambda at: places[at[0]], PLACE.sub("", text))
    constants = dict(CONSTANT.findall(plain))
    plain = CONSTANT.sub("", plain)
    plain = re.sub(
        r"%[\w.$-]+", lambda used: f"{used[0]} = {constants[used[0]]}" if used[0] in constants else used[0], plain
    )
    return [" ".join(found[0].split()) for found in re.finditer(pattern, plain, re.M) if found[0].strip()]


UNREACHED = re.compile(r"^ *\^bb\d+: *// no predecessors\n(?:(?!^  \}).*\n)*", re.M)
UNUSED = re.compile(r"^ *(%[\w.$-]+) = (arith\.constant .*|ub\.poison.*)$", re.M)
UNCHANGED = re.compile(r"^ *(%[\w.$-]+) = arith\.bitcast (%[\w.$-]+) : (.*) to \3$", re.M)
VALUE = re.compile(r"%[\w.$-]+")
IDENTITY = re.compile(r"^  tt\.func private (@\S+?)\(%arg0: .*\n *tt\.return %arg0 : .*\n  \}\n", re.M)
CALL = re.compile(r"^ *(%[\w.$-]+) = tt\.call (@\S+?)\((%[\w.$-]+)\) : .*\n", re.M)
BROADCAST = re.compile(r"^ *(%[\w.$-]+) = (tt\.broadcast .*)\n", re.M)


def canonical(text: str) -> list[str]:
    """The lines of a module without what two frontends may do differently with one meaning.

    Constants are where they are used; blocks without predecessors (behind a return) and casts to a value's own type are
    left out, as are calls of functions that return their argument and repeated broadcasts; values are numbered in the
    order of their places; modules of the language have Triton's names.
    """
    text = re.sub(r"tritium\.(frontend\.)?language", "triton.language", UNREACHED.sub("", text))
    identities = set(IDENTITY.findall(text))
    text = IDENTITY.sub("", text)
    lines: list[str] = []
    for function in re.split(r"(?=^  tt\.func)", text, flags=re.M):
        same = {a: b for a, b, _ in UNCHANGED.findall(function)}
        same |= {a: b for a, name, b in CALL.findall(function) if name in identities}
        function = CALL.sub(lambda found: "" if found[2] in identities else found[0], UNCHANGED.sub("", function))
        function = VALUE.sub(lambda found: same.get(found[0], found[0]), function)
        function = _without_repeated(function)
        constants = dict(UNUSED.findall(function))
        function = VALUE.sub(lambda found: f"<{constants.get(found[0], found[0])}>", UNUSED.sub("", function))
        numbers: dict[str, str] = {}
        function = VALUE.sub(lambda found: numbers.setdefault(found[0], f"%{len(numbers)}"), function)
        lines += [" ".join(line.split()) for line in function.split("\n") if line.strip()]
    return lines


def _without_repeated(function: str) -> str:
    """The function without broadcasts that an earlier one equals."""
    first: dict[str, str] = {}
    for result, broadcast in BROADCAST.findall(function):
        if broadcast in first:
            function = re.sub(rf"^ *{re.escape(result)} = .*\n", "", function, flags=re.M)
            function = re.sub(rf"{re.escape(result)}(?![\w.$-])", first[broadcast], function)
        first.setdefault(broadcast, result)
    return function


def judge(found: Found, peer: str | None) -> None:
    """Give failures of golden classes the outcome "golden" where Triton 3.9 (`peer`, an interpreter) prints the same.

    Without a peer only the stage `expected` is compared.
    """
    golden = {known.name: known for known in load() if known.golden}
    oracle = None if peer is None else TritonOracle(peer)
    try:
        for row in found.failures().values():
            if row["class"] in golden and same(row, golden[row["class"]], oracle):
                row.update(outcome="golden", golden=row["class"])
    finally:
        if oracle is not None:
            oracle.close()


def same(row: Row, known: Class, oracle: TritonOracle | None) -> bool:
    """Whether the texts of a failed test are those of Triton 3.9, as far as its class compares them."""
    stage, _, pattern = known.golden.partition(": ")
    ours: Mapping[str, Any] = row.get("texts") or {}
    if stage == "expected":
        return "expect" in ours and canonical(ours["expect"]) == canonical(ours["actual"])
    if stage not in ours or oracle is None:
        return False
    try:
        theirs = their_text(stage, ours, row.get("peer_texts") or {}, oracle)
    except TritonError as error:
        row["golden_error"] = str(error)[-2000:]
        return False
    row["golden_lines"] = matching(ours[stage], pattern), matching(theirs, pattern)
    return bool(row["golden_lines"][0]) and row["golden_lines"][0] == row["golden_lines"][1]


def their_text(stage: str, ours: Mapping[str, Any], peers: Mapping[str, Any], oracle: TritonOracle) -> str:
    """The stage's text as Triton 3.9 has it; empty where nobody asked."""
    if stage == "module":
        return str(peers.get("module", ""))
    return oracle.compile_text(ours["ttir"], ours["target"], "ttir", **ours["options"])[stage]
