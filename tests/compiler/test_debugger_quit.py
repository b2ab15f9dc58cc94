"""`q` in a debugger ends what runs, as Ctrl-C does: it is no error of the program, nor of the compiler."""

from __future__ import annotations

from bdb import BdbQuit
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.ir import run_pipeline
from tritium.ir.parser import parse_module
from tritium.ir.passes.definition import Pass
from tritium.ir.passes.failures import PassInterrupted
from tritium.support.hook_errors import call_hook
from tritium.tools import opt
from tritium.tools.kernel_file import kernel_of_file

CPU = GPUTarget("cpu", "x86-64-v3", 1)


def quit_debugger(*_: Any) -> Any:
    raise BdbQuit


@tritium.constexpr_function
def debugged(n):
    return quit_debugger()


@tritium.jit
def asks_python(p):
    tl.store(p, debugged(3))


def test_quit_in_a_pass_is_an_interrupt() -> None:
    with pytest.raises(PassInterrupted, match="interrupted in pass broken"):
        run_pipeline(parse_module("module {}"), [Pass("broken", quit_debugger)])


def test_quit_in_tritium_opt_ends_it_with_the_status_of_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opt, "opt", quit_debugger)
    assert opt.main(["-"]) == opt.INTERRUPTED
    assert "internal error" not in capsys.readouterr().err


def test_quit_in_a_compile_time_function_passes_through() -> None:
    with pytest.raises(BdbQuit):
        compile(ASTSource(asks_python, {"p": "*i32"}, {}), CPU)


def test_quit_in_an_interpreted_kernel_passes_through() -> None:
    with tritium.knobs.runtime.scope():
        tritium.knobs.runtime.interpret = True
        kernel = tritium.jit(asks_python.fn)
        with pytest.raises(BdbQuit):
            kernel[(1,)](np.zeros(1, np.int32))


def test_quit_in_a_hook_passes_through() -> None:
    with pytest.raises(BdbQuit):
        call_hook("compilation.listener", quit_debugger)


@pytest.mark.usefixtures("triton_alias")
def test_quit_while_a_file_is_imported_is_an_interrupt(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("import bdb\nraise bdb.BdbQuit\n")
    with pytest.raises(KeyboardInterrupt):
        kernel_of_file(str(path), "kernel")
