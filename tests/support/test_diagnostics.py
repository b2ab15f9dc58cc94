"""The one renderer of messages."""

from __future__ import annotations

import os

from tritium.support import UNKNOWN, CallSiteLoc, Diagnostic, FileLineColLoc, NameLoc

SOURCE = ["@jit", "def kernel(x):", "", "\ty = x @ z", "    return y"]


def test_message_alone():
    assert Diagnostic("no such file").render() == "error: no such file"


def test_position_without_source():
    assert Diagnostic("bad", "a.py", 3, 4).render() == "a.py:3:4: error: bad"


def test_caret_stands_below_the_column_and_tabs_stay():
    lines = Diagnostic("no dot", "a.py", 4, 6, SOURCE, length=5).render().split("\n")
    assert lines[0] == "a.py:4:6: error: no dot"
    assert lines[-2:] == ["    4 | \ty = x @ z", "      | \t    ^^^^^"]
    assert lines[1] == "    2 | def kernel(x):"


def test_first_line_moves_the_numbers():
    text = Diagnostic("bad", "a.py", 41, 1, ["f(x)"], first_line=41).render()
    assert text == "a.py:41:1: error: bad\n   41 | f(x)\n      | ^"


def test_line_outside_the_source_shows_no_excerpt():
    assert Diagnostic("bad", "a.py", 9, 1, SOURCE).render() == "a.py:9:1: error: bad"


def test_caret_at_the_end_of_the_line():
    assert Diagnostic("expected ')'", "a", 1, 5, ["f(x,"], length=9).render().endswith("      |     ^")


def test_notes_then_hint():
    note = Diagnostic("called from here", "a.py", 2, 1, SOURCE, severity="note", context=0)
    text = Diagnostic("bad", "a.py", 5, 5, SOURCE, "try this", [note], context=0).render()
    assert text.split("\n") == [
        "a.py:5:5: error: bad",
        "    5 |     return y",
        "      |     ^",
        "a.py:2:1: note: called from here",
        "    2 | def kernel(x):",
        "      | ^",
        "hint: try this",
    ]


def test_message_at_a_location_has_the_line_of_its_file(tmp_path):
    path = str(tmp_path / "k.py")
    (tmp_path / "k.py").write_text("def k(x):\n    return x + 1\n")
    text = Diagnostic.at(NameLoc("y", FileLineColLoc(path, 2, 12)), "bad", "do this", context=0).render()
    assert text == f"{path}:2:12: error: bad\n    2 |     return x + 1\n      |            ^\nhint: do this"
    assert Diagnostic.at(UNKNOWN, "bad").render() == "error: bad"


def test_message_at_an_inlined_location_has_notes_at_the_calls():
    inner, call = FileLineColLoc("inner.py", 3, 5), FileLineColLoc("outer.py", 7, 9)
    assert Diagnostic.at(CallSiteLoc(inner, call), "bad").render().splitlines() == [
        "inner.py:3:5: error: bad",
        "outer.py:7:9: note: called here",
    ]


def test_message_in_a_library_function_is_at_the_users_call():
    inner, call = FileLineColLoc(f"tritium{os.sep}frontend{os.sep}x.py", 3, 5), FileLineColLoc("outer.py", 7, 9)
    assert Diagnostic.at(NameLoc("s", CallSiteLoc(inner, call)), "bad").render() == "outer.py:7:9: error: bad"
    assert Diagnostic.at(inner, "bad").render().startswith(f"tritium{os.sep}frontend")
