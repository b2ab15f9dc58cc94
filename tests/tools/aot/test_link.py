"""`tritium link`: which variant a dispatcher calls, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.tools.aot.programs import KERNELS, Made, needs_cc
from tests.tools.test_cli import tritium_command
from tritium.tools.aot.interface import AotError
from tritium.tools.aot.link import Variant, dispatcher
from tritium.tools.link import main

pytestmark = [needs_ptxas, pytest.mark.usefixtures("triton_alias")]

HINTS = ("i32:16,i32:16,i32:1", "i32,i32,i32:1", "i32,i32,i32")


@pytest.fixture
def variants(make: Any) -> list[Made]:
    """Three variants of each of two algorithms; the launchers differ in their grids, so that calls can be told apart."""
    return [
        make("scale_rows", f"*fp32:16,*fp32,i32,{hints},fp32,{block}", out_name="scale", grid=f"{block}, {n + 1}")
        for block in (64, 32)
        for n, hints in enumerate(HINTS)
    ]


def linked(variants: list[Made], folder: Path, out: str = "scale", **more: str) -> Path:
    assert main([str(v.path(".h")) for v in variants], str(folder / out), **more) == 0
    return folder / f"{out}.c"


def called(log: list[str]) -> list[tuple[int, int]]:
    """The block and the number of hints' row of each launch."""
    return [tuple(map(int, line.split()[2:4])) for line in log if line.startswith("launch")]  # type: ignore[misc]


CALLS = """
#include "scale.h"
int main(void) {
  int status = 0;
  for (int algorithm = 0; algorithm < 2; algorithm++) {
    status |= scale(0, 64, 8, 3, 128, 128, 1, 0.5f, algorithm);
    status |= scale(0, 64, 8, 3, 127, 128, 1, 0.5f, algorithm);
    status |= scale(0, 64, 8, 3, 128, 128, 2, 0.5f, algorithm);
    status |= scale(0, 64, 8, 3, 0, -16, 1, 0.5f, algorithm);
  }
  status |= scale_default(0, 64, 8, 3, 128, 128, 1, 0.5f);
  if (scale(0, 72, 8, 3, 128, 128, 1, 0.5f, 0) != CUDA_ERROR_INVALID_VALUE) return 100; /* x is at no multiple of 16 */
  if (scale(0, 64, 8, 3, 128, 128, 1, 0.5f, 2) != CUDA_ERROR_INVALID_VALUE) return 101;
  if (scale(0, 64, 8, 3, 128, 128, 1, 0.5f, -1) != CUDA_ERROR_INVALID_VALUE) return 102;
  return scale_get_num_algos() == 2 ? status : 103;
}
"""


@needs_cc
def test_the_variant_with_most_hints_that_hold(variants: list[Made], launched: Any, tmp_path: Path) -> None:
    source = linked([*variants[3:], *variants[:3]], tmp_path)  # the order of headers is that of algorithms
    header = source.with_suffix(".h").read_text()
    assert "0: 32_warps1xstages3 (BLOCK = 32)" in header and "1: 64_warps1xstages3 (BLOCK = 64)" in header
    assert "x_ptr % 16 == 0 && columns % 16 == 0 && row_stride % 16 == 0 && column_stride == 1\n" in header
    assert "int32_t column_stride" in header
    status, log = launched(variants, CALLS, sources=(source,))
    assert status == 0
    assert called(log) == [(b, n) for b in (32, 64) for n in (1, 2, 3, 1)] + [(32, 1)]


@needs_cc
def test_all_variants_are_loaded_and_unloaded(variants: list[Made], launched: Any, tmp_path: Path) -> None:
    source = linked(variants, tmp_path)
    text = '#include "scale.h"\nint main(void) { return load_scale() + unload_scale(); }'
    status, log = launched(variants, text, sources=(source,))
    assert status == 0 and log.count("unload") == 6 and log.count("function") == 6
    status, log = launched(variants, text, sources=(source,), FAKE_CUDA_FAIL="cuLibraryGetKernel=100")
    assert status == 100 and log.count("unload") == 6


@needs_cc
def test_one_variant_without_hints(make: Any, launched: Any, tmp_path: Path) -> None:
    made = make("add_kernel", "*fp32,*fp32,*fp32,i32,64", out_name="add")
    source = linked([made], tmp_path, "both", prefix="my_")
    text = '#include "both.h"\nint main(void) { return my_add_default(0, 1, 2, 3, 4); }'
    status, log = launched(made, text, sources=(source,))
    assert status == 0 and len(called(log)) == 1


@needs_cc
def test_several_kernels_in_several_folders(make: Any, launched: Any, tmp_path: Path) -> None:
    made = [
        make("add_kernel", "*fp32,*fp32,*fp32,i32,64", output=f"{tmp_path}/one/"),
        make("half", "fp16", output=f"{tmp_path}/two/"),
    ]
    source = linked(made, tmp_path / "three", "all")
    assert '#include "../one/add_kernel.' in source.with_suffix(".h").read_text()
    text = (
        '#include "three/all.h"\nint main(void) { return add_kernel_default(0, 1, 2, 3, 4) + half_default(0, 1.0f); }'
    )
    status, log = launched(made, text, (f"-I{tmp_path}/one", f"-I{tmp_path}/two"), sources=(source,))
    assert status == 0 and len(called(log)) == 2


