"""The script that takes Triton's tutorial kernels to machine code, on a checkout of our own making; and on a real one
where TRITIUM_TEST_CHECKOUT names it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import tutorials

TUTORIAL = '''\
"""A tutorial whose set-up cannot run here."""
import no_such_package


@no_such_package.autotune(key=["n"])
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(output_ptr + at, x + tl.load(y_ptr + at, mask=mask), mask=mask)


def main():
    no_such_package.run()
'''


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "python" / "tutorials"
    folder.mkdir(parents=True)
    (folder / "01-adding.py").write_text(TUTORIAL)
    return tmp_path


def test_only_kernels_are_taken_and_stay_at_their_lines(checkout: Path) -> None:
    text = tutorials.extract(checkout, "01", "tritium")
    assert text.startswith("import tritium as triton")
    assert "no_such_package" not in text
    assert text.split("\n")[5:7] == ["@triton.jit", TUTORIAL.split("\n")[6]]


def test_a_kernel_without_triton(checkout: Path, tmp_path: Path) -> None:
    row = tutorials.compare(tutorials.CASES[0], 90, checkout, tmp_path, None)
    assert row.fine and row.steps == {"ttir": "ok"}


def test_a_kernel_that_does_not_compile_is_a_row(checkout: Path, tmp_path: Path) -> None:
    path = checkout / "python" / "tutorials" / "01-adding.py"
    path.write_text(TUTORIAL.replace("tl.program_id(0)", "tl.program_id(7)"))
    row = tutorials.compare(tutorials.CASES[0], 90, checkout, tmp_path, None)
    assert not row.fine and "program_id axis must be 0, 1, or 2" in row.problem


def test_the_command_compares_with_triton(checkout: Path, triton_oracle: Any, capsys: Any) -> None:
    assert tutorials.main([str(checkout), "--only", "01", "--targets", "80,90"]) == 0
    out = capsys.readouterr().out
    assert "2 of 2 get through; 0 fail as they do in Triton by itself" in out
    assert "the PTX is Triton's own, byte for byte without debug lines, for 2" in out
    assert out.count("yes       ok       ok") == 2, "Triton's stages compile here"


def test_lines_of_debugging_are_left_out() -> None:
    ptx = 'add.s32 %r1, %r2, %r3; // x.py:3\n.loc 1 3 4\n\n$L__tmp1:\nret;\n.file 1 "x.py"\n.section .debug_abbrev\n{'
    assert tutorials.without_debug(ptx) == "add.s32 %r1, %r2, %r3;\nret;"


@pytest.mark.skipif(
    "TRITIUM_TEST_CHECKOUT" not in os.environ, reason="TRITIUM_TEST_CHECKOUT names no checkout of Triton"
)
def test_every_tutorial_kernel_becomes_a_cubin(triton_oracle: Any, capsys: Any) -> None:
    status = tutorials.main([os.environ["TRITIUM_TEST_CHECKOUT"], "--targets", "80,90,100"])
    assert status == 0, capsys.readouterr().out
