"""Machine code between the lines of the source."""

from __future__ import annotations

from pathlib import Path

from tritium.backends.listing import Coded, calls_of, interleave


def test_lines_stand_above_their_code(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("a = 1\n    b = 2\n")
    rows = [Coded("one", str(file), 1), Coded("two", str(file), 1), Coded("three", str(file), 2), Coded("four", "", 0)]
    calls = {(str(file), 2): ["other.py:9", "kernel.py:7"]}
    assert interleave([*rows, rows[0]], calls) == (
        "kernel.py:1  a = 1\none\ntwo\n"
        "kernel.py:2  b = 2    (called from kernel.py:7, other.py:9)\nthree\n"
        "(no line of the source)\nfour\n"
        "kernel.py:1  a = 1\none\n"
    )


def test_a_source_that_is_gone_has_its_numbers() -> None:
    assert interleave([Coded("one", "/nowhere/kernel.py", 3)]) == "kernel.py:3\none\n"


def test_calls_through_several_functions_and_files() -> None:
    text = r"""
!1 = !DIFile(filename: "k \22a\22.py", directory: "/f")
!2 = !DIFile(filename: "lib.py", directory: "/g")
!3 = distinct !DISubprogram(name: "kernel", scope: !1, file: !1, line: 3)
!4 = distinct !DISubprogram(name: "middle", scope: !2, file: !2, line: 3)
!5 = !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!6 = distinct !DILocation(line: 9, column: 5, scope: !3)
!7 = distinct !DILocation(line: 4, column: 7, scope: !4, inlinedAt: !6)
!8 = !DILocation(line: 40, scope: !5, inlinedAt: !7)
!9 = !DILocation(line: 0, scope: !3)
"""
    assert calls_of(text) == {("/g/lib.py", 4): {'k "a".py:9'}, ('/f/k "a".py', 40): {"lib.py:4"}}
    assert calls_of("define void @f() { ret void }") == {}
