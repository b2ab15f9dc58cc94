"""Compiles that begin in the middle: texts for another chip, texts with mistakes, stages that are dumped, edited and put
back."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tests.example_kernels import EXAMPLES
from tests.tools.test_cli import tritium_command
from tritium import knobs
from tritium.backends.errors import BackendError, PTXASError
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, SourceError, compile
from tritium.compiler.stage_files import folder_name
from tritium.compiler.stated_target import TargetWarning, stated_target
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

CPU = GPUTarget("cpu", "", 1)


@tritium.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1.0, mask=at < n)


def source() -> ASTSource:
    return ASTSource(add_one, {"x_ptr": "*fp32", "n": "i32"}, {"BLOCK": 64})


def cuda(capability: int) -> GPUTarget:
    return GPUTarget("cuda", capability, 32)


def text(stage: str, target: GPUTarget) -> str:
    return compile(source(), target, until=stage).asm[stage]  # type: ignore[no-any-return]


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


# ---- whom a text is for ---------------------------------------------------------------------------------------------


def test_texts_say_whom_they_are_for() -> None:
    found = {stage: stated_target(text(stage, cuda(90)), stage) for stage in ("ttir", "ttgir", "llir", "ptx")}
    assert found.pop("ttir") is None
    assert {stage: s[:2] for stage, s in found.items() if s} == {
        "ttgir": ("cuda", "90"), "llir": ("cuda", ""), "ptx": ("cuda", "90a"),
    }  # fmt: skip
    assert found["ptx"] is not None and found["ptx"].target == cuda(90)
    here = stated_target(text("llir", CPU), "llir")
    assert here is not None and here[:2] == ("cpu", tritium.compiler.default_target().arch) and here.target is None
    assert stated_target('module attributes {ttg.target = "hip:gfx942"} {}', "ttgir").target.warp_size == 64  # type: ignore[union-attr]
    for arch, lanes in (
        ("gfx90a", 64),
        ("gfx950", 64),
        ("gfx1030", 32),
        ("gfx1100", 32),
        ("gfx1201", 32),
        ("gfx1250", 32),
    ):
        assert stated_target(f'module attributes {{ttg.target = "hip:{arch}"}} {{}}', "ttgir").target.warp_size == lanes  # type: ignore[union-attr]


def test_file_is_compiled_for_its_stated_target(tmp_path: Path) -> None:
    for stage, last in (("ttgir", "ptx"), ("ptx", "ptx")):
        kernel = compile(written(tmp_path, f"k.{stage}", text(stage, cuda(80))), until=last)
        assert ".target sm_80" in kernel.asm["ptx"]
    done = tritium_command("compile", str(tmp_path / "k.ttgir"), "--stage", "ptx")
    assert ".target sm_80" in done.stdout and "add_one for cuda:80" in done.stderr


def test_explicit_device_overrides_target_of_file(tmp_path: Path) -> None:
    path = written(tmp_path, "k.ttgir", text("ttgir", cuda(80)))
    driver.set_active(EmulatedCUDADriver(90))
    try:
        with pytest.warns(
            TargetWarning, match=r"k.ttgir:\d+:\d+: warning: this ttgir was made for cuda:80: its layouts"
        ):
            kernel = compile(path)
        x = np.zeros(100, np.float32)
        kernel[(2,)](x, 100)
        assert (x == 1).all()
    finally:
        driver.reset_active()


@pytest.mark.parametrize(
    ("stage", "made_for", "target", "message"),
    [
        ("ttgir", cuda(90), cuda(80), "this ttgir is for cuda:90, and cannot be compiled for cuda:80"),
        ("ptx", cuda(90), cuda(80), "this ptx is for cuda:90, and cannot be compiled for cuda:80"),
        ("ptx", cuda(90), cuda(100), "this ptx is for sm_90a alone, and cannot be compiled for cuda:100"),
        ("llir", cuda(90), CPU, "this llir is for cuda, and cannot be compiled for cpu:"),
        ("llir", CPU, cuda(90), "this llir is for cpu:.*, and cannot be compiled for cuda:90"),
        ("llir", GPUTarget("cpu", "neoverse-n1", 1), GPUTarget("cpu", "x86-64-v3", 1), "this llir is for cpu:aarch64"),
    ],
)
def test_texts_for_another_target(tmp_path: Path, stage: str, made_for: Any, target: Any, message: str) -> None:
    path = written(tmp_path, f"k.{stage}", text(stage, made_for))
    with pytest.raises(SourceError, match=rf"^k\.{stage}:\d+:\d+: error: {message}") as found:
        compile(path, target)
    shown = str(found.value).split("\n")
    assert "^^^" in shown[2] and shown[3].startswith("hint: let the target be ")


@pytest.mark.parametrize(
    ("target", "stated", "lanes"),
    [
        (cuda(90), "cuda:90", 64),
        (GPUTarget("hip", "gfx942", 64), "hip:gfx942", 32),
        (GPUTarget("hip", "gfx1100", 32), "hip:gfx1100", 64),
    ],
)
def test_warps_of_another_size_are_refused(tmp_path: Path, target: GPUTarget, stated: str, lanes: int) -> None:
    module = f'module attributes {{ttg.target = "{stated}", "ttg.threads-per-warp" = {lanes} : i32}} {{'
    path = written(tmp_path, "k.ttgir", f"{module}\n  tt.func public @k() {{\n    tt.return\n  }}\n}}\n")
    message = rf"^k\.ttgir:1:\d+: error: this ttgir has warps of {lanes} threads, those of {stated} have {96 - lanes}\n"
    with pytest.raises(SourceError, match=message):
        compile(path, target)


@pytest.mark.parametrize(("arch", "target", "fine"), [("80", 90, True), ("100f", 103, True), ("100f", 120, False)])
def test_which_ptx_newer_chips_take(tmp_path: Path, arch: str, target: int, fine: bool) -> None:
    ptx = text("ptx", cuda(80)).replace(".target sm_80", f".target sm_{arch}")
    path = written(tmp_path, "k.ptx", ptx)
    if fine:
        assert compile(path, cuda(target), until="ptx").asm["ptx"] == ptx
    else:
        with pytest.raises(SourceError, match="this ptx is for sm_100f alone"):
            compile(path, cuda(target), until="ptx")


def test_files_of_no_stage(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"k.asm holds no kernel \(kernels are compiled from files whose names end in"
    ):
        compile(written(tmp_path, "k.asm", "ret\n"), CPU)
    ttir = text("ttir", CPU)
    with pytest.raises(SourceError, match=r"k.mlir: cpu has no stage 'mlir'; .*\nhint: the end of a file's name says"):
        compile(written(tmp_path, "k.mlir", ttir), CPU)
    with pytest.raises(SourceError, match=r"no stage 'ttgir'; .*\nhint: the file says that it was made for cuda:90"):
        compile(written(tmp_path, "k.ttgir", text("ttgir", cuda(90))), CPU)


# ---- mistakes in texts ----------------------------------------------------------------------------------------------


def changed(stage: str, target: GPUTarget, pattern: str, to: str) -> str:
    out, n = re.subn(pattern, to, text(stage, target), count=1)
    assert n == 1
    return out


@pytest.mark.parametrize("target", [CPU, cuda(90)], ids=["cpu", "cuda"])
@pytest.mark.parametrize(
    ("pattern", "to", "at", "message"),
    [
        (r" = (?:zext|sext|shl)\b.*", " = ad i32 1, 2", "ad", "expected instruction opcode"),
        (r"= (fadd .*), (?:1.0|splat)[^!\n,]*", r"= \1, %nothing", "%nothing", "use of undefined value"),
    ],
)
def test_mistakes_in_llir(tmp_path: Path, target: Any, pattern: str, to: str, at: str, message: str) -> None:
    path = written(tmp_path, "k.llir", changed("llir", target, pattern, to))
    with pytest.raises(BackendError, match=rf"^k\.llir:\d+:\d+: error: {message}") as found:
        compile(path, target)
    *_, line, carets = str(found.value).split("\n")
    assert line[carets.index("^") :].startswith(at)


def test_llir_that_does_not_verify(tmp_path: Path) -> None:
    body = "entry:\n  %a = add i32 %b, 1\n  %b = add i32 %n, 2\n  ret void\n"
    late = written(tmp_path, "k.llir", "define ptx_kernel void @k(i32 %n) {\n" + body + "}\n")
    with pytest.raises(BackendError, match=r"^k\.llir:\d:3: error: Instruction does not dominate all uses!\n"):
        compile(late, cuda(90), until="ptx")


@pytest.mark.parametrize("stage", ["ttir", "ttgir"])
def test_verification_errors_are_shown_in_the_file(tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the text says from which line of a program each operation comes, and from another folder."""
    before = text(stage, cuda(90))
    add = re.search(r"^ *%\S+ = arith.addf .*\n", before, re.M)
    assert add is not None and "loc(" in add[0]
    path = written(
        tmp_path, f"k.{stage}", before.replace(add[0], "").replace("    tt.return", add[0] + "    tt.return")
    )
    monkeypatch.chdir("/")
    with pytest.raises(tritium.TritiumError, match=rf"k\.{stage}:\d+:5: error: V3: ") as found:
        compile(path, cuda(90))
    message = str(found.value)
    line = int(re.findall(rf"k\.{stage}:(\d+):", message)[0])
    assert f" | {path.read_text().splitlines()[line - 1]}" in message and __file__ not in message.partition("note:")[0]


