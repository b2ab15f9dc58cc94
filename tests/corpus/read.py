"""Read files of MLIR with our parser: how many parse, verify, and print back byte for byte.

    python tests/corpus/read.py FILE|FOLDER...            (folders with everything below them)

For each file the checks of `faults` run, on the text as it stands (with locations where it has them). Prints the number
of files that pass, and the first fault of each that does not; exits with 1 where there is one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import tritium.dialects.all  # noqa: F401  (whatever the texts name)
from tritium.ir import Operation, ParseError, VerificationError, parse_module, print_op, verify

__all__ = ["faults"]


def difference(expected: str, got: str) -> str:
    """The first line in which two texts differ."""
    for number, (a, b) in enumerate(zip(expected.splitlines(), got.splitlines()), 1):
        if a != b:
            column = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            start = max(0, column - 60)
            return f"line {number}\n    - {a[start : column + 100]}\n    + {b[start : column + 100]}"
    return "one text is longer"


def faults(text: str, name: str = "text") -> Iterator[tuple[str, str]]:
    """(kind, message) of what goes wrong with a text that MLIR printed; kinds: parse, verify, print, generic, plain."""
    locations = " loc(" in text
    try:
        module: Operation = parse_module(text, name)
    except ParseError as error:
        yield "parse", str(error)
        return
    try:
        verify(module)
    except VerificationError as error:
        yield "verify", str(error)
        return
    again = print_op(module, locations=locations) + "\n"
    if again != text.rstrip("\n") + "\n":
        yield "print", difference(text, again)
    generic = print_op(module, generic=True, locations=locations)
    if print_op(parse_module(generic), locations=locations) + "\n" != again:
        yield "generic", difference(again, print_op(parse_module(generic), locations=locations) + "\n")
    plain = print_op(module)
    if print_op(parse_module(plain)) != plain:
        yield "plain", difference(plain, print_op(parse_module(plain)))


def main() -> int:
    files: list[Path] = []
    for argument in sys.argv[1:]:
        path = Path(argument)
        files += sorted(path.rglob("*.mlir")) if path.is_dir() else [path]
    counts: Counter[str] = Counter()
    for path in files:
        found = list(faults(path.read_text(), str(path)))
        counts[found[0][0] if found else "good"] += 1
        for kind, message in found[:1]:
            print(f"{path}: {kind}: {message[:600]}")
    print(f"{len(files)} files: {', '.join(f'{n} {kind}' for kind, n in counts.most_common())}")
    return 0 if set(counts) <= {"good"} else 1


if __name__ == "__main__":
    sys.exit(main())
