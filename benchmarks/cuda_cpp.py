"""The kernels of examples/cuda, in CUDA C++ through nvcc and in Triton's language through Tritium, for sm_90.

    python benchmarks/cuda_cpp.py [--keep FOLDER]
    python benchmarks/cuda_cpp.py --gpu

For each kernel: lines of source, time from source to machine code in a new process (the best of three), registers,
spills, bytes of shared memory, machine instructions, and the forms between source and machine code with their sizes.
Needs nvcc; no GPU. `--keep` writes all forms to a folder. `--gpu` measures speed on a GPU instead (`cuda_cpp_gpu`):
GB/s or TFLOP/s of nvcc's machine code, Tritium's, and torch's functions.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tritium.backends.nvidia.disassembler import instructions_of  # noqa: E402

CUDA = ROOT / "examples" / "cuda"


class Kernel(NamedTuple):
    """A kernel of both: the file in examples/cuda, and how `tritium compile` is called for ours."""

    name: str
    source: str
    signature: str
    warps: int


KERNELS = [
    Kernel("vector_add", "examples/vector_add.py::add_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, 1024", 4),
    Kernel("row_sums", "benchmarks/cuda_cpp_kernels.py::row_sums", "*fp32:16, *fp32:16, i32:16, 1024", 8),
    Kernel("softmax", "benchmarks/cuda_cpp_kernels.py::softmax", "*fp32:16, *fp32:16, i32:16, 1024", 8),
    Kernel(
        "matmul",
        "benchmarks/cuda_cpp_kernels.py::matmul",
        "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 128, 128, 32",
        8,
    ),
]


class Result(NamedTuple):
    """What one compiler makes of a kernel; `forms` has the size of each form, in lines or bytes."""

    lines: int
    seconds: float
    registers: int
    spills: int
    shared: int
    instructions: int
    forms: dict[str, str]


def code_lines(text: str) -> int:
    """Lines that are neither empty nor comments."""
    kept = (line.strip() for line in re.sub(r'""".*?"""', "", text, flags=re.DOTALL).splitlines())
    return sum(bool(line) and not line.startswith(("//", "#", "@")) for line in kept)


def _best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def _instructions(cubin: Path) -> int:
    """Machine instructions without padding."""
    found = instructions_of(cubin.read_bytes())
    return sum(one.opcode.partition(".")[0] != "NOP" for listing in found.values() for one in listing)


def cuda(kernel: Kernel, folder: Path) -> Result:
    """nvcc: preprocessor, cicc (CUDA's LLVM, whose IR is not written), ptxas, fatbinary."""
    source = CUDA / f"{kernel.name}.cu"
    cubin = folder / f"{kernel.name}.cubin"
    command = ["nvcc", "-arch=sm_90a", "-O3", "-Xptxas", "-v", "-cubin", str(source), "-o", str(cubin)]
    seconds = _best(lambda: subprocess.run(command, capture_output=True, check=True))
    kept = ["--keep", "--keep-dir", str(folder)]
    log = subprocess.run([*command, *kept], capture_output=True, text=True, check=True).stderr
    fatbin = folder / f"{kernel.name}.fatbin"
    subprocess.run(["nvcc", "-arch=sm_90a", "-fatbin", str(source), "-o", str(fatbin)], check=True, capture_output=True)
    forms = {
        name: _size(folder / f"{kernel.name}.{suffix}")
        for name, suffix in (("preprocessed", "cpp1.ii"), ("ptx", "ptx"))
    }
    forms |= {"cubin": _size(cubin), "fatbin": _size(fatbin)}
    return Result(
        code_lines(source.read_text()),
        seconds,
        int(re.search(r"Used (\d+) registers", log)[1]),
        int(re.search(r"(\d+) bytes spill stores", log)[1]),
        int((re.search(r"(\d+) bytes smem", log) or [0, 0])[1]),
        _instructions(cubin),
        forms,
    )


def _size(path: Path) -> str:
    data = path.read_bytes()
    lines = data.count(10)
    return f"{len(data):,} bytes" if path.suffix in (".cubin", ".fatbin") else f"{lines:,} lines"


def tritium(kernel: Kernel, folder: Path) -> Result:
    """`tritium compile` in a new process with an empty cache: source, ttir, ttgir, llir, ptx, cubin."""
    file, _, name = kernel.source.partition("::")
    command = [sys.executable, "-m", "tritium", "compile", kernel.source, "--target", "cuda:90"]
    command += ["--signature", kernel.signature, "--num-warps", str(kernel.warps)]

    def run(*more: str) -> str:
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "TRITIUM_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "1"}
            done = subprocess.run(
                [*command, *more], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
            )
        return done.stderr

    seconds = _best(run)
    summary = next(line for line in run("-o", f"{folder}/").splitlines() if "registers/thread" in line)
    number = {unit: int(n.replace(",", "")) for n, unit in re.findall(r"(\d[\d,]*) ([a-z][^,]*)", summary)}
    text = (ROOT / file).read_text()
    body = re.search(rf"^def {name}\(.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    forms = {form: _size(folder / f"{name}.{form}") for form in ("source", "ttir", "ttgir", "llir", "ptx", "cubin")}
    return Result(
        code_lines(body[0]),
        seconds,
        number["registers/thread"],
        number.get("registers/thread spilled", 0),
        number.get("bytes of shared memory", 0),
        _instructions(folder / f"{name}.cubin"),
        forms,
    )


def main() -> int:
    """Compile all kernels with both, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a folder for all forms")
    parser.add_argument("--gpu", action="store_true", help="measure speed on a GPU; needs torch")
    chosen = parser.parse_args()
    if chosen.gpu:
        import cuda_cpp_gpu

        with tempfile.TemporaryDirectory() as temporary:
            cuda_cpp_gpu.measure(Path(temporary))
        return 0
    version = re.search(
        r"release ([\d.]+)", subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    )
    print(f"nvcc {version[1] if version else '?'}, sm_90; new processes, the best of three\n")
    head = ("kernel", "compiler", "lines", "s", "registers", "spills", "shared", "instructions")
    print(("| {} " * len(head)).format(*head) + "|\n|---|---|" + "---:|" * (len(head) - 2))
    forms: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        for kernel in KERNELS:
            for compiler in (cuda, tritium):
                folder = (chosen.keep or Path(temporary)).resolve() / f"{kernel.name}-{compiler.__name__}"
                folder.mkdir(parents=True, exist_ok=True)
                r = compiler(kernel, folder)
                label = "nvcc" if compiler is cuda else "tritium"
                figures = (r.lines, f"{r.seconds:.2f}", r.registers, r.spills, f"{r.shared:,}", r.instructions)
                print(f"| {kernel.name} | {label} | {' | '.join(map(str, figures))} |", flush=True)
                forms.append(f"| {kernel.name} | {label} | " + ", ".join(f"{k} {v}" for k, v in r.forms.items()) + " |")
    print("\n| kernel | compiler | forms |\n|---|---|---|\n" + "\n".join(forms))
    return 0


if __name__ == "__main__":
    sys.exit(main())
