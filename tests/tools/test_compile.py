"""`tritium compile`: what it reads, shows, writes and refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tests.example_kernels import EXAMPLES
from tests.tools.test_cli import tritium_command
from tritium.compiler import GPUTarget
from tritium.experimental.gluon import language as gl
from tritium.tools.compile_command import compile_request, main
from tritium.tools.request import Request, parse_target
from tritium.tools.signature import SignatureError, parse_signature

ADD = f"{EXAMPLES / 'vector_add.py'}::add_kernel"
TYPES = "*fp32:16, *fp32:16, *fp32:16, i32:16"
BLOCK = "BLOCK_SIZE=1024"
pytestmark = pytest.mark.usefixtures("triton_alias")  # the command installs it


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: Any, **options: Any) -> tuple[int, str, str]:
        status = main(Request(*arguments, **options))
        out, err = capsys.readouterr()
        return status, out, err

    return command


# ---- what is read --------------------------------------------------------------------------------------------------


def test_signatures() -> None:
    names = ["x", "desc", "n", "one", "BLOCK", "ACT"]
    found = parse_signature("*fp32:16, tensordesc<fp16[128,64]>, i32, i32:1, 1024, 'relu'", names)
    types = {"x": "*fp32", "desc": "tensordesc<fp16[128,64]>", "n": "i32"}
    assert found == (types, {"one": 1, "BLOCK": 1024, "ACT": "relu"}, {"x": [["tt.divisibility", 16]]})
    assert parse_signature("n=i64, x=*i8:16", names) == ({"n": "i64", "x": "*i8"}, {}, {"x": [["tt.divisibility", 16]]})


def test_layouts_are_values_in_signatures() -> None:
    text = "*fp32, gl.SliceLayout(0, BlockedLayout([1, 4], [8, 4], [4, 1], order=[1, 0]))"
    _, values, _ = parse_signature(text, ["x", "LAYOUT"])
    parent = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    assert values == {"LAYOUT": gl.SliceLayout(0, parent)}
    for wrong, message in [
        ("gl.BlokedLayout([1])", "there is no layout BlokedLayout"),
        ("BlockedLayout([1], [32], [4])", "missing 1 required positional argument: 'order'"),
        ("BlockedLayout([1], [32], [n], [0])", "no layout: "),
    ]:
        with pytest.raises(SignatureError, match=message):
            parse_signature(f"*fp32, {wrong}", ["x", "LAYOUT"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cuda:90", GPUTarget("cuda", 90, 32)),
        ("hip:gfx942", GPUTarget("hip", "gfx942", 64)),
        ("hip:gfx1250", GPUTarget("hip", "gfx1250", 32)),
        ("hip:gfx1100:32", GPUTarget("hip", "gfx1100", 32)),
        ("cpu", GPUTarget("cpu", "", 1)),
        ("cpu:x86-64-v3", GPUTarget("cpu", "x86-64-v3", 1)),
    ],
)
def test_targets(text: str, expected: GPUTarget) -> None:
    assert parse_target(text) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"file": "nowhere.py"}, "there is no file 'nowhere.py'"),
        ({"file": ADD.replace("add_kernel", "ad_kernel")}, r"no kernel 'ad_kernel'; did you mean 'add_kernel'\?"),
        ({"target": "cuda"}, "names no architecture: write it like cuda:90"),
        ({"target": "cuda:70"}, "compute capability 70 is not supported"),
        ({"target": "tpu:5"}, "unsupported target"),
        ({"signature": "*fp32"}, "no type for parameter 'y_ptr'"),
        (
            {"signature": "", "constants": ""},
            "^error: the kernel add_kernel needs a signature\nhint: --signature: a type",
        ),
        ({"signature": TYPES + ", 3, 4"}, "has 6 entries, the kernel 5 parameters"),
        ({"signature": "z=i32"}, "the kernel has no parameter 'z'"),
        ({"target": "hip:gfx1250:64"}, "has warps of 64 threads: those of hip:gfx1250 have 32"),
        ({"signature": "*fp32:15"}, "the hints are 1 and 16, not 15"),
        ({"signature": "*fp32:a"}, "what the value is divisible by, not 'a'"),
        ({"constants": "BLOCK=3"}, "add_kernel has no parameter 'BLOCK'"),
        ({"constants": "BLOCK_SIZE"}, "'BLOCK_SIZE' is no NAME=VALUE"),
        ({"options": ["num_wraps=4"]}, "unknown option 'num_wraps'"),
        ({"options": ["num_warps=3"]}, "num_warps must be a power of 2"),
        ({"stages": ["obj"]}, "there is no stage 'obj'; there are: ttir, ttgir, llir, ptx, cubin"),
        ({"constants": "BLOCK_SIZE=0"}, "arange.s end argument must be greater"),
    ],
)
def test_what_cannot_be_followed(run: Any, change: dict[str, Any], message: str) -> None:
    request = {"file": ADD, "target": "cuda:90", "signature": TYPES, "constants": BLOCK, "stages": ["ttir"], **change}
    status, out, err = run(**request)
    assert status == 1 and not out
    assert re.search(message, err) and "Traceback" not in err


def test_files_that_cannot_be_used(run: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import triton\n1 / 0\n")
    assert "cannot be imported: ZeroDivisionError" in run(str(broken), "cuda:90")[2]
    several = tmp_path / "several.py"
    several.write_text("import triton\n@triton.jit\ndef f(x): pass\n@triton.jit\ndef g(x): pass\n")
    assert "has several kernels: f, g (write" in run(str(several), "cuda:90")[2]
    empty = tmp_path / "empty.py"
    empty.write_text("import triton\n")
    assert "empty.py defines no kernel" in run(str(empty), "cuda:90")[2]
    text = tmp_path / "k.ttir"
    text.write_text("module {\n  tt.func public @k() {\n    tt.return\n  }\n}\n")
    assert "says itself what its kernel takes" in run(str(text), "cuda:90", "i32")[2]


def test_a_kernel_by_any_name_that_the_file_has(run: Any, tmp_path: Path) -> None:
    """Imported, or another name than the function's; what a file imports is not one of its own where none is named."""
    (tmp_path / "made_elsewhere.py").write_text("import triton\n@triton.jit\ndef f(x): pass\n")
    path = tmp_path / "user.py"
    path.write_text(
        "import triton\nfrom made_elsewhere import f\n@triton.jit\ndef g(x): pass\nagain = triton.jit(g.fn)\n"
    )
    for name, symbol in [("f", "f"), ("again", "g"), ("g", "g")]:
        status, out, err = run(str(path), "cuda:90", "i32", stages=["ttir"], kernel_name=name)
        assert status == 0 and f"tt.func public @{symbol}" in out, err
    path.write_text("import triton\nfrom made_elsewhere import f\n@triton.jit\ndef g(x): pass\n")
    assert "tt.func public @g" in run(str(path), "cuda:90", "i32", stages=["ttir"])[1]
    assert "did you mean 'g'" in run(str(path), "cuda:90", "i32", kernel_name="gg")[2]