def test_the_command(make: Any, tmp_path: Path) -> None:
    made = make("add_kernel", "*fp32,*fp32,*fp32,i32,64")
    done = tritium_command("link", str(made.path(".h")), "-o", str(tmp_path / "add"))
    assert done.returncode == 0, done.stderr
    first = {p.name: p.read_text() for p in tmp_path.glob("add.*")}
    assert sorted(first) == ["add.c", "add.h"]
    headers = sorted(map(str, tmp_path.glob("*.h")))  # now with that of the dispatcher
    module = [sys.executable, "-m", "tritium.tools.link", *headers, "--out", str(tmp_path / "add")]
    done = subprocess.run(module, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {p.name: p.read_text() for p in tmp_path.glob("add.*")} == first


@needs_cc
def test_triton_links_our_headers(make: Any, launched: Any, tmp_path: Path, triton_link: Path) -> None:
    """Triton's own linker reads them, and what it writes works; it has an algorithm for each set of `:1`."""
    made = [
        make("scale_rows", f"*fp32:16,*fp32,i32,{hints},fp32,64", out_name="scale", grid=f"1, {n + 1}")
        for n, hints in enumerate(("i32:16,i32:16,i32", "i32,i32,i32"))
    ]
    headers = [str(m.path(".h")) for m in made]
    done = subprocess.run(
        [sys.executable, str(triton_link), *headers, "-o", str(tmp_path / "theirs")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    text = """
int scale_default(CUstream, CUdeviceptr, CUdeviceptr, int32_t, int32_t, int32_t, int32_t, float);
int main(void) { return scale_default(0, 64, 8, 3, 128, 128, 2, 0.5f) + scale_default(0, 64, 8, 3, 127, 128, 2, 0.5f); }"""
    include = tmp_path / "stub" / "cuda.h"
    include.parent.mkdir()
    include.write_text(
        "#pragma once\ntypedef struct CUstream_st *CUstream;\ntypedef int CUresult;\n"
        "typedef unsigned long long CUdeviceptr;\n#define CUDA_ERROR_INVALID_VALUE 1\n"
    )
    flags = ("-DTRITIUM_NO_CUDA_H", f"-I{include.parent}", "-Wno-strict-prototypes")
    status, log = launched(made, text, flags, sources=(tmp_path / "theirs.c",))
    assert status == 0 and called(log) == [(1, 1), (1, 2)]


@pytest.fixture
def triton_link() -> Path:
    import os

    python = os.environ.get("TRITIUM_TEST_TRITON")
    if not python:
        pytest.skip("TRITIUM_TEST_TRITON names no interpreter that has Triton 3.9")
    script = "import triton.tools, pathlib; print(pathlib.Path(triton.tools.__path__[0], 'link.py'))"
    return Path(subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.strip())


# ---- what is refused -----------------------------------------------------------------------------------------------


def variant(header: str, **change: Any) -> Variant:
    told = {
        "backend": "cuda",
        "target": "cuda:90",
        "base": "add",
        "function": f"add_{header[:1]}",
        "algorithm": "64_warps1xstages3",
        "constants": {"BLOCK": "64"},
        "parameters": (("x", "CUdeviceptr", 16), ("n", "int32_t", 0)),
        **change,
    }
    return Variant(header, **told)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "a.h and b.h are the same algorithm of add with the same hints"),
        ({"target": "cuda:80"}, "a.h is for cuda:90, b.h for cuda:80: link them apart"),
        ({"base": "other", "backend": "cpu"}, "a.h is for cuda, b.h for cpu"),
        (
            {"parameters": (("x", "CUdeviceptr", 0), ("n", "int64_t", 0))},
            "a.h and b.h have different parameters of add: int32_t n and int64_t n",
        ),
        ({"parameters": (("x", "CUdeviceptr", 0),)}, "a.h and b.h have different parameters of add: 2 and 1"),
        (
            {"constants": {"BLOCK": "64.0"}, "parameters": (("x", "CUdeviceptr", 0), ("n", "int32_t", 0))},
            "two variants of add are both called 64_warps1xstages3",
        ),
    ],
)
def test_variants_that_do_not_belong_together(change: dict[str, Any], message: str) -> None:
    with pytest.raises(AotError, match=message):
        dispatcher([variant("a.h"), variant("b.h", **change)], "out")


def test_files_that_are_no_headers_of_ours(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = tmp_path / "other.h"
    other.write_text("int f(void);\n// tritium-kernel: {broken\n")
    newer = tmp_path / "newer.h"
    newer.write_text('// tritium-kernel: {"version": 7}\n')
    for path, message in [
        (tmp_path / "none.h", "there is no file"),
        (KERNELS, "declares no kernel"),
        (other, "declares no kernel"),
        (newer, "is of version 7, not 1"),
        (tmp_path / "out.h", "there is no file"),
    ]:
        assert main([str(path)], str(tmp_path / "out")) == 1
        err = capsys.readouterr().err
        assert err.startswith("tritium link: error: ") and message in err
    assert not list(tmp_path.glob("out*"))
