"""PTX to machine code: what the assembler tells, and how it is told on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.backends.nvidia.texts import add, many_registers, needs_nvdisasm, needs_ptxas
from tritium.backends.errors import BackendError, PerformanceWarning, PTXASError, ToolMissing
from tritium.backends.nvidia import assembler, toolchain
from tritium.backends.nvidia.assembler import (
    Assembler,
    assembler_options,
    read_log,
    warn_of,
)
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize
from tritium.backends.nvidia.toolchain import Tool, find_tool, highest_ptx, require_tool, tool_release, tool_version
from tritium.support import settings
from tritium.tools.disasm import extract, get_sass

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for helper
    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for k
    24 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers, 24 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Compile time = 36.055 ms
"""
WGMMA = """ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
insufficient register resources for the wgmma pipeline in the function 'k'
"""


def ptx(text: str, capability: int = 90) -> str:
    chip = NVPTXTarget.of(capability, None)
    return emit_ptx(optimize(text, chip), chip)


def assemble(
    text: str, name: str = "add", chip: str = "sm_90a", **options: object
) -> tuple[bytes, assembler.Resources]:
    code, resources = Assembler(assembler_options(chip, **options)).finish(text, name)  # type: ignore[arg-type]
    warn_of(resources, name, text)
    return code, resources


# ---- what is read ---------------------------------------------------------------------------------------------------


def test_the_figures_of_a_log() -> None:
    found = read_log(LOG, "k")
    assert (found.registers, found.stack, found.shared, found.barriers) == (168, 24, 2048, 2)
    assert (found.spill_stores, found.spill_loads, found.spilled) == (12, 8, 3)
    assert read_log("", "k") == assembler.Resources()


@pytest.mark.parametrize(
    ("log", "text"), [(LOG, "3 registers per thread spilled to local memory"), (WGMMA, "serialized")]
)
def test_what_makes_a_kernel_slow_is_told_with_its_name(log: str, text: str) -> None:
    with pytest.warns(PerformanceWarning, match=f"kernel k.*{text}"):
        warn_of(read_log(log, "k"), "k", "")


# ---- the program ----------------------------------------------------------------------------------------------------


@needs_ptxas
def test_a_kernel() -> None:
    code, found = assemble(ptx(add()))
    assert code[:4] == b"\x7fELF" and 4 < found.registers < 32
    assert found.spilled == found.stack == 0
    assert code == assemble(ptx(add()))[0]


@needs_ptxas
def test_spills_are_told() -> None:
    with pytest.warns(PerformanceWarning, match="kernel many: .* registers per thread spilled"):
        _, found = assemble(ptx(many_registers()), "many")
    assert found.spilled > 0 and found.registers <= 32 and found.stack > 0


@needs_ptxas
def test_products_stay_apart_where_they_must() -> None:
    text = ptx(add(contract=False)).replace("mul.rn", "mul").replace("add.rn", "add")
    assert assemble(text, fusion=True)[0] != assemble(text, fusion=False)[0]


@needs_ptxas
def test_options_of_the_user() -> None:
    text = ptx(add())
    assert assemble(text, extra="--maxrregcount 24")[1].registers <= 24
    with pytest.raises(PTXASError, match=r"(?s)refuses the code of add.*no-such-option"):
        assemble(text, extra="--no-such-option")
    with settings.nvidia.scope(), settings.compilation.scope():
        settings.nvidia.disable_ptxas_opt = True
        assert assembler_options("sm_80")[-3:] == ["-g", "--opt-level", "0"]
        settings.compilation.disable_line_info = True
        assert "-suppress-debug-info" in assembler_options("sm_80")


@needs_ptxas
def test_an_error_names_the_line_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("def add(x):\n    return x +\n")
    text = ptx(add()).replace("fma.rn.f32", "\n\t.loc 7 2 14\n\tfma.wrong.f32") + f'\t.file 7 "{source}"\n'
    with pytest.raises(PTXASError) as caught:
        assemble(text)
    message = str(caught.value)
    assert f"{source}:2:14: error:" in message and "return x +" in message
    assert "of the PTX: fma.wrong.f32" in message and "the command was:" in message