# ---- what is shown and written -------------------------------------------------------------------------------------


def test_one_stage_is_printed_and_no_later_one_is_made(run: Any) -> None:
    status, out, err = run(ADD, "cuda:90", TYPES, BLOCK, ["ttgir"])
    assert status == 0 and out.startswith("#") and "ttg.num-warps" in out and out.endswith("\n")
    assert re.search(r"add_kernel for cuda:90", err) and "llir" not in err


def test_a_kernel_below_its_tuner(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "tuned.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n"
        "@triton.autotune([triton.Config({'B': 64})], key=[])\n@triton.jit\n"
        "def k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1.0)\n"
    )
    status, out, _ = run(str(path), "cuda:80", "*fp32, 64", stages=["ttir"])
    assert status == 0 and "tt.func public @k" in out


@needs_ptxas
def test_all_stages_with_what_the_code_needs(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    status, out, err = run(ADD, "cuda:80", TYPES, BLOCK, output=f"{folder}/")
    assert status == 0
    assert re.search(r"cubin\s+[\d,]+ bytes\s+\d", err)
    assert re.search(r"\d+ registers/thread, no spills, 4 warps", err)
    names = [f"add_kernel.{stage}" for stage in ("source", "ttir", "ttgir", "llir", "ptx", "cubin")]
    assert [Path(line).name for line in out.split()] == names
    assert (folder / "add_kernel.cubin").read_bytes()[:4] == b"\x7fELF"
    assert "from the cache" in run(ADD, "cuda:80", TYPES, BLOCK)[2]


@needs_ptxas
def test_each_written_stage_can_be_compiled_on(tmp_path: Path) -> None:
    kernel = compile_request(Request(ADD, "cuda:90", TYPES, BLOCK))
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        path = tmp_path / f"kernel.{stage}"
        path.write_text(kernel.asm[stage])
        again = compile_request(Request(str(path), "cuda:90"))
        assert again.name == "add_kernel" and list(again.asm)[0] == stage
        assert again.asm["ptx"].replace("\t", "") == kernel.asm["ptx"].replace("\t", "") or stage == "ttir"
        assert again.n_regs == kernel.n_regs


@needs_ptxas
@needs_nvdisasm
def test_sass(run: Any) -> None:
    status, out, _ = run(ADD, "cuda:90", TYPES, BLOCK, ["sass"])
    assert status == 0 and out.startswith("Function:add_kernel") and "LDG.E.128" in out


@needs_ptxas
def test_machine_code_goes_to_a_file(run: Any, tmp_path: Path) -> None:
    assert "write it to a file with -o" in run(ADD, "cuda:90", TYPES, BLOCK, ["cubin"])[2]
    path = tmp_path / "k.cubin"
    assert run(ADD, "cuda:90", TYPES, BLOCK, output=str(path))[0] == 0 and path.read_bytes()[:4] == b"\x7fELF"
    assert "do not go into one file" in run(ADD, "cuda:90", TYPES, BLOCK, ["ttir", "ptx"], str(path))[2]


def test_the_cpu_is_a_target_too(run: Any) -> None:
    status, out, err = run(ADD, "cpu", TYPES, BLOCK, ["llir"])
    assert status == 0 and "define void @" in out and "add_kernel for cpu" in err


def test_the_command() -> None:
    done = tritium_command(
        "compile", ADD, "--target", "cuda:90", "--signature", TYPES, "--constants", BLOCK, "--stage", "ttir",
        "--stage", "ttgir", "--num-warps", "8", "--option", "maxnreg=64",
    )  # fmt: skip
    assert "ttg.maxnreg = 64" in done.stdout and '"ttg.num-warps" = 8' in done.stdout, done.stderr


@needs_ptxas
def test_late_texts_say_how_they_are_launched(tmp_path: Path) -> None:
    kernel = compile_request(Request(ADD, "cuda:90", TYPES, BLOCK, options=["num_warps=8", "min_shared_mem=2048"]))
    for stage in ("llir", "ptx"):
        path = tmp_path / f"k.{stage}"
        path.write_text(kernel.asm[stage])
        again = compile_request(Request(str(path), "cuda:90"))
        assert (again.metadata.num_warps, again.metadata.shared, again.metadata.num_ctas) == (8, 2048, 1)
        assert again.metadata.global_scratch_size == 0 and again.metadata.cluster_dims == (1, 1, 1)
        assert list(again.src.signature.values()) in (["*i8"] * 3 + ["i32"],)