@needs_ptxas
def test_mistakes_in_ptx(tmp_path: Path) -> None:
    ptx = text("ptx", cuda(90))
    path = written(tmp_path, "k.ptx", ptx.replace("ld.param.b64", "ld.parm.b64"))
    with pytest.raises(PTXASError, match=r"k\.ptx:\d+:\d+: error: Unknown modifier '.parm'") as found:
        compile(path, cuda(90))
    message = str(found.value)
    assert message.count("error:") == 1 and re.search(r"ld\.parm\.b64.*\n +\| \s+\^\^\^\^\^\n", message)
    path.write_text(ptx.replace("ld.param.b64", "ld.parm.b64", 1))
    with pytest.raises(PTXASError) as found:
        compile(path, cuda(90))
    assert "more line" not in str(found.value)


# ---- dumped, edited, put back ---------------------------------------------------------------------------------------

EDITS = {
    "ttir": ("1.000000e+00", "2.000000e+00"),
    "ttcir": ("1.000000e+00", "2.000000e+00"),
    "ttgir": ("1.000000e+00", "2.000000e+00"),
    "llir": ("1.000000e+00", "2.000000e+00"),
    "ptx": ("0f3F800000", "0f40000000"),
}


def compile_dumped(target: Any, folder: Path, **options: Any) -> CompiledKernel:
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.compilation.dump_ir = True
        knobs.cache.dump_dir = str(folder)
        return compile(source(), target, options)


