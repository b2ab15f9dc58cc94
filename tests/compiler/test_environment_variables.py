"""The environment variables that Triton's users know do what they do there, under our names too."""

from __future__ import annotations

import os
import re

import pytest

import tritium as triton
import tritium.language as tl
from tritium.compiler import ASTSource
from tritium.ir.passes.reproducer import read_reproducer
from tritium.support import settings
from tritium.tools.opt import main


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def compiled():
    return triton.compile(ASTSource(scale, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64}))


@pytest.fixture
def hits():
    """Whether each compile took its kernel from the cache."""
    found: list[bool] = []
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.listener = lambda **told: found.append(told["cache_hit"])
        yield found


def headings(text: str) -> list[str]:
    return re.findall(r"// -----// (IR Dump .*) //----- //", text)


def test_dumps(monkeypatch, capfd, tmp_path):
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    compiled()
    err = capfd.readouterr().err
    dumps = headings(err)
    assert "IR Dump Before InlinerPass: inliner ('builtin.module' operation)" in dumps
    assert "IR Dump Before CanonicalizerPass: canonicalize ('builtin.module' operation)" in dumps
    assert dumps[-1] == "IR Dump Before ConvertTtToTtcPass: convert-tt-to-ttc ('builtin.module' operation)"
    assert err.count("tt.func public @scale") == len(dumps)
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "other")
    compiled()
    assert headings(capfd.readouterr().err) == []
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "scale")
    monkeypatch.setenv("MLIR_DUMP_PATH", str(tmp_path / "dump"))
    compiled()
    assert headings(capfd.readouterr().err) == []
    assert headings((tmp_path / "dump").read_text()) == dumps


def test_dumps_of_our_own(monkeypatch, capfd):
    monkeypatch.setenv("TRITIUM_PRINT_IR", "diff:x")
    with pytest.raises(ValueError, match="TRITIUM_PRINT_IR"):
        compiled()
    monkeypatch.setenv("TRITIUM_PRINT_IR", "change:triton-combine,change:canonicalize,diff,function:scale")
    compiled()
    assert {h.split(":")[0] for h in headings(capfd.readouterr().err)} == {"IR Dump After CanonicalizerPass"}


def test_timing(monkeypatch, capfd):
    monkeypatch.setenv("MLIR_ENABLE_TIMING", "1")
    compiled()
    err = capfd.readouterr().err
    assert "pass times of ttir" in err
    assert re.search(r"\d+\.\d+ \( *\d+\.\d%\)  cse\n", err)
    assert "pass times of ttcir" in err
    assert re.search(r"\d+\.\d+ \( *\d+\.\d%\)  convert-tt-to-ttc\n", err)
    assert err.count("100.0%)  Total") == err.count("pass times of ")


@pytest.mark.parametrize("variable", ["TRITON_REPRODUCER_PATH", "TRITIUM_REPRODUCER_PATH"])
def test_reproducers_of_stages_run(monkeypatch, capfd, tmp_path, variable):
    monkeypatch.setenv(variable, str(tmp_path / "r"))
    ttir = compiled().asm["ttir"]
    path = tmp_path / "r.make_ttir.repro.mlir"
    assert read_reproducer(path.read_text()).pipeline.startswith("builtin.module(inliner,")
    assert main([str(path), "--run-reproducer"]) == 0
    out = capfd.readouterr().out
    (tmp_path / "ttir").write_text(ttir)
    assert main([str(tmp_path / "ttir")]) == 0
    assert out == capfd.readouterr().out


@pytest.mark.parametrize("variable", ["TRITON_ALWAYS_COMPILE", "TRITIUM_ALWAYS_COMPILE"])
def test_always_compile(monkeypatch, hits, variable):
    compiled(), compiled()
    monkeypatch.setenv(variable, "1")
    compiled()
    monkeypatch.setenv(variable, "0")
    compiled()
    assert hits == [False, True, False, True]


def test_cache_folder(monkeypatch, hits, tmp_path):
    monkeypatch.delenv("TRITIUM_CACHE_DIR")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "theirs"))
    compiled()
    assert any((tmp_path / "theirs").rglob("*"))
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "ours"))
    compiled()
    assert hits == [False, False]


def test_stages_are_written_and_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    compiled()
    [folder] = (tmp_path / "dump").iterdir()
    text = (folder / "scale.ttir").read_text()
    assert "arith.mulf" in text
    override = tmp_path / "override" / folder.name
    override.mkdir(parents=True)
    (override / "scale.ttir").write_text(text.replace("2.000000e+00", "3.000000e+00"))
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    assert "3.000000e+00" in compiled().asm["ttir"]


def test_variables_that_change_code_are_part_of_keys(monkeypatch, hits):
    compiled()
    for variable, value in [("TRITIUM_PASS_FUEL", "3"), ("TRITIUM_VERIFY_EACH", "1"), ("TRITON_DEBUG", "1")]:
        monkeypatch.setenv(variable, value)
        compiled(), compiled()
        monkeypatch.delenv(variable)
    monkeypatch.setenv("MLIR_DISABLE_MULTITHREADING", "1")  # which changes nothing
    compiled()
    assert hits == [False, False, True, False, True, False, True, True]


def test_llvm(monkeypatch, capfd):
    optimized = compiled().asm["llir"]
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("LLVM_IR_ENABLE_DUMP", "1")
    compiled()
    parts = re.split("; -----// LLVM IR Dump (Before|After) its passes //----- //\n", capfd.readouterr().err)
    assert parts[1::2] == ["Before", "After"]
    assert len(parts[2]) > 0 and parts[4].strip() == optimized.strip()
    monkeypatch.delenv("LLVM_IR_ENABLE_DUMP")
    monkeypatch.setenv("DISABLE_LLVM_OPT", "1")
    assert compiled().asm["llir"] != optimized
    monkeypatch.delenv("DISABLE_LLVM_OPT")
    monkeypatch.setenv("LLVM_ENABLE_TIMING", "1")
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    compiled()
    assert "InstCombinePass" in capfd.readouterr().err


def test_every_variable_of_tritons_has_a_twin():
    for group in settings.GROUPS.values():
        for name, setting in group.settings().items():
            for variable in setting.env:
                assert not variable.startswith("TRITON_") or "TRITIUM_" + variable[7:] in setting.env, name


def test_ours_counts_more_and_assignment_most(monkeypatch):
    monkeypatch.setenv("TRITON_DEBUG", "1")
    assert settings.runtime.debug
    monkeypatch.setenv("TRITIUM_DEBUG", "0")
    assert not settings.runtime.debug
    with settings.runtime.scope():
        settings.runtime.debug = True
        assert settings.runtime.debug
        assert (os.environ["TRITIUM_DEBUG"], os.environ["TRITON_DEBUG"]) == ("1", "1")
    assert not settings.runtime.debug


LIMIT = 3


@triton.jit
def reads_a_global(x):
    tl.store(x, LIMIT)


@pytest.mark.parametrize(
    "variable", ["TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "TRITIUM_ALLOW_NON_CONSTEXPR_GLOBALS", None]
)
def test_globals_that_are_no_constants(monkeypatch, variable):
    """What counts for the key counts for the compile: the variable under both names, and the knob."""
    source = ASTSource(reads_a_global, {"x": "*i32"})
    with pytest.raises(triton.CompilationError, match="Cannot access global variable LIMIT"):
        triton.compile(source)
    with triton.knobs.compilation.scope():
        if variable is None:
            triton.knobs.compilation.allow_non_constexpr_globals = True
        else:
            monkeypatch.setenv(variable, "1")
        assert "arith.constant 3" in triton.compile(source).asm["ttir"]
