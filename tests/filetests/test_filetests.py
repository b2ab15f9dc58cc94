"""Every file below this folder, and that the runner fails where it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.filetests.runner import run_file

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(HERE)) for p in FILES])
def test_file(path):
    run_file(path)


GOOD = "%c1_i32 = arith.constant 1 : i32\n"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"// RUN: print\n{GOOD}",
        f"// RUN: print\n{GOOD}// CHECK: arith.constant 2\n",
        f"// RUN: print\n{GOOD}// CHECK-NOT: arith.constant\n",
        f"// RUN: print\n{GOOD}// OUTPUT\n// module {{\n// }}\n",
        f"// RUN: print\n{GOOD[:-1]} // error: something\n",
        "// RUN: print\n%0 = arith.constant 1.0 : i32 // error: something else\n",
        f"// RUN: print\n{GOOD}// error: on another line\n%0 = arith.constant 1.0 : i32\n",
    ],
)
def test_a_file_that_is_wrong_fails(tmp_path, text, monkeypatch):
    monkeypatch.delenv("TRITIUM_BLESS", raising=False)
    (tmp_path / "t.mlir").write_text(text)
    with pytest.raises(AssertionError):
        run_file(tmp_path / "t.mlir")


@pytest.mark.parametrize("bless", [False, True])
def test_a_function_after_the_output_is_an_error_that_names_its_line(tmp_path, monkeypatch, bless):
    monkeypatch.setenv("TRITIUM_BLESS", "1" if bless else "")
    path, output = tmp_path / "t.mlir", "// OUTPUT\n// module {\n//   %c1_i32 = arith.constant 1 : i32\n// }\n"
    path.write_text(text := f"// RUN: print\n{GOOD}{output}tt.func @forgotten() {{\n  tt.return\n}}\n")
    with pytest.raises(AssertionError, match=r"t\.mlir:7: .* after '// OUTPUT'.*: tt\.func @forgotten"):
        run_file(path)
    assert path.read_text() == text


def test_check_lines_beside_an_output_are_an_error(tmp_path):
    path = tmp_path / "t.mlir"
    path.write_text(f"// RUN: print\n// CHECK: arith\n{GOOD}// OUTPUT\n// module {{\n")
    with pytest.raises(AssertionError, match="CHECK"):
        run_file(path)


def test_blessing_writes_the_output(tmp_path, monkeypatch):
    path = tmp_path / "t.mlir"
    path.write_text(f"// RUN: print\n{GOOD}// OUTPUT\n// old\n")
    monkeypatch.setenv("TRITIUM_BLESS", "1")
    run_file(path)
    assert (
        path.read_text()
        == f"// RUN: print\n{GOOD}// OUTPUT\n// module {{\n//   %c1_i32 = arith.constant 1 : i32\n// }}\n"
    )
    monkeypatch.delenv("TRITIUM_BLESS")
    run_file(path)
