"""What is executed of a file whose kernel is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritium.explorer import kernel_module
from tritium.explorer.kernel_module import kernel_in
from tritium.tools.kernel_file import CommandError

KERNEL = """\
import triton
import triton.language as tl
ONE = tl.constexpr(1)


@triton.jit
def helper(x):
    return x + ONE


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, helper(tl.load(x_ptr)))
"""


def kernel_of(tmp_path: Path, text: str, name: str = "") -> object:
    path = tmp_path / "k.py"
    path.write_text(text)
    return kernel_in(str(path), text, name)


@pytest.mark.parametrize(
    "line",
    [
        "raise SystemExit('executed')",
        "x = 1 / 0",
        "kernel[(1,)](None)",
        "import a_module_that_does_not_exist",
        "if __name__ == '__main__':\n    kernel = None",
        "for i in range(3):\n    print(1 / 0)",
        "def main():\n    return 1 / 0\nmain()",
    ],
)
def test_statements_that_a_kernel_does_not_need_are_not_executed(tmp_path: Path, line: str) -> None:
    assert kernel_of(tmp_path, f"{KERNEL}\n{line}\n").__name__ == "kernel"


def test_globals_and_functions_that_it_refers_to_are_executed(tmp_path: Path) -> None:
    found = kernel_of(tmp_path, KERNEL)
    assert found.fn.__globals__["ONE"].value == 1
    assert "helper" in found.fn.__globals__


def test_statements_that_change_the_compiler_are_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "_planted", {}, raising=False)
    planted = """
from tritium.explorer import kernel_module as changed
changed._planted["item"] = 1
changed._planted.update(call=2)
setattr(changed, "_planted", {**changed._planted, "attribute": 3})
"""
    kernel_of(tmp_path, planted + KERNEL)
    assert kernel_module._planted == {"item": 1, "call": 2, "attribute": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", ":1:7: error: "),
        ("x = 1\n", "defines no kernel"),
        (KERNEL + "\n\n@triton.jit\ndef other(x):\n    pass\n", "has several kernels: helper, kernel, other"),
        (KERNEL.replace("tl.constexpr(1)", "1 / 0"), "cannot be imported: ZeroDivisionError"),
    ],
)
def test_file_without_one_kernel_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CommandError) as error:
        kernel_of(tmp_path, text)
    assert message in str(error.value)