@needs_ptxas
def test_an_error_without_lines() -> None:
    with pytest.raises(PTXASError, match=r"line 1 of the PTX: nonsense"):
        assemble("nonsense")
    with pytest.raises(PTXASError, match="refuses the code of add"):
        assemble(ptx(add()), chip="sm_20")


@needs_ptxas
def test_a_text_longer_than_a_pipe() -> None:
    text = ptx(add())
    code, resources = assemble(text)
    comments = "\n".join(f"// {i}" for i in range(300_000))
    assert len(comments) > 2 << 20
    longer, same = assemble(f"{text}\n{comments}\n")
    assert same == resources and len(longer) == len(code)


def no_memory(*_: object) -> int:
    raise OSError("a file in memory is not to be had")


@needs_ptxas
@pytest.mark.parametrize("memory", [True, False])
def test_an_assembler_that_gets_no_text_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: bool
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    if not memory:
        monkeypatch.setattr(os, "memfd_create", no_memory)
    before = len(os.listdir("/dev/fd"))
    one = Assembler(assembler_options("sm_90a"))
    assert len(list(tmp_path.iterdir())) == (not memory)
    process = one._process
    one.close()
    assert process is not None and process.returncode is not None and not list(tmp_path.iterdir())
    code, _ = assemble(ptx(add()))
    assert code[:4] == b"\x7fELF" and not list(tmp_path.iterdir())
    with pytest.raises(PTXASError):
        assemble("nonsense")
    assert not list(tmp_path.iterdir()) and len(os.listdir("/dev/fd")) == before


@needs_ptxas
def test_the_code_is_the_same_in_memory_and_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ptx(add())
    code, resources = assemble(text)
    monkeypatch.setattr(os, "memfd_create", no_memory)
    assert assemble(text) == (code, resources)


@needs_ptxas
def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "memfd_create", no_memory)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(PTXASError, match="no folder for the assembler's output"):
        Assembler([])


def test_an_assembler_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "ptxas"
    path.write_text("#!/bin/sh\nkill -SEGV $$\n")
    path.chmod(0o755)
    with pytest.raises(PTXASError, match="ended by signal 11"):
        Assembler([], Tool("ptxas", str(path), "setting")).finish("", "k")
    path.write_bytes(b"\x00\x01")
    with pytest.raises(PTXASError, match="cannot be run"):
        Assembler([], Tool("ptxas", str(path), "setting"))


# ---- where it is ----------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without anything of NVIDIA's."""
    for name in ("PTXAS", "NVDISASM", "LIBDEVICE", "CUOBJDUMP"):
        for prefix in ("TRITON", "TRITIUM"):
            monkeypatch.delenv(f"{prefix}_{name}_PATH", raising=False)
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "_candidates", lambda *_: iter(()))
    toolchain._search.cache_clear()
    yield tmp_path
    toolchain._search.cache_clear()


def program(path: Path, version: str = "13.1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"#!/bin/sh\necho x >> {path}.runs\necho 'Cuda compilation tools, release {version}, V{version}.80'\n"
    )
    path.chmod(0o755)
    return path


def test_a_missing_tool_says_how_to_get_it(nothing: Path) -> None:
    assert find_tool("ptxas") is None
    with pytest.raises(ToolMissing, match=r"stage cubin needs NVIDIA's ptxas.*tritium\[nvidia\].*TRITON_PTXAS_PATH"):
        Assembler([])
    with pytest.raises(ToolMissing, match=r"SASS needs NVIDIA's nvdisasm.*nvidia-cuda-nvdisasm"):
        get_sass(b"nothing is read")


def test_a_setting_counts_first_and_must_be_right(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(nothing / "ptxas")
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(path))
    assert find_tool("ptxas") == Tool("ptxas", str(path), "setting")
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(nothing / "gone"))
    with pytest.raises(PTXASError, match=r"TRITON_PTXAS_PATH says that ptxas is '.*gone'"):
        require_tool("ptxas", "it")