def edit(dump: Path, override: Path, stage: str) -> Path:
    """The file of one stage, edited, where it replaces the stage."""
    old, new = EDITS[stage]
    name = Path(folder_name(source().hash()), f"add_one.{stage}")
    before = (dump / name).read_text()
    assert old in before
    (override / name.parent).mkdir(parents=True)
    (override / name).write_text(before.replace(old, new))
    return override / name


def compile_edited(target: Any, folder: Path) -> CompiledKernel:
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.compilation.override = True
        knobs.cache.override_dir = str(folder)
        return compile(source(), target)


@pytest.mark.parametrize("stage", ["ttir", "ttcir", "llir"])
def test_edited_stage_runs_on_the_cpu(tmp_path: Path, stage: str, capsys: Any) -> None:
    compile_dumped(CPU, tmp_path / "dump")
    path = edit(tmp_path / "dump", tmp_path / "override", stage)
    for _ in range(2):  # made, and from the cache
        x = np.zeros(70, np.float32)
        compile_edited(CPU, tmp_path / "override")[(2,)](x, 70)
        assert (x == 2).all()
        assert capsys.readouterr().err == f"Overriding kernel with file {path}\n"
    compile(source(), CPU)[(2,)](x, 70)
    assert (x == 3).all(), "what was edited is no longer there without the setting"


@needs_ptxas
@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx"])
def test_edited_stage_is_compiled_to_cubin(tmp_path: Path, stage: str) -> None:
    plain = compile_dumped(cuda(90), tmp_path / "dump")
    edit(tmp_path / "dump", tmp_path / "override", stage)
    edited = compile_edited(cuda(90), tmp_path / "override")
    assert "0f40000000" in edited.asm["ptx"] and "0f3F800000" not in edited.asm["ptx"]
    assert edited.kernel != plain.kernel and edited.hash != plain.hash and edited.n_regs
    kept = {name: value for name, value in edited.values.items() if name not in ("hash", "n_regs")}
    assert kept == {name: value for name, value in plain.values.items() if name not in ("hash", "n_regs")}
    assert compile(source(), cuda(90)).kernel == plain.kernel


@needs_ptxas
@needs_nvdisasm
def test_what_is_dumped(tmp_path: Path) -> None:
    kernel = compile_dumped(cuda(90), tmp_path / "dump")
    folder = tmp_path / "dump" / folder_name(source().hash())
    names = {p.name for p in folder.iterdir()}
    assert names == {f"add_one.{s}" for s in ("ttir", "ttgir", "llir", "ptx", "cubin", "sass")}
    assert (folder / "add_one.cubin").read_bytes() == kernel.kernel
    again = compile_dumped(cuda(90), tmp_path / "from-the-cache")
    assert not again.times and {p.name for p in (tmp_path / "from-the-cache" / folder.name).iterdir()} == names
    assert re.fullmatch(r"[A-Z2-7]{52}", folder.name), "as Triton writes hashes"


