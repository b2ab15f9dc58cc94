"""C made of kernels for NVIDIA GPUs: it compiles without NVIDIA's headers, and asks the driver for the right things."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tritium
from tests.backends.nvidia.texts import needs_ptxas
from tests.tools.aot.programs import CC, KERNELS, Made, needs_cc, parameter_sizes
from tests.tools.test_cli import tritium_command
from tritium.compiler import compile
from tritium.runtime.packing import bits_of_bf16
from tritium.tools.aot.command import compile_for_c
from tritium.tools.compile_command import main
from tritium.tools.request import Request, options_of, parse_target, source_of

pytestmark = [needs_ptxas, pytest.mark.usefixtures("triton_alias")]

ROOT = Path(tritium.__file__).parents[1]
ADD = "*fp32:16, *fp32:16, *fp32:16, i32, 64"
POINTERS = "0x1000, 0x2000, 0x3000"


def sizes_of(kernel: str, signature: str, target: str = "cuda:90", **more: Any) -> str:
    """The sizes of the parameters, from the PTX."""
    request = Request(
        str(KERNELS), target, signature, kernel_name=kernel, options=["num_warps=1", "num_stages=3"], **more
    )
    made = compile(source_of(request), target=parse_target(target), options=options_of(request), until="ptx")
    return ",".join(map(str, parameter_sizes(made.asm["ptx"])))


def parameters(log: list[str]) -> list[bytes]:
    return [bytes.fromhex(line.split()[1]) for line in log if line.startswith("parameter")]


def starting(log: list[str], word: str) -> list[str]:
    return [line for line in log if line.startswith(word + " ")]


# ---- names and files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [["-m", "tritium.tools.compile"], [str(ROOT / "tritium" / "tools" / "compile.py")]])
def test_the_command_of_the_documents(tmp_path: Path, how: list[str]) -> None:
    """The very command, in a process of its own, without a GPU to see: names and hash are Triton's."""
    shutil.copy(KERNELS, tmp_path / "vector-add.py")
    done = subprocess.run(
        [sys.executable, *how, "--kernel-name", "add_kernel", "--signature",
         "*fp32,*fp32,*fp32,i32,64", "--grid=1024,1024,1024", "vector-add.py"],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["add_kernel.9969bdda_0123.h", "add_kernel.9969bdda_0123.c"]
    header = (tmp_path / "add_kernel.9969bdda_0123.h").read_text()
    assert "CUresult add_kernel_9969bdda_0123(CUstream stream, CUdeviceptr x_ptr" in header
    assert "CUresult load_add_kernel_9969bdda_0123(void);" in header
    assert "CUresult unload_add_kernel_9969bdda_0123(void);" in header
    assert "127,69,76,70," in (tmp_path / "add_kernel.9969bdda_0123.c").read_text()


def test_short_flags_are_tritons(tmp_path: Path) -> None:
    done = tritium_command(
        "compile", "-n", "add_kernel", "-s", ADD, "-g", "1,1,1", "-w", "2", "-ns", "4", "-on", "sum", "-o",
        str(tmp_path / "out"), "-t", "cuda:80:32", str(KERNELS),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = [Path(line).name for line in done.stdout.split()]
    assert re.fullmatch(r"out\.[0-9a-f]{8}_0d1d2d3\.h", names[0]) and len(names) == 2
    text = (tmp_path / names[1]).read_text()
    assert "config.block[0] = 64;" in text and "for sm_80" in text
    assert "num_warps = 2, num_stages = 4" in (tmp_path / names[0]).read_text()


def test_options_are_part_of_the_hash(make: Any) -> None:
    plain = make("add_kernel", ADD)
    assert make("add_kernel", ADD, options=["num_ctas=1"]).function == plain.function
    others = {make("add_kernel", ADD, options=[o]).function for o in ("num_ctas=2", "maxnreg=64", "num_warps=2")}
    assert len({plain.function, *others}) == 4


def test_values_by_name_are_the_signature(make: Any) -> None:
    plain = make("add_kernel", ADD)
    named = "n_elements=i32, x_ptr=*fp32:16, y_ptr=*fp32:16, output_ptr=*fp32:16"
    assert make("add_kernel", named, constants="BLOCK_SIZE=64").function == plain.function
    dense = make("scale_rows", "*fp32,*fp32,i32,i32,i32,i32,fp32")  # BLOCK has a default
    assert make("scale_rows", "*fp32,*fp32,i32,i32,i32,i32,fp32,64").function == dense.function


# ---- the C ---------------------------------------------------------------------------------------------------------


@needs_cc
def test_a_launch(make: Any, launched: Any) -> None:
    made = make("add_kernel", ADD, grid="cdiv(n_elements, BLOCK_SIZE), 2, n_elements % 3")
    status, log = launched(
        made,
        f"return {made.function}((CUstream)0x77, {POINTERS}, 200);",
        FAKE_CUDA_PARAMS=sizes_of("add_kernel", ADD),
    )
    assert status == 0
    assert log[:2] == ["load 1 1 status 0", "kernel add_kernel status 0"]
    assert log[2] == "launch grid 4 2 2 block 32 1 1 shared 0 stream 0x77"
    assert b"".join(parameters(log)) == struct.pack("<QQQiQQ", 0x1000, 0x2000, 0x3000, 200, 0, 0)
    assert len(log) == 3 + 6


@needs_cc
@pytest.mark.parametrize(
    ("grid", "n", "status", "launches"),
    [
        ("n_elements", 0, 0, 0),
        ("n_elements - 5", 5, 0, 0),
        ("n_elements - 5", 3, 1, 0),
        ("1 << n_elements", 64, 1, 0),
        ("64 >> n_elements - 5", 4, 1, 0),
        ("1, n_elements", 65535, 0, 1),
        ("1, n_elements", 65536, 1, 0),
        ("n_elements * n_elements", 1 << 30, 1, 0),  # computed in 64 bits
        ("2, 7 // n_elements", 0, 1, 0),
        ("triton.cdiv(n_elements, BLOCK_SIZE), tl.cdiv(n_elements, 100)", 65, 0, 1),
        ("max(n_elements, 3) >> 1, min(n_elements, 2), 6 % 4", 9, 0, 1),
    ],
)
def test_grids(make: Any, launched: Any, grid: str, n: int, status: int, launches: int) -> None:
    made = make("add_kernel", ADD, grid=grid)
    found, log = launched(made, f"return {made.function}(0, {POINTERS}, {n});")
    assert (found, len(starting(log, "launch"))) == (status, launches)
    if "min" in grid:
        assert "grid 4 2 2 " in log[-1]


@needs_cc
def test_hints(make: Any, launched: Any) -> None:
    signature = "*fp32:16,*fp32,i32,i32:16,i32:16,i32:1,fp32,64"
    made = make("scale_rows", signature, grid="rows, cdiv(columns, BLOCK), column_stride")
    assert made.function.endswith("_0d123d4d5c6")
    assert "column_stride" not in made.prototype and "column_stride is 1" in made.header
    assert "columns must be divisible by 16" in made.header
    status, log = launched(
        made,
        f"return {made.function}(0, 16, 32, 3, 128, 128, 0.5f);",
        FAKE_CUDA_PARAMS=sizes_of("scale_rows", signature),
    )
    assert status == 0 and "grid 3 2 1 " in starting(log, "launch")[0]
    assert b"".join(parameters(log)) == struct.pack("<QQiiifQQ", 16, 32, 3, 128, 128, 0.5, 0, 0)


@needs_cc
def test_every_kind_of_number(make: Any, launched: Any) -> None:
    signature = "*fp64,fp16,bf16,fp32,fp64,i1,i8,i16,i32,i64,u8,u16,u32,u64"
    made = make("numbers", signature)
    values = "1.3f, -2.7f, 3.1f, 4.1, 7, -8, -1600, -320000, -6400000000, 200, 60000, 4000000000u, 1ull << 63"
    status, log = launched(
        made, f"return {made.function}(0, 64, {values});", FAKE_CUDA_PARAMS=sizes_of("numbers", signature)
    )
    assert status == 0
    single = struct.unpack("<f", struct.pack("<f", -2.7))[0]
    expected = struct.pack("<Qe", 64, struct.unpack("<f", struct.pack("<f", 1.3))[0]) + struct.pack(
        "<H", bits_of_bf16(single)
    )
    expected += struct.pack(
        "<fdBbhiqBHIQQQ", 3.1, 4.1, 1, -8, -1600, -320000, -6400000000, 200, 60000, 4000000000, 1 << 63, 0, 0
    )
    assert b"".join(parameters(log)) == expected


def _patterns() -> list[int]:
    """Bits of fp32: halfway cases around numbers of 16 bits with several exponents, and the edges."""
    found = {0, 1, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001}
    for exponent in (0, 1, 100, 102, 103, 104, 111, 112, 113, 114, 126, 127, 141, 142, 143, 200, 254):
        for fraction in (0, 1, 0x3FF, 0x1FFF, 0x7FFF, 0x3FFFFF, 0x7FE000, 0x7FFFFF):
            for tail in (0, 0xFFF, 0x1000, 0x1001, 0x3000, 0x7FFF, 0x8000, 0x8001, 0x18000):
                found.add(exponent << 23 | (fraction << 13 | tail) & 0x7FFFFF)
    return sorted(found | {p | 1 << 31 for p in found})


ROUNDED = _patterns()


def rounded(pattern: int, ty: str) -> int:
    """Python's own rounding, which is exact; NaNs keep sign and the fraction's upper bits, and are quiet."""
    value = struct.unpack("<f", struct.pack("<I", pattern))[0]
    if ty == "bf16":
        return bits_of_bf16(value) if value == value else pattern >> 16 | 0x40
    if value != value:
        return (pattern >> 16 & 0x8000) | 0x7E00 | (pattern >> 13 & 0x3FF)
    try:
        return int.from_bytes(struct.pack("<e", value), "little")
    except OverflowError:
        return (pattern >> 16 & 0x8000) | 0x7C00


@needs_cc
@pytest.mark.parametrize("ty", ["fp16", "bf16"])
def test_rounding_to_16_bits(make: Any, launched: Any, tmp_path: Path, ty: str) -> None:
    made = make("half", ty)
    (tmp_path / "values.h").write_text(",".join(f"{p}u" for p in ROUNDED))
    text = f"""
static const unsigned bits[] = {{
#include "values.h"
}};
int main(void) {{
  for (int i = 0; i < {len(ROUNDED)}; i++) {{
    float x;
    memcpy(&x, bits + i, 4);
    if ({made.function}(0, x)) return 1;
  }}
  return 0;
}}"""
    status, log = launched(made, text, FAKE_CUDA_PARAMS="2")
    assert status == 0
    assert [int.from_bytes(p, "little") for p in parameters(log)] == [rounded(p, ty) for p in ROUNDED]


@needs_cc
def test_constants_none_and_names_that_c_does_not_take(make: Any, launched: Any) -> None:
    signature = "*i32, i32, i32, i32, i32, None, 'double'"
    made = make("names", signature, grid="stream, grid, tt_it")
    assert "int is called int_" in made.header and "none_ptr = None, MODE = 'double'" in made.header
    status, log = launched(
        made, f"return {made.function}(0, 8, 1, 2, 3, 4);", FAKE_CUDA_PARAMS=sizes_of("names", signature)
    )
    assert status == 0 and "grid 1 4 3 " in starting(log, "launch")[0]
    assert b"".join(parameters(log)) == struct.pack("<QiiiiQQ", 8, 1, 2, 3, 4, 0, 0)


@needs_cc
def test_much_shared_memory_is_asked_for_on_every_gpu(make: Any, launched: Any) -> None:
    made = make("product", "*fp16:16,*fp16:16,*fp32:16,i32:16,128,64", options=["num_warps=8", "num_stages=4"])
    call = f"return {made.function}(0, {POINTERS}, 256);"
    status, log = launched(made, call, FAKE_CUDA_DEVICES="2")
    shared = int(re.search(r"shared (\d+)", starting(log, "launch")[0])[1])  # type: ignore[index]
    assert status == 0 and shared > 48 << 10
    assert starting(log, "attribute") == [f"attribute {a} device {d}" for d in (0, 1) for a in (f"8 {shared}", "9 100")]
    # a GPU that cannot run the kernel does not keep the others from it
    status, log = launched(made, call, FAKE_CUDA_DEVICES="2", FAKE_CUDA_FAIL="cuKernelSetAttribute@0=1")
    assert status == 0 and len(starting(log, "launch")) == 1
    status, log = launched(made, call, FAKE_CUDA_DEVICES="2", FAKE_CUDA_FAIL="cuKernelSetAttribute=98")
    assert status == 98 and log[-1] == "unload" and not starting(log, "launch")


@needs_cc
@pytest.mark.parametrize(
    ("options", "grid", "wanted"),
    [
        (["num_ctas=2"], "6 1 1", ["with 4: 2 1 1", "with 5: 1 0 0"]),
        (["num_ctas=16"], "48 1 1", ["attribute 14 1 device 0", "with 4: 16 1 1", "with 5: 1 0 0"]),
        (["launch_cooperative_grid=True"], "3 1 1", ["with 2: 1 0 0"]),
        (["launch_pdl=True"], "3 1 1", ["with 6: 1 0 0"]),
    ],
)
def test_ways_to_launch(make: Any, launched: Any, options: list[str], grid: str, wanted: list[str]) -> None:
    made = make("add_kernel", ADD, grid="3", options=options)
    status, log = launched(made, f"return {made.function}(0, {POINTERS}, 200);")
    assert status == 0 and f"grid {grid} " in starting(log, "launch")[0]
    assert [line for line in log if line.startswith(("with", "attribute"))] == wanted


@needs_cc
def test_a_grid_of_clusters_that_is_too_large(make: Any, launched: Any) -> None:
    made = make("add_kernel", ADD, grid="n_elements", options=["num_ctas=2"])
    text = f"return {made.function}(0, {POINTERS}, 0x3fffffff) * 16 + {made.function}(0, {POINTERS}, 0x40000000);"
    status, log = launched(made, text)
    assert status == 1 and len(starting(log, "launch")) == 1


@needs_cc
def test_scratch_memory_lives_as_long_as_a_launch(make: Any, launched: Any) -> None:
    signature = "*fp32:16,*fp32:16,i32,i32,32"
    made = make("double_tiles", signature, grid="cdiv(m, BLOCK), cdiv(n, BLOCK)")
    call = f"return {made.function}((CUstream)0x99, 0x1000, 0x2000, 64, 96);"
    how = {"FAKE_CUDA_PARAMS": sizes_of("double_tiles", signature)}
    status, log = launched(made, call, **how)
    assert status == 0
    (allocated,), (freed,) = starting(log, "allocate"), starting(log, "free")
    size = int(allocated.split()[1])
    assert size % (2 * 3 * 128) == 0 and allocated.endswith("stream 0x99") and freed == "free 7000000100 stream 0x99"
    assert b"".join(parameters(log)) == struct.pack("<QQiiQQ", 0x1000, 0x2000, 64, 96, 0x7000000100, 0)
    assert log.index(allocated) < log.index(starting(log, "launch")[0]) < log.index(freed)
    status, log = launched(made, call, **how, FAKE_CUDA_FAIL="cuLaunchKernelEx=9")
    assert status == 9 and len(starting(log, "free")) == 1
    status, log = launched(made, call, **how, FAKE_CUDA_FAIL="cuMemAllocAsync=2")
    assert status == 2 and not starting(log, "launch") and not starting(log, "free")


@needs_cc
def test_scratch_memory_of_both_kinds(tmp_path: Path, launched: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """No pass of ours asks for a profiler's memory: a kernel's metadata are changed to do so."""
    request = Request(str(KERNELS), "cuda:90", ADD, output=f"{tmp_path}/", kernel_name="add_kernel", grid="3, 2")
    kernel, deliver = compile_for_c(request)
    kernel.values.update(global_scratch_size=16, profile_scratch_size=40, num_ctas=2)
    paths = deliver()
    made = Made(paths, paths[0].name.removesuffix(".h").replace(".", "_"))
    call = f"return {made.function}(0, {POINTERS}, 200);"
    how = {"FAKE_CUDA_PARAMS": sizes_of("add_kernel", ADD)}
    status, log = launched(made, call, **how)
    assert status == 0 and starting(log, "allocate") == [f"allocate {n * 12} stream (nil)" for n in (16, 40)]
    assert b"".join(parameters(log))[-16:] == struct.pack("<QQ", 0x7000000100, 0x7000000200)
    assert [line.split()[1] for line in starting(log, "free")] == ["7000000100", "7000000200"]


TENSORS = "TritiumTensor x = {0x1000, {64, 96}, {128, 1}, 0}, y = {0x2000, {64, 96}, {96, 1}, 0}, out = {0x4000, {65, 97}, {112, 1}, 0};"


@needs_cc
def test_descriptors_are_encoded_for_the_copy_engine(make: Any, launched: Any) -> None:
    signature = "tensordesc<fp16[32,64]>, tensordesc<fp16[32,64],nan>, tensordesc<fp16[32,64]>, 32"
    signature = signature.replace("[32,64]", "[32,32]")
    made = make("add_tiles", signature, grid="2, 3")
    assert "const TritiumTensor *x, const TritiumTensor *y" in made.prototype
    status, log = launched(
        made, f"{TENSORS} return {made.function}(0, &x, &y, &out);", FAKE_CUDA_PARAMS=sizes_of("add_tiles", signature)
    )
    assert status == 0
    encoded = starting(log, "encode")
    assert [re.search(r"address (\w+)", line)[1] for line in encoded] == ["0x1000", "0x2000", "0x4000"]  # type: ignore[index]
    assert all(line.startswith("encode aligned 1 type 6 ") for line in encoded)
    assert [re.search(r"fill (\d)", line)[1] for line in encoded] == ["0", "1", "0"]  # type: ignore[index]
    assert encoded[0].endswith("dimensions 96:0:32:1 64:256:32:1") and encoded[2].endswith("97:0:32:1 65:224:32:1")
    found = parameters(log)
    # shape and strides follow each map; the driver's mark of small tensors is taken back
    for n, (shape, strides) in enumerate([((64, 96), (128, 1)), ((64, 96), (96, 1)), ((65, 97), (112, 1))]):
        block = found[5 * n : 5 * n + 5]
        assert [len(b) for b in block] == [128, 4, 4, 8, 8]
        assert b"".join(block[1:]) == struct.pack("<iiqq", *shape, *strides)
        assert int.from_bytes(block[0][8:16], "little") == (1 << 64) - 1 - (1 << 21)
    assert found[15:] == [bytes(8)] * 2


@needs_cc
def test_descriptors_before_hopper_are_pointers(make: Any, launched: Any) -> None:
    signature = ", ".join(["tensordesc<fp16[32,32]>"] * 3) + ", 32"
    made = make("add_tiles", signature, target="cuda:80", grid="2, 3")
    status, log = launched(
        made,
        f"{TENSORS} return {made.function}(0, &x, &y, &out);",
        FAKE_CUDA_PARAMS=sizes_of("add_tiles", signature, "cuda:80"),
    )
    assert status == 0 and not starting(log, "encode")
    expected = struct.pack("<Q4q", 0x1000, 64, 96, 128, 1) + struct.pack("<Q4q", 0x2000, 64, 96, 96, 1)
    assert b"".join(parameters(log)) == expected + struct.pack("<Q4qQQ", 0x4000, 65, 97, 112, 1, 0, 0)


@needs_cc
@pytest.mark.parametrize(
    "tensor", ["{0x1000, {64, 96}, {128, 2}, 0}", "{0x1000, {64, 0}, {128, 1}, 0}", "{0x1000, {64, 96}, {-128, 1}, 0}"]
)
def test_descriptors_that_nobody_can_encode(make: Any, launched: Any, tensor: str) -> None:
    made = make("add_tiles", ", ".join(["tensordesc<fp16[32,32]>"] * 3) + ", 32")
    status, log = launched(made, f"TritiumTensor x = {tensor}; return {made.function}(0, &x, &x, &x);")
    assert status == 1 and not starting(log, "launch")


# ---- loading -------------------------------------------------------------------------------------------------------

THREADS = """
#include <pthread.h>
static void *launch(void *unused) {
  for (int i = 0; i < 20; i++)
    if (FUNCTION(0, 1, 2, 3, 100)) return "failed";
  return 0;
}
int main(void) {
  pthread_t threads[16];
  int failed = 0;
  for (int i = 0; i < 16; i++) pthread_create(threads + i, 0, launch, 0);
  for (int i = 0; i < 16; i++) {
    void *said;
    pthread_join(threads[i], &said);
    failed += said != 0;
  }
  return failed;
}
"""


@needs_cc
def test_threads_that_load_at_once(make: Any, launched: Any) -> None:
    made = make("add_kernel", ADD)
    status, log = launched(made, THREADS.replace("FUNCTION", made.function))
    assert status == 0 and len(starting(log, "launch")) == 320
    assert len(starting(log, "load")) == log.count("unload") + 1


@needs_cc
def test_loading_and_unloading(make: Any, launched: Any) -> None:
    made = make("add_kernel", ADD)
    launch = f"{made.function}(0, {POINTERS}, 200)"
    load, unload = f"load_{made.function}()", f"unload_{made.function}()"
    status, log = launched(
        made, f"return {unload} || {load} || {load} || {launch} || {unload} || {unload} || {launch};"
    )
    words = [line.split()[0] for line in log]
    assert status == 0
    assert words == ["load", "kernel", "function", "function", "launch", "unload", "load", "kernel", "launch"]


@needs_cc
@pytest.mark.parametrize(("fail", "status"), [("cuLibraryLoadData=209", 209), ("cuLibraryGetKernel=200", 200)])
def test_a_kernel_that_cannot_be_loaded(make: Any, launched: Any, fail: str, status: int) -> None:
    made = make("add_kernel", ADD)
    call = f"{made.function}(0, {POINTERS}, 200)"
    found, log = launched(made, f"int first = {call}; return first == {call} ? first : 1;", FAKE_CUDA_FAIL=fail)
    assert found == status and len(starting(log, "load")) == 2  # tried again, and nothing is left behind
    assert log.count("unload") == (2 if "GetKernel" in fail else 0)


@needs_cc
def test_the_driver_found_at_run_time(make: Any, launched: Any, tmp_path: Path) -> None:
    made = make("double_tiles", "*fp32:16,*fp32:16,i32,i32,32")
    call = f"return {made.function}(0, 0x1000, 0x2000, 64, 96);"
    status, log = launched(made, call, ("-DTRITIUM_DLOPEN", "-ldl"))
    assert status == 0 and len(starting(log, "launch")) == 1
    status, log = launched(made, call, ("-DTRITIUM_DLOPEN", "-ldl"), LD_LIBRARY_PATH=str(tmp_path / "nothing"))
    if status != 0:  # where no driver is installed
        assert status == 3 and not log


@needs_cc
@pytest.mark.parametrize("flags", [("-std=c11", "-pedantic"), ("-std=c17", "-O2"), ("-std=gnu2x",)])
def test_the_source_is_plain_c(make: Any, tmp_path: Path, flags: tuple[str, ...]) -> None:
    made = make("add_tiles", ", ".join(["tensordesc<fp16[32,32]>"] * 3) + ", 32")
    assert CC is not None
    command = [CC, "-c", "-Wall", "-Wextra", "-Werror", *flags, str(made.path(".c")), "-o", str(tmp_path / "o.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler is installed")
def test_the_header_is_cpp_too(make: Any, tmp_path: Path) -> None:
    made = make("add_tiles", ", ".join(["tensordesc<fp16[32,32]>"] * 3) + ", 32")
    source = tmp_path / "main.cpp"
    source.write_text(f'#include "{made.path(".h").name}"\nint main() {{ return load_{made.function}(); }}\n')
    done = subprocess.run(
        ["g++", "-c", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(tmp_path / "o.o")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@needs_cc
@pytest.mark.skipif(
    not list(Path("/usr/local").glob("cuda*/include/cuda.h")), reason="NVIDIA's headers are not installed"
)
@pytest.mark.parametrize("first", ["cuda.h", "ours"])
def test_beside_nvidias_header(make: Any, tmp_path: Path, first: str) -> None:
    folder = next(Path("/usr/local").glob("cuda*/include/cuda.h")).parent
    made = make("add_kernel", ADD)
    lines = ["#include <cuda.h>", f'#include "{made.path(".h").name}"']
    lines = lines if first == "cuda.h" else lines[::-1]
    source = tmp_path / "main.c"
    call = f"CUstream s = 0; CUdeviceptr p = 0; CUresult r = {made.function}(s, p, p, p, 1);"
    source.write_text("\n".join([*lines, f"int f(void) {{ {call} return r == CUDA_SUCCESS; }}"]))
    assert CC is not None
    command = [CC, "-c", "-Wall", "-Werror", f"-I{folder}", str(source), "-o", str(tmp_path / "o.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message", "caret"),
    [
        ({"signature": ADD.replace("i32", "i33")}, "unknown type 'i33'", "i33"),
        ({"signature": ADD.replace("i32", "i32:8")}, "the hints are 1 and 16, not 8", "8"),
        ({"signature": ADD.replace("64", "i32")}, "BLOCK_SIZE is a compile-time parameter", "i32"),
        ({"signature": "*fp32, *fp32"}, "no type for parameter 'output_ptr' of add_kernel", " "),
        ({"signature": "*fp32, *fp32, *fp32, fp8e5, 64"}, "C has no numbers of type fp8e5", "fp8e5"),
        ({"grid": "cdiv(n_element, 64)"}, "the kernel has no parameter 'n_element'", "n_element"),
        ({"grid": "x_ptr"}, "x_ptr is of type *fp32, no integer", "x_ptr"),
        ({"grid": "1,2,"}, "", ""),
        ({"grid": "1,2,3,4"}, "a grid has one, two or three sizes, not 4", "4"),
        ({"grid": "n_elements / (2"}, "'(' is never closed", "("),
        ({"grid": "n_elements // 0"}, "a division by zero", "n_elements // 0"),
        ({"grid": "1 << 64"}, "a shift by 64: amounts are 0 to 63", "1 << 64"),
        ({"grid": "n_elements >> -1"}, "a shift by -1: amounts are 0 to 63", "n_elements >> -1"),
        ({"grid": "(1 << 62) * 4 >> 60"}, "18446744073709551616 does not fit in 64 bits", "(1 << 62) * 4"),
        ({"grid": "-1"}, "-1 programs along axis 0: there are 0 to", "-1"),
        ({"grid": "1, 1, 65536"}, "65536 programs along axis 2", "65536"),
    ],
)
def test_mistakes_are_pointed_at(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: dict[str, str], message: str, caret: str
) -> None:
    request = {"signature": ADD, "grid": "1", **change}
    status = main(Request(str(KERNELS), "cuda:90", kernel_name="add_kernel", output=f"{tmp_path}/", **request))
    err = capsys.readouterr().err
    if not message:
        assert status == 0
        return
    assert status == 1 and message in err and "Traceback" not in err and not list(tmp_path.iterdir())
    lines = err.splitlines()
    at = next(i for i, line in enumerate(lines) if set(line) <= set(" |^") and "^" in line)
    text = lines[at - 1].ljust(200)
    assert text[lines[at].index("^") : lines[at].rindex("^") + 1] == caret


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "hip:gfx942"}, "no launchers in C are made for AMD GPUs"),
        ({"target": "cuda:90:64"}, "has warps of 64 threads"),
        ({"out_name": "1st"}, "'1st' is no name of a function in C"),
        ({"out_name": "register"}, "'register' is no name of a function in C"),
        ({"grid": "", "out_name": "other"}, "--out-name names the C functions, which need --grid"),
        ({"stages": ["ptx"]}, "--stage shows stages, and --grid makes C"),
        ({"file": f"{KERNELS}::product"}, "name two kernels"),
        ({"kernel_name": "ad_kernel"}, "did you mean 'add_kernel'?"),
        ({"options": ["num_wraps=2"]}, "unknown option 'num_wraps'"),
    ],
)
def test_commands_that_cannot_be_followed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    told = {"file": str(KERNELS), "target": "cuda:90", "kernel_name": "add_kernel", "grid": "1", **change}
    status = main(Request(signature=ADD, output=f"{tmp_path}/", **told))
    err = capsys.readouterr().err
    assert status == 1 and message in err and "Traceback" not in err and not list(tmp_path.iterdir())


def test_a_trace_of_it(make: Any, tmp_path: Path) -> None:
    make("add_kernel", ADD, trace=str(tmp_path / "trace.jsonl"))
    assert '"stage"' in (tmp_path / "trace.jsonl").read_text()


def test_the_module_tells_its_own_name() -> None:
    for module in ("compile", "link"):
        done = subprocess.run([sys.executable, "-m", f"tritium.tools.{module}"], capture_output=True, text=True)
        assert done.returncode == 2 and f"Usage: python -m tritium.tools.{module} [OPTIONS]" in done.stderr


def test_nothing_is_half_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    request = Request(str(KERNELS), "cuda:90", ADD, output=f"{tmp_path}/", kernel_name="add_kernel", grid="1")
    assert main(request) == 0
    source, header = sorted(tmp_path.iterdir())
    capsys.readouterr()
    source.unlink()
    source.mkdir()  # nothing can be put there
    before = header.read_text()
    header.write_text("of an earlier run")
    assert main(request) == 1 and "is a folder" in capsys.readouterr().err
    assert header.read_text() == "of an earlier run" != before
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([source.name, header.name])