def test_the_order_of_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheels = tmp_path / "site" / "nvidia"
    for folder in ("cuda_nvcc", "cu13", "cu14"):
        program(wheels / folder / "bin" / "ptxas")
    on_path = program(tmp_path / "bin" / "ptxas")
    toolkit = program(tmp_path / "cuda" / "bin" / "ptxas")
    triton = program(tmp_path / "site" / "triton" / "backends" / "nvidia" / "bin" / "ptxas")
    folders = {"nvidia": [wheels], "triton": [tmp_path / "site" / "triton"]}
    monkeypatch.setattr(toolchain, "_package_folders", folders.__getitem__)
    found = [p for _, p in toolchain._candidates("ptxas", str(on_path.parent), str(toolkit.parents[1]))]
    ours = [Path(p).relative_to(tmp_path).parts for p in found if p.startswith(str(tmp_path))]
    assert [part[2] if part[0] == "site" and part[1] == "nvidia" else part[-4:][0] for part in ours] == [
        "cu14", "cu13", "cuda_nvcc", "bin", "cuda", "backends"
    ]  # fmt: skip
    assert str(triton) == found[-1]


def test_a_version_is_asked_once(nothing: Path) -> None:
    path = program(nothing / "ptxas")
    for _ in range(2):
        tool_release.cache_clear()
        assert tool_version(Tool("ptxas", str(path), "setting")) == (13, 1)
    assert (nothing / "ptxas.runs").read_text() == "x\n"
    program(path, "14.0")
    os.utime(path, (1, 1))
    tool_release.cache_clear()
    assert tool_version(Tool("ptxas", str(path), "setting")) == (14, 0)


def test_a_damaged_note_of_a_version_is_none(nothing: Path) -> None:
    path = program(nothing / "ptxas")
    tool_version(Tool("ptxas", str(path), "setting"))
    (note,) = (nothing / "cache" / "native").iterdir()
    note.write_bytes(note.read_bytes() + b"9")
    tool_release.cache_clear()
    assert tool_version(Tool("ptxas", str(path), "setting")) == (13, 1)
    assert (nothing / "ptxas.runs").read_text() == "x\nx\n"


def test_a_program_that_tells_no_version(nothing: Path) -> None:
    path = nothing / "ptxas"
    path.write_text("#!/bin/sh\necho hello\n")
    path.chmod(0o755)
    with pytest.raises(PTXASError, match="does not tell its version; it answers: hello"):
        tool_version(Tool("ptxas", str(path), "path"))


@pytest.mark.parametrize(
    ("cuda", "expected"), [((11, 8), 78), ((12, 5), 85), ((12, 6), 85), ((12, 9), 88), ((13, 0), 90), ((14, 2), 102)]
)
def test_what_a_release_reads(cuda: tuple[int, int], expected: int) -> None:
    assert highest_ptx(cuda) == expected


# ---- machine code as text -------------------------------------------------------------------------------------------


@needs_ptxas
@needs_nvdisasm
def test_sass(tmp_path: Path) -> None:
    code, _ = assemble(ptx(add()))
    text = get_sass(code)
    assert text.startswith("Function:add\n") and "FFMA" in text and "\tEXIT;" in text
    assert "LBB0:\n" in text and "BRA LBB0;" in text
    assert get_sass(code, "add") == text
    path = tmp_path / "k.cubin"
    path.write_bytes(code)
    assert extract(str(path), "add") == text
    with pytest.raises(BackendError, match="no function 'sub'; it has: add"):
        get_sass(code, "sub")


@needs_nvdisasm
def test_sass_of_other_bytes() -> None:
    with pytest.raises(BackendError, match="nvdisasm"):
        get_sass(b"no machine code")


@needs_ptxas
@needs_nvdisasm
def test_sass_as_triton_writes_it(triton_oracle, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, _ = assemble(ptx(add()))
    path = tmp_path / "k.cubin"
    path.write_bytes(code)
    script = f"from triton.tools.disasm import extract; print(extract({str(path)!r}, None), end='')"
    theirs = subprocess.run([triton_oracle.interpreter, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert get_sass(code) == theirs.stdout
