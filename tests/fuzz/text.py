"""Damaged and hostile texts: each gives a module or one error with a place, soon, and nothing else.

    python -m tests.fuzz.text --count 100000 --seed 1 [--more FOLDER] [--show]

takes the tests' own texts (and those of FOLDER), damages them, and reads what comes out. A text is a finding when

- reading raises anything but one `ParseError` with a line, or takes longer than `SECONDS`;
- what was read cannot be printed (pretty, generic, with locations) or checked by the verifier;
- it passes the verifier, and its print does not come back as the same print.

The exit status is 1 when there are findings. Each is printed with its number, from which `--only` makes it again.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from tritium.dialects import all as every_dialect
from tritium.ir import Operation, ParseError, VerificationError, parse_module, print_op, verify

assert every_dialect
ROOT = Path(__file__).parents[1]
#: Of the processor's time, the best of three.
SECONDS = 1.0
#: Process-wide ceiling of the long run, in bytes of address space.
MEMORY = 4 << 30
LONGEST_SEED = 6000

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[\w$.]+|->|::|[^\s\w]', re.ASCII)
WORDS = """
% @ # ! ^ < > ( ) [ ] { } : , = -> :: " loc( ) loc(unknown) loc("a":1:2) callsite fused at dense array true unit
affine_map dense_resource strided distinct tensor memref vector tuple complex none index i1 i0 i32 f32 f8E4M3FN bf16
!tt.ptr<f32> #blocked #ttg.blocked #loc #shared1 !ttg.memdesc<4xf32> module tt.func arith.addi "arith.addi" scf.for
scf.yield tt.return ^bb0 ^bb1 %0 %arg0 %x#1 0 1 -1 0x7FC00000 1.0 -0.0 1e5 attributes {k} <{}> iter_args to step
""".split() + [
    "i99999999", "i16777215", "si7", "99999999999999999999999", "0x" + "F" * 300, "9" * 5000, "1.0e999", "1" * 400 + ".5",
    "tensor<999999999999x999999999999xf32>", "tensor<9223372036854775807xi8>", "tensor<?x*x[4]xf32>",
    'dense<"0xFFFF">', "dense<[[1, 2], [3]]>", "dense<1> : tensor<999999999999xi32>", "array<i8: 300>",
    "\0", "\x01", "\x011\x01", "\u00e9", "\u2028", "\ud800", "\U0001f600", "\t", "\r", "\x0b", "\\", '"\\xZZ"', "// comment",
    "{-# external_resources: {} #-}", "#a = #b", "#b = #a", "!t = !t", "%", "%0:99999999", "%0:2 =",
]  # fmt: skip
#: Openings of what can nest, and a middle and closing that fit.
NESTS = [
    ("[", "1", "]"), ("(", "i32", ")"), ("{a = ", "1", "}"), ("tuple<", "i32", ">"), ("tensor<4x", "f32", ">"),
    ("!tt.ptr<", "f32", ">"), ("(i32) -> ", "i32", ""), ("dense<[", "1", "]>"), ("fused[", '"a"', "]"),
    ('"x"(', "unknown", ")"), ("callsite(", '"a"', ' at "b")'), ("#ttg.slice<{dim = 0, parent = ", "#blocked", "}>"),
    ("<", "1", ">"), ("scf.if %c {", "", "}"), ("module {", "", "}"), ('"a.b"() ({', "", "}) : () -> ()"),
    ("scf.execute_region {", "scf.yield", "}"), ("vector<2x", "f32", ">"), ("@a::", "@b", ""), ("complex<", "f32", ">"),
]  # fmt: skip


def seeds(more: Path | None = None) -> list[str]:
    """Texts that can be read, to be damaged."""
    texts: set[str] = set()
    folders = [ROOT / "filetests", ROOT / "dialects", *([more] if more else [])]
    for path in sorted(p for folder in folders for p in folder.rglob("*.mlir")):
        for part in re.split(r"^// -----.*$|^// OUTPUT$", path.read_text(), flags=re.MULTILINE):
            if len(part) <= LONGEST_SEED and part.strip():
                texts.add(part)
    return sorted(texts)


class Damage:
    """Makes one hostile text from a number."""

    def __init__(self, texts: list[str], seed: int, number: int) -> None:
        self.random = random.Random(seed * 1_000_003 + number)
        self.texts = texts

    def text(self) -> str:
        """A seed after a few kinds of damage."""
        r = self.random
        text = r.choice(self.texts)
        kinds = [self.characters, self.cut, self.splice, self.tokens, self.swap, self.nest, self.aliases, self.lines]
        for _ in range(r.choice((1, 1, 1, 2, 3, 6))):
            text = r.choices(kinds, (3, 2, 2, 6, 4, 1, 1, 2))[0](text)
        return text

    def characters(self, text: str) -> str:
        """Other characters at random places."""
        out = list(text)
        for _ in range(self.random.randint(1, 8)):
            if out:
                at = self.random.randrange(len(out))
                out[at] = chr(
                    self.random.choice((ord(out[at]) ^ 1 << self.random.randrange(7), 0, 1, 10, 34, 0xD800, 233))
                )
        return "".join(out)

    def cut(self, text: str) -> str:
        """An end missing, or a piece in the middle."""
        a, b = sorted(self.random.randrange(len(text) + 1) for _ in range(2))
        return self.random.choice((text[:a], text[a:], text[:a] + text[b:]))

    def splice(self, text: str) -> str:
        """A piece of another text in the middle."""
        other = self.random.choice(self.texts)
        a, b = sorted(self.random.randrange(len(other) + 1) for _ in range(2))
        at = self.random.randrange(len(text) + 1)
        return text[:at] + other[a : min(b, a + 400)] + text[at:]

    def tokens(self, text: str) -> str:
        """Tokens replaced, inserted, doubled, removed."""
        found = list(TOKEN.finditer(text))
        for _ in range(self.random.randint(1, 4)):
            if not found:
                break
            m = self.random.choice(found)
            new = self.random.choice((self.random.choice(WORDS), self.random.choice(found)[0], ""))
            new = self.random.choice((new, m[0] + " " + new, m[0] + m[0]))
            if m.end() <= len(text):
                text = text[: m.start()] + new + text[m.end() :]
                found = [f for f in found if f.end() <= m.start()]
        return text

    def swap(self, text: str) -> str:
        """Two tokens in each other's place."""
        found = list(TOKEN.finditer(text))
        if len(found) < 2:
            return text
        a, b = sorted(self.random.sample(range(len(found)), 2))
        x, y = found[a], found[b]
        return text[: x.start()] + y[0] + text[x.end() : y.start()] + x[0] + text[y.end() :]

    def nest(self, text: str) -> str:
        """Brackets in brackets, closed or not."""
        opening, middle, closing = self.random.choice(NESTS)
        n = self.random.choice((1, 3, 5, 30, 39, 41, 100, 300, 2000, 20000))
        inner = opening * n + middle + closing * self.random.choice((n, n, n - 1, 0))
        found = list(TOKEN.finditer(text))
        if not found:
            return inner
        m = self.random.choice(found)
        return text[: m.start()] + inner + text[m.end() :]

    def aliases(self, text: str) -> str:
        """Definitions that go round in circles, grow without end, or come twice."""
        r = self.random
        n = r.choice((2, 10, 30, 200, 2000))
        form = r.choice(("[#a{0}, #a{0}]", "{{k = #a{0}, l = #a{0}}}", 'loc(callsite(#a{0} at #a{0}))', 'loc("x"(#a{0}))',
                         'loc(fused<#a{0}>[#a{0}, "b"])', "tensor<4xf32, #a{0}>", "[!t{0}]"))  # fmt: skip
        first = "1" if "loc" not in form else 'loc("a":1:1)'
        lines = [f"#a0 = {r.choice((first, '#a1', f'#a{n}'))}"]
        lines += [f"#a{i} = {form.format(i - 1)}" for i in range(1, n)]
        lines += ["!t0 = i32", *[f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>" for i in range(1, n)]]
        if r.random() < 0.3:
            r.shuffle(lines)
        use = f"#a{n - 1}" if r.random() < 0.7 else f"!t{n - 1}"
        found = list(TOKEN.finditer(text))
        if found and r.random() < 0.5:
            m = r.choice(found)
            text = text[: m.start()] + use + text[m.end() :]
        else:
            lines.append(f"module attributes {{tt.k = {use}}} {{\n}}")
        return "\n".join(lines) + "\n" + text

    def lines(self, text: str) -> str:
        """Lines moved, doubled, dropped."""
        lines = text.split("\n")
        at, to = self.random.randrange(len(lines)), self.random.randrange(len(lines))
        kind = self.random.randrange(3)
        line = lines[at] if kind == 1 else lines.pop(at)
        if kind < 2:
            lines.insert(to, line)
        return "\n".join(lines)


def examine(text: str) -> tuple[str, str]:
    """What became of a text, and what is wrong with that: "" when all is well."""
    gc.freeze()  # collecting what other tests left is not timed with what this text makes
    try:
        return _examine(text)
    finally:
        gc.unfreeze()


def _read(text: str) -> tuple[Operation | ParseError, float]:
    """The module of a text, or the error, and the seconds that takes."""
    start = time.process_time()
    module: Operation | ParseError
    try:
        module = parse_module(text, "fuzz.mlir", allow_unregistered=len(text) % 2 == 0)
    except ParseError as error:
        module = error.with_traceback(None)
    return module, time.process_time() - start


def _examine(text: str) -> tuple[str, str]:
    module, took = _read(text)
    for _ in range(2):  # what is late is read again: a neighbour may have been busy
        if took > SECONDS:
            module, again = _read(text)
            took = min(took, again)
    if isinstance(module, ParseError):
        shown = str(module)
        if module.diagnostic.line < 1 or len(shown) > 8000:
            return "error", f"an error without a place, or of {len(shown)} characters: {shown[:300]}"
        return "error", f"{took:.1f} s until the error" if took > SECONDS else ""
    if took > SECONDS:
        return "module", f"{took:.1f} s to read"
    try:
        verify(module)
    except VerificationError as error:
        assert str(error)
        print_op(module, locations=True)
        print_op(module, generic=True)
        return "broken", ""
    for form in ({}, {"generic": True}, {"locations": True}):
        printed = print_op(module, **form)
        again = print_op(parse_module(printed, "again.mlir", allow_unregistered=len(text) % 2 == 0), **form)
        if again != printed:
            lines = zip(again.split("\n"), printed.split("\n"))
            return "module", "printed otherwise: " + next((f"{a!r} for {b!r}" for a, b in lines if a != b), "")[:600]
    return "module", ""


class Slow(Exception):
    """A text took too long."""


def _too_slow(*_: object) -> None:
    raise Slow


def finding(text: str, limit: float = 10 * SECONDS) -> tuple[str, str]:
    """`examine`, with everything that must not happen as a finding too."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return examine(text)
    except Slow:
        return "slow", "too slow:\n" + "".join(traceback.format_exc().splitlines(keepends=True)[-8:])
    except BaseException as error:  # noqa: B036  (a crash of any kind is what is looked for)
        if isinstance(error, KeyboardInterrupt):
            raise
        trace = traceback.format_exc().splitlines()
        where = [line.strip() for line in trace if line.startswith("  File")][-3:]
        return "crash", f"{type(error).__name__}: {str(error)[:300]}\n    " + "\n    ".join(where)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one text, which is shown")
    parser.add_argument("--more", type=Path, help="a folder with more texts to damage")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    texts = seeds(options.more)
    numbers = range(options.count) if options.only is None else [options.only]
    outcomes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    slowest = 0.0
    for number in numbers:
        text = Damage(texts, options.seed, number).text()
        if options.only is not None:
            sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
        start = time.process_time()
        outcome, wrong = finding(text)
        slowest = max(slowest, time.process_time() - start)
        outcomes[outcome] += 1
        if wrong:
            kind = wrong.rpartition("\n")[2][:200] if outcome in ("crash", "slow") else wrong[:40]
            kinds[kind] += 1
            if kinds[kind] <= 2:
                print(f"--seed {options.seed} --only {number}: {outcome}: {wrong}", flush=True)
    print(f"{len(numbers)} texts from {len(texts)}: {dict(outcomes)}; slowest {slowest:.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{sum(kinds.values())} findings of {len(kinds)} kinds; peak memory {peak} MiB")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
