"""Every kernel in `kernels.py` and `suggestions.py` fails with one clear error at the line that says so."""

import ast
import pickle
import re
import traceback

import pytest

from tests.errors import kernels, suggestions
from tritium.frontend.errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    UnsupportedLanguageConstruct,
    triton_errors,
)
from tritium.frontend.visitor import ast_to_ttir

KERNELS = [*kernels.KERNELS, *suggestions.KERNELS]


def failure(fn, signature, constants):
    with pytest.raises(CompilationError) as info:
        ast_to_ttir(fn, signature, constants)
    return info.value


def expected(fn):
    """(line, message) from the comments of a function, or from the comment of another that names it."""
    tree, lines = fn.parse(), fn.source.lines
    for number in range(tree.lineno, tree.end_lineno + 1):
        found = re.search(r"# error: (.*)$", lines[number - 1])
        if found:
            return number, found[1]
    for number, line in enumerate(lines, 1):
        found = re.search(rf"# error-of: {fn.__name__}: (.*)$", line)
        if found:
            return number, found[1]
    raise AssertionError(f"{fn.__name__} expects no error")


def hints(fn):
    tree = fn.parse()
    # a comment behind the last statement belongs to the function too
    block = fn.source.lines[tree.lineno - 1 : tree.end_lineno + 1]
    return [m[1] for line in block if (m := re.search(r"# hint: (.*)$", line))]


def notes(fn):
    """(line, text) of the notes that the comments of a function expect."""
    tree = fn.parse()
    lines = enumerate(fn.source.lines[tree.lineno - 1 : tree.end_lineno], tree.lineno)
    return [(number, m[1]) for number, line in lines if (m := re.search(r"# note: (.*)$", line))]


CASES = [pytest.param(*case, id=case[0].__name__) for case in KERNELS]


@pytest.mark.parametrize("fn, signature, constants", CASES)
def test_error(fn, signature, constants):
    error = failure(fn, signature, constants)
    line, message = expected(fn)
    text = str(error)
    assert message in error.error_message
    assert error.node.lineno == line, text
    assert f"{fn.source.file}:{line}:" in text
    assert fn.source.lines[line - 1].strip() in text and "^" in text
    for hint in hints(fn):
        assert hint in (error.hint or ""), text
    for number, note in notes(fn):
        assert re.search(rf"{re.escape(fn.source.file)}:{number}:\d+: note: {re.escape(note)}", text), text


@pytest.mark.parametrize("fn, signature, constants", CASES)
def test_no_internal_traceback(fn, signature, constants):
    error = failure(fn, signature, constants)
    shown = "".join(traceback.format_exception(error))
    assert "visitor/core.py" not in shown
    assert "During handling" not in shown and "direct cause" not in shown


def named(name):
    return next(failure(*case) for case in KERNELS if case[0].__name__ == name)


def test_the_only_position_is_file_line_and_column():
    text, node = str(named("undefined_name")), named("undefined_name").node
    assert text.startswith(f"{kernels.__file__}:{node.lineno}:{node.col_offset + 1}: error: ")


def test_scripts_of_triton_get_the_position_within_the_function_too(monkeypatch):
    errors = [named("undefined_name"), named("uses_try")]
    plain = [str(error) for error in errors]
    restored = [pickle.loads(pickle.dumps(error)) for error in errors]
    assert list(map(str, restored)) == plain
    monkeypatch.setattr(triton_errors, "on", True)
    for error, text, position in zip(restored, plain, ("at 2:16:\n", "at 2:4:\n")):
        assert str(error) == str(pickle.loads(pickle.dumps(error))) == position + text


def test_kinds_of_errors():
    assert isinstance(named("uses_try"), UnsupportedLanguageConstruct)
    assert isinstance(named("static_assertion"), CompileTimeAssertionFailure)


def test_chain_of_calls():
    error = named("nested_error")
    assert [frame.name for frame in error.frames] == ["nested_error", "middle", "inner_error"]
    text = str(error)
    assert "note: inner_error is called from middle" in text
    assert "note: middle is called from nested_error" in text


def test_errors_inside_the_library_point_at_the_call():
    error = named("library_error")
    assert [frame.name for frame in error.frames] == ["library_error"]


def test_an_error_survives_pickling():
    error = named("nested_error")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_caret_counts_characters_not_bytes():
    error = named("undefined_name")
    at = str(error).splitlines()
    caret = next(i for i, line in enumerate(at) if "^" in line)
    assert at[caret - 1][at[caret].index("^")] == "m"


def test_every_statement_kind_is_known_or_refused():
    from tritium.frontend.visitor.core import HANDLERS, LATER

    accepted = {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.While, ast.With, ast.Return, ast.Expr}
    assert {kind.__name__ for kind in accepted} <= {*(kind.__name__ for kind in HANDLERS), *LATER}


def test_repeated_calls_are_one_note():
    text = str(named("endless_recursion"))
    assert text.count("note:") == 2 and "times)" in text
