"""`tritium opt --compare`, and pipelines of targets by name."""

from __future__ import annotations

import re
import sys

import pytest

from tests.example_kernels import EXAMPLES
from tests.tools.test_cli import tritium_command
from tritium.ir import PASSES, parse_module, parse_pipeline, print_pipeline, verify
from tritium.tools import opt_compare

TEXT = """
tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
  %0 = arith.subi %x, %n : i32
  %1 = arith.muli %x, %n : i32
  %2 = arith.muli %x, %n : i32
  %3 = arith.addi %1, %2 : i32
  tt.store %p, %3 : !tt.ptr<i32>
  tt.return
}
"""


SHOWN = """1. dce, builtin.module: 1 arith.subi fewer
@@ -1,6 +1,5 @@
 module {
   tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
-    %0 = arith.subi %x, %n : i32
     %1 = arith.muli %x, %n : i32
     %2 = arith.muli %x, %n : i32
     %3 = arith.addi %1, %2 : i32

3. cse, builtin.module: 1 arith.muli fewer
@@ -1,8 +1,7 @@
 module {
   tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
     %0 = arith.muli %x, %n : i32
-    %1 = arith.muli %x, %n : i32
-    %2 = arith.addi %0, %1 : i32
+    %2 = arith.addi %0, %0 : i32
     tt.store %p, %2 : !tt.ptr<i32>
     tt.return
   }

2 of 3 passes changed something
"""


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "k.mlir"
    path.write_text(TEXT)
    return str(path)


def test_each_change_with_its_pass(opt, text):
    status, out, err = opt(text, "--passes", "dce,licm,cse", "--compare")
    assert (status, err) == (0, "")
    assert out == SHOWN


def test_new_values_do_not_take_names_that_are_there(opt, tmp_path):
    path = tmp_path / "k.mlir"
    path.write_text("tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {\n  %0 = arith.addi %x, %x : i32\n"
                    "  %t = tt.splat %0 : i32 -> tensor<64xi32>\n  tt.return\n}\n")  # fmt: skip
    out = opt(str(path), "--passes", "convert-triton-to-tritongpu", "--compare")[1]
    assert "operation counts unchanged" in out and "+#blocked = #ttg.blocked" in out
    assert re.search(r"^     %0 = arith.addi %x, %x : i32$", out, re.M)


def test_colours_on_terminals_only(opt, text, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = opt(text, "--passes", "dce", "--compare")[1]
    assert "\x1b[1m1. dce, " in out and "\x1b[31m-    %0 = arith.subi %x, %n : i32\x1b[0m" in out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in opt(text, "--passes", "dce", "--compare")[1]


def test_output_where_a_file_is_named(opt, text, tmp_path):
    out = opt(text, "--passes", "dce", "--compare", "-o", str(tmp_path / "out.mlir"))[1]
    assert out.startswith("1. dce") and "subi" not in (tmp_path / "out.mlir").read_text()


def test_a_pass_that_fails_shows_how_far_it_came(opt, text, own):
    assert opt_compare.Tally(3, 1).__str__() == "1 of 3 passes changed something"
    status, out, err = opt(text, "--load", own, "--passes", "dce,crash", "--compare")
    assert status == 1 and out.startswith("1. dce") and "error: pass crash failed" in err


# ---- pipelines of targets -------------------------------------------------------------------------------------------


def names_of(kind: str) -> list[str]:
    import tritium.tools.opt  # noqa: F401

    return [name for name in PASSES.pipelines if name.startswith(kind)]


def test_every_target_has_its_pipelines():
    assert names_of("ttir") == ["ttir-cpu", "ttir-cuda-80", "ttir-cuda-90", "ttir-cuda-100", "ttir-cuda-120", "ttir-hip-gfx942"]  # fmt: skip
    assert names_of("ttgir") == ["ttgir-cuda-80", "ttgir-cuda-90", "ttgir-cuda-100", "ttgir-cuda-120", "ttgir-hip-gfx942", "ttgir-hip-gfx1100"]  # fmt: skip
    assert names_of("ttcir") == ["ttcir-cpu"] and names_of("lowering") == ["lowering-cuda", "lowering-hip"]
    assert names_of("gluon") == ["gluon-cuda-80", "gluon-cuda-90", "gluon-hip-gfx942"]


@pytest.mark.parametrize(
    "name", [name for kind in ("ttir", "ttgir", "ttcir", "lowering", "gluon") for name in names_of(kind)]
)
def test_pipelines_print_and_read(name):
    rows = parse_pipeline(name)
    assert print_pipeline(parse_pipeline(print_pipeline(rows))) == print_pipeline(rows)


@pytest.mark.parametrize(
    ("passes", "operation"),
    [
        ("ttir-cuda-90,ttgir-cuda-90,lowering-cuda", "ttng.warp_group_dot"),
        ("ttir-cuda-80,ttgir-cuda-80,lowering-cuda", "ttg.local_load"),
        ("ttir-cpu,ttcir-cpu", "ttc.dot"),
        ("ttir-hip-gfx942", "tt.dot"),
    ],
)
def test_a_kernel_through_the_pipelines_of_a_target(opt, tmp_path, passes, operation):
    signature = "*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,i32:16,1,i32:16,1,i32:16,1,128,128,64,8,''"
    source = tmp_path / "k.mlir"
    done = tritium_command("compile", f"{EXAMPLES / 'matmul.py'}::matmul_kernel", "--target", "cuda:90", "--signature",
                           signature, "--stage", "ttir", "-o", f"{tmp_path}/")  # fmt: skip
    assert done.returncode == 0, done.stderr
    source.write_text((tmp_path / "matmul_kernel.ttir").read_text())
    status, out, err = opt(str(source), "--passes", passes)
    assert status == 0 and f"{operation} " in out or f"{operation}(" in out, err
    verify(parse_module(out))


def test_the_conversion_for_a_cpu_by_name(opt, text):
    out = opt(text, "--passes", "convert-tt-to-ttc{target=x86-64-v3 sanitize=true}")[1]
    assert "tt.func public @kernel" in out and "arith.muli" in out
    assert "unknown CPU target 'z80'" in opt(text, "--passes", "convert-tt-to-ttc{target=z80}")[2]