def test_assembly_is_dumped_too_and_replaces_nothing(tmp_path: Path) -> None:
    compile_dumped(CPU, tmp_path / "dump")
    folder = tmp_path / "dump" / folder_name(source().hash())
    assert {p.suffix for p in folder.iterdir()} == {".ttir", ".ttcir", ".llir", ".asm", ".obj"}
    x = np.zeros(70, np.float32)
    compile_edited(CPU, tmp_path / "dump")[(2,)](x, 70)  # all of a dump, unchanged
    assert (x == 1).all()


def test_an_edited_launch_is_believed(tmp_path: Path) -> None:
    compile_dumped(cuda(90), tmp_path / "dump", num_warps=2)
    path = edit(tmp_path / "dump", tmp_path / "override", "llir")
    path.write_text(path.read_text().replace("shared=0", "shared=4096"))
    found = compile_edited(cuda(90), tmp_path / "override").metadata
    assert (found.num_warps, found.shared) == (2, 4096)


def test_a_mistake_in_an_edited_stage(tmp_path: Path) -> None:
    compile_dumped(CPU, tmp_path / "dump")
    path = edit(tmp_path / "dump", tmp_path / "override", "ttir")
    path.write_text(path.read_text().replace("arith.addf", "arith.addd"))
    with pytest.raises(tritium.TritiumError, match=r"^add_one\.ttir:\d+:\d+: error: .*arith.addd"):
        compile_edited(CPU, tmp_path / "override")


def test_ir_override_names_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, "mine.ttgir", text("ttgir", cuda(90)).replace("1.000000e+00", "5.000000e+00"))
    kernel = compile(source(), cuda(90), {"ir_override": str(path)}, until="ptx")
    assert "0f40A00000" in kernel.asm["ptx"]
    path.write_text(path.read_text().replace("5.000000e+00", "3.000000e+00"))
    assert "0f40400000" in compile(source(), cuda(90), {"ir_override": str(path)}, until="ptx").asm["ptx"]
    with pytest.raises(
        SourceError, match=r"ir_override='.*nothing.ttgir' is not a file of a stage; the stages are: ttir, ttgir"
    ):
        compile(source(), cuda(90), {"ir_override": str(tmp_path / "nothing.ttgir")})


def test_ir_override_of_a_configuration(tmp_path: Path) -> None:
    """An autotuner's configuration names the file, for the CPU here."""
    path = written(tmp_path, "mine.ttir", text("ttir", CPU).replace("1.000000e+00", "5.000000e+00"))
    tuned = tritium.autotune([tritium.Config({"BLOCK": 64}, ir_override=str(path))], key=[])(add_one)
    x = np.zeros(64, np.float32)
    tuned[(1,)](x, 64)
    assert (x == 5).all()


def test_locations_in_a_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USE_IR_LOC", "ttgir")
    kernel = compile(source(), cuda(90), until="ptx")
    name = re.search(r'\.file\s+1 "(.*)"', kernel.asm["ptx"])
    assert name is not None and name[1].endswith("add_one.ttgir")
    lines = Path(name[1]).read_text().split("\n")
    placed = {int(line) for line in re.findall(r"\.loc\s+1 (\d+)", kernel.asm["ptx"])}
    assert any("tt.load" in lines[n - 1] for n in placed if n)


SCRIPT = """
import numpy as np
import tritium as triton
import tritium.language as tl

@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)

x = np.zeros(8, np.float32)
kernel[(1,)](x, 8)
print(x[0])
"""


def test_the_variables_of_triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of Triton's own documentation: dump, copy, edit, run again."""
    path = written(tmp_path, "script.py", SCRIPT)
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))

    def run() -> str:
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "stages"))
    assert run() == "1.0"
    monkeypatch.delenv("TRITON_KERNEL_DUMP")
    (ttir,) = (tmp_path / "stages").rglob("kernel.ttir")
    ttir.write_text(ttir.read_text().replace("1.000000e+00", "4.000000e+00"))
    for other in ttir.parent.iterdir():
        if other != ttir:
            other.unlink()
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "stages"))
    assert run() == "4.0"
    monkeypatch.delenv("TRITON_KERNEL_OVERRIDE")
    assert run() == "1.0"
