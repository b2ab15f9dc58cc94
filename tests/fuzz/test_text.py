"""Hostile texts: a seeded share of what `python -m tests.fuzz.text` does at length, and traps of full size."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.conftest import SEED
from tests.fuzz.text import SECONDS, Damage, examine, finding, seeds
from tritium.ir import ParseError, parse_attribute, parse_module, parse_type, print_op, verify

TEXTS = seeds()
MEGABYTE = 1 << 20


@pytest.mark.sample(2, "part")
@pytest.mark.parametrize("part", range(4))
def test_damaged_texts(part):
    for number in range(part * 400, part * 400 + 400):
        text = Damage(TEXTS, SEED, number).text()
        outcome, wrong = finding(text)
        assert not wrong, f"python -m tests.fuzz.text --seed {SEED} --only {number}: {outcome}: {wrong}"


def test_the_undamaged_texts_are_read():
    outcomes = [examine(text) for text in TEXTS]
    assert not any(wrong for _, wrong in outcomes)
    assert sum(outcome == "module" for outcome, _ in outcomes) > 0.7 * len(TEXTS)


def chain(n: int, first: str, form: str) -> str:
    """n aliases, each made of the one before."""
    lines = [f"#a0 = {first}", *[f"#a{i} = {form.replace('@', f'#a{i - 1}')}" for i in range(1, n)]]
    return "\n".join(lines) + f"\nmodule attributes {{tt.k = #a{n - 1}}} {{\n}}\n"


def types(n: int) -> str:
    lines = ["!t0 = i32", *[f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>" for i in range(1, n)]]
    return "\n".join(lines) + f"\nmodule attributes {{tt.k = !t{n - 1}}} {{\n}}\n"


def values(n: int) -> str:
    """A function of n operations, each on the one before."""
    lines = [f"%{i} = arith.addi %{i - 1}, %{i - 1} : i32" for i in range(1, n)]
    return "tt.func @f(%0: i32) {\n" + "\n".join(lines) + "\ntt.return\n}"


K = "module attributes {tt.k = %s} {\n}\n"
#: What must be an error, soon: nesting without end, aliases that grow without end, and what is too large or unfinished.
TRAPS = {
    "brackets": K % ("[" * 100_000),
    "closed brackets": K % ("[" * 100_000 + "]" * 100_000),
    "dictionaries": K % ("{a = " * 100_000),
    "tuples": K % ("tuple<" * 100_000),
    "tensors": K % ("tensor<4x" * 100_000),
    "functions": K % ("(" * 100_000),
    "arrows": K % ("() -> " * 100_000),
    "pointers": K % ("!tt.ptr<" * 100_000 + "f32" + ">" * 100_000),
    "slices": K % ("#ttg.slice<{dim = 0, parent = " * 100_000),
    "locations": 'module {} loc("x"(' + '"y"(' * 100_000,
    "call sites": "module {} loc(" + "callsite(" * 100_000,
    "fused": "module {} loc(" + "fused[" * 100_000,
    "regions": '"a.b"() ({' * 20_000,
    "modules": "module {" * 20_000,
    "branches": "tt.func @f(%c: i1) {" + "scf.if %c {" * 20_000,
    "dense": K % ("dense<" + "[" * 100_000 + "1" + "]" * 100_000 + "> : tensor<1xi32>"),
    "unclosed dense": K % ("dense<[1, " * 100_000),
    "angles": K % ("#foo.bar<" + "<" * 1_000_000),
    "circle": "#a = #b\n#b = #a\n" + K % "#a",
    "self": "!t = !t\n" + K % "!t",
    "attribute bomb": chain(200, "1", "[@, @]"),
    "dictionary bomb": chain(60, "1", "{k = @, l = @}"),
    "location bomb": chain(60, 'loc("a":1:1)', "loc(callsite(@ at @))"),
    "metadata bomb": chain(60, 'loc("a":1:1)', "loc(fused<@>[@])"),
    "name chain": chain(5000, 'loc("a":1:1)', 'loc("x"(@))'),
    "array chain": chain(5000, "1", "[@]"),
    "late chain": "\n".join(reversed(chain(20_000, "1", "[@]").split("\n"))),
    "type bomb": types(200),
    "wide alias": "#a = [" + "1, " * 100_000 + "1]\n" + K % "[#a]",
    "wide integer": K % "1 : i99999999",
    "wide unsigned": K % "ui16777216",
    "huge integer": K % ("9" * (10 * MEGABYTE)),
    "huge hex": K % ("0x" + "F" * (10 * MEGABYTE)),
    "huge hex float": K % ("0x" + "F" * (10 * MEGABYTE) + " : f32"),
    "huge dimension": K % ("tensor<" + "9" * (10 * MEGABYTE) + "xf32>"),
    "huge width": K % ("i" + "9" * (10 * MEGABYTE)),
    "huge name": "tt.func @f() {\n%" + "x" * (10 * MEGABYTE) + "\n}",
    "huge undefined name": "tt.func @f() {\ntt.return %" + "x" * (10 * MEGABYTE) + " : i32\n}",
    "huge operation": "a." + "x" * (10 * MEGABYTE),
    "huge generic operation": '"a.' + "x" * (10 * MEGABYTE) + '"',
    "huge string": '"' + "x" * (10 * MEGABYTE),
    "huge label": "tt.func @f() {\n^" + "x" * (10 * MEGABYTE) + "\n}",
    "long line": "tt.return " * 20_000 + "}",
    "huge comment": "//" + "x" * (10 * MEGABYTE) + "\n}",
    "huge location": 'module {} loc("a":' + "1" * (10 * MEGABYTE) + ":1)",
    "blanks": " " * (10 * MEGABYTE) + "}",
    "comments": "//\n" * MEGABYTE + "}",
    "quotes": '"' * (MEGABYTE + 1),
    "hashes": "#" * MEGABYTE,
    "definitions": "#a =\n" * 100_000,
    "results": "tt.func @f() {\n%0:999999999999 = tt.return\n}",
    "commas": K % ("[" + "," * MEGABYTE),
    "resources": "module {}\n{-# " + "a: {" * 100_000,
    "elements": K % "dense<[1, 2]> : tensor<999999999999x999999999999xi32>",
    "bytes": K % ('dense<"0x' + "00" * (4 * MEGABYTE) + '"> : tensor<3xi8>'),
    "shape": K % ("tensor<" + "2x" * 1_000_000 + "f32"),
    "undefined values": values(5000).replace("%0: i32", ""),
    "undefined blocks": "tt.func @f() {\n" + "\n".join(f"cf.br ^bb{i}" for i in range(20_000)) + "\n}",
    "byte order": "\ufeffmodule {}",
    "zeros": "\0" * MEGABYTE + "}",
    "letters": "é" * MEGABYTE,
}


@pytest.mark.sample(3, "name")
@pytest.mark.parametrize("name", TRAPS)
def test_traps_are_errors(name):
    outcome, wrong = finding(TRAPS[name])
    assert not wrong and outcome == "error", wrong or outcome


#: What is large or strange, but right.
LARGE = {
    "wide attribute": K % ("[" + "1, " * 50_000 + "1]"),
    "splat of many": K % "dense<1> : tensor<999999999999x999999999999xi32>",
    "long string": K % ('"' + "x" * MEGABYTE + '"'),
    "many digits": K % ("0x" + "F" * 3000 + " : i12000"),
    "deep enough": K % ("[" * 30 + "1" + "]" * 30),
    "long name": "tt.func @f() {\n%" + "x" * MEGABYTE + " = arith.constant 1 : i32\ntt.return\n}",
    "shared": chain(10, "1", "[@, @]"),
    "call chain": chain(60, 'loc("a":1:1)', 'loc(callsite("x" at @))'),
    "bytes": K % ('dense<"0x' + "01" * 50_000 + '02"> : tensor<50001xi8>'),
    "surrogates": K % '"\ud800\udcff\\FF"',
}


@pytest.mark.parametrize("name", LARGE)
def test_large_texts_are_read(name):
    outcome, wrong = finding(LARGE[name])
    assert not wrong and outcome == "module", wrong or outcome


def test_nesting_that_is_read_can_be_printed_verified_and_cloned():
    def nested(depth: int) -> str:
        return "tt.func @f(%c: i1) {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "tt.return\n}"

    module = parse_module(nested(300))
    verify(module)
    assert print_op(parse_module(print_op(module.clone()))) == print_op(module)
    with pytest.raises(ParseError, match="nested too deeply"):
        parse_module(nested(30_000))


def test_memory_is_in_proportion_to_the_text():
    tracemalloc.start()
    try:
        for text in (types(200), chain(200, "1", "[@, @]"), TRAPS["tensors"], TRAPS["elements"], TRAPS["results"]):
            with pytest.raises(ParseError):
                parse_module(text)
        assert tracemalloc.get_traced_memory()[1] < 64 * MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["", "<", "tensor<", "i", "\0", '"', "!", "#", "%x", "[" * 3000, "i32 i32"])
def test_types_and_attributes_by_themselves(text):
    for read in (parse_type, parse_attribute):
        with pytest.raises(ParseError):
            read(text)


def test_the_limit_is_a_second():
    assert SECONDS <= 1.0
