"""Run the tutorials of Gluon on an emulated H100, by the code of this compiler and by that of Triton.

    python -m tests.conformance.gluon_tutorials CHECKOUT [--triton PYTHON] [--only TEXT]

Each case calls a function of a tutorial of the checkout's `python/tutorials/gluon` on small arrays and compares the
result with PyTorch. With `--triton`, an interpreter that has Triton 3.9, the case runs a second time with the PTX that
Triton compiles from the same kernel, signature and constants: the emulator is checked by code that is not this
compiler's. The IR of each kernel is compared as well, without names, places and the order of constants; `--show N`
prints N of the lines that differ. The exit status is 1 where a case fails.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import tritium
from tests.conformance.golden import canonical
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

__all__ = ["CASES", "LEFT_RUNNING", "TritonDriver", "loaded", "main", "run"]

F16 = torch.float16
Case = Callable[[ModuleType], None]

#: cases whose kernels the emulator refuses, by either compiler: a copy that is not waited for, or operands overwritten
LEFT_RUNNING = {
    "conv2d_im2col": "which an operation of thread 0 of CTA 0 reads that has not been waited for",
    "persistent_matmul_pipelined": "exit without having waited for the mbarrier",
    "tma_multicast_copy": "exits without having waited for an operation that reads shared memory",
}

_WORKER = """
import importlib.util, json, re, sys, types
from unittest.mock import MagicMock
torch = MagicMock()
torch.cuda.get_device_capability.return_value = (9, 0)
torch.__spec__ = None
sys.modules.update(torch=torch, pytest=MagicMock())
import triton
from triton import compile
from triton._C.libtriton import nvidia
nvidia.cublas = MagicMock()
from triton.experimental.gluon.language.nvidia.hopper import tma
tma.async_copy_global_to_shared, tma.async_copy_shared_to_global = tma.async_load, tma.async_store  # names before 3.9
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon import language as gl
from triton.runtime import driver

target = GPUTarget("cuda", 90, 32)
driver.set_active(types.SimpleNamespace(get_current_target=lambda: target, get_current_device=lambda: 0))
modules = {}
for line in sys.stdin:
    path, name, signature, constants, attributes, options = json.loads(line)
    try:
        if path not in modules:
            sys.path.insert(0, path.rpartition("/")[0])
            spec = importlib.util.spec_from_file_location(path.rpartition("/")[2][:-3], path)
            modules[path] = importlib.util.module_from_spec(spec)
            text = re.sub(r"^benchmark_\\w+\\(.*\\)$", "", open(path).read(), flags=re.MULTILINE)
            exec(__builtins__.compile(text, path, "exec"), vars(modules[path]))
        scope = {**vars(gl), "gl": gl, **vars(modules[path])}
        values = {tuple(at): eval(text, scope) for at, text in constants}
        source = GluonASTSource(getattr(modules[path], name), signature, values, {tuple(k): v for k, v in attributes})
        made = compile(source, target=target, options=options)
        answer = [made.asm["ptx"], made.metadata.shared, made.asm["ttgir"], ""]
    except Exception as error:
        answer = ["", 0, "", f"{type(error).__name__}: {error}"[-600:]]
    print("ANSWER " + json.dumps(answer), flush=True)
"""


class TritonDriver(EmulatedCUDADriver):
    """An emulated GPU that runs what Triton compiles from each kernel that is launched."""

    def __init__(self, interpreter: str, folder: str) -> None:
        super().__init__(capability=90)
        environment = {**os.environ, "TRITON_CACHE_DIR": f"{folder}/cache"}
        self._worker = subprocess.Popen(
            [interpreter, "-c", _WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._made: dict[int, tuple[str, int]] = {}
        self._folder = Path(folder)
        self.texts: dict[str, tuple[list[str], list[str]]] = {}  # of each kernel, ours and Triton's

    def emulate(self, kernel: Any, grid: Any, params: Any, memory: Any) -> Any:
        """Emulate Triton's PTX in place of the kernel's."""
        ptx, shared = self._made.get(id(kernel)) or self._made.setdefault(id(kernel), self._compile(kernel))
        before = kernel.asm["ptx"], kernel.values["shared"]
        kernel.asm["ptx"], kernel.values["shared"] = ptx, shared
        try:
            return super().emulate(kernel, grid, params, memory)
        finally:
            kernel.asm["ptx"], kernel.values["shared"] = before

    def _compile(self, kernel: Any) -> tuple[str, int]:
        source = kernel.src
        path = self._with_triton(Path(source.fn.fn.__code__.co_filename))
        scope = source.fn.fn.__globals__
        constants = [(list(at), _text(value, scope)) for at, value in source.constants.items()]
        attributes = [(list(at), found) for at, found in source.attrs.items()]
        signature = {n: t if isinstance(t, str) else str(t) for n, t in source.signature.items()}
        warps = re.search(r'"ttg.num-warps" = (\d+)', kernel.asm["ttgir"])
        assert warps is not None
        options = {"num_warps": int(warps[1]), "num_ctas": kernel.metadata.num_ctas}
        if kernel.values.get("maxnreg") is not None:
            options["maxnreg"] = kernel.values["maxnreg"]
        job = [path, source.fn.__name__, signature, constants, attributes, options]
        assert self._worker.stdin is not None and self._worker.stdout is not None
        self._worker.stdin.write(json.dumps(job) + "\n")
        self._worker.stdin.flush()
        for line in self._worker.stdout:
            if line.startswith("ANSWER "):
                ptx, shared, ttgir, error = json.loads(line[7:])
                if error:
                    raise RuntimeError(f"Triton: {error}")
                self.texts[f"{Path(path).stem} {kernel.name}"] = comparable(kernel.asm["ttgir"]), comparable(ttgir)
                return ptx, shared
        raise RuntimeError("Triton's process ended")

    def _with_triton(self, path: Path) -> str:
        """The file, or a copy that imports Triton where the file imports this package."""
        text = path.read_text()
        if "tritium" not in text:
            return str(path)
        copy = self._folder / path.name
        copy.write_text(text.replace("tritium", "triton"))
        return str(copy)

    def close(self) -> None:
        """End Triton's process."""
        assert self._worker.stdin is not None
        self._worker.stdin.close()
        self._worker.wait()


_ALIAS = re.compile(r"^(#\w+) = (#ttg\..*|#nvidia.*|#ttng\..*)$", re.MULTILINE)
_PLACE = re.compile(r" ?loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


def comparable(text: str) -> list[str]:
    """The lines of a module in ttgir, without names, places and the order of constants."""
    text = _PLACE.sub("", re.sub(r"^#loc.*\n", "", text, flags=re.MULTILINE))
    aliases = dict(_ALIAS.findall(text))
    text = _ALIAS.sub("", text)
    for _ in range(3):  # layouts of layouts
        text = re.sub(r"#\w+\b(?!\.)", lambda found: aliases.get(found[0], found[0]), text)
    return canonical(re.sub(r', "ttng.two-ctas" = false|"ttng.two-ctas" = false, ', "", text))


def _text(value: Any, scope: dict[str, Any]) -> str:
    """An expression of a compile-time value in the module of a tutorial."""
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    for name, found in scope.items():
        if found is value and isinstance(value, type):
            return name
        if isinstance(value, type) and isinstance(found, ModuleType) and getattr(found, value.__name__, None) is value:
            return f"{name}.{value.__name__}"
        if isinstance(found, list) and any(entry is value for entry in found):
            return f"{name}[{next(i for i, entry in enumerate(found) if entry is value)}]"
    if type(value).__module__.startswith("tritium") and hasattr(value, "name"):
        return f"gl.{_DTYPES.get(value.name, value.name)}"
    return repr(value)


_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def _close(found: torch.Tensor, want: torch.Tensor) -> None:
    torch.testing.assert_close(found.float(), want.float(), atol=1e-1, rtol=1e-2)


def _copy(call: Callable[..., Any], *more: Any, n: int = 500) -> None:
    x = torch.randn(n)
    y = torch.empty_like(x)
    call(x, y, *more)
    assert torch.equal(x, y)


def _add(call: Callable[..., Any], *more: Any, **named: Any) -> None:
    a, b = torch.randn(100, 136), torch.randn(100, 136)
    c = torch.empty_like(a)
    call(a, b, c, *more, **named)
    assert torch.equal(c, a + b)


def _matmul(
    call: Callable[..., Any], *more: Any, shape: tuple[int, int, int] = (128, 128, 128), turned: bool = False
) -> None:
    M, N, K = shape
    a, b = torch.randn(M, K, dtype=F16), torch.randn(*((N, K) if turned else (K, N)), dtype=F16)
    c = torch.empty(M, N, dtype=F16)
    call(a, b, c, *more)
    _close(c, a.float() @ (b.T if turned else b).float())


def _small_mma(m: ModuleType, in_registers: bool) -> None:
    a, b, c = torch.randn(64, 32, dtype=F16), torch.randn(32, 64, dtype=F16), torch.randn(64, 64)
    d = torch.empty_like(c)
    m.small_mma(a, b, c, d, 32, in_registers, 4)
    _close(d, a.float() @ b.float() + c)


def _grid_2d(call: Callable[..., Any], *more: Any) -> None:
    x = torch.randn(70, 100)
    y = torch.empty_like(x)
    call(x, y, *more)
    assert torch.equal(x, y)


CASES: dict[str, tuple[str, Case]] = {
    "memcpy": ("01-intro", lambda m: _copy(m.memcpy, 64)),
    "copy_scalar": ("01-intro", lambda m: _copy(m.copy_scalar, n=1)),
    "memcpy_1d": ("02-layouts", lambda m: _copy(m.memcpy_1d_impl, 256, m.gl.BlockedLayout([2], [32], [4], [0]), 4)),
    "memcpy_2d": (
        "02-layouts",
        lambda m: _grid_2d(m.memcpy_2d_impl, 16, 64, m.gl.BlockedLayout([1, 2], [1, 32], [4, 1], [1, 0]), 4),
    ),
    "memcpy_2d_inout": ("02-layouts", lambda m: _grid_2d(m.memcpy_2d_inout)),
    "memcpy_1d_cpasync": ("03-async-copy", lambda m: _copy(m.memcpy_1d_cpasync, 256)),
    "elementwise_add": ("03-async-copy", lambda m: _add(m.elementwise_add)),
    "elementwise_add_cpasync": (
        "03-async-copy",
        lambda m: _add(m.elementwise_add_cpasync, m.gl.SwizzledSharedLayout(1, 1, 1, [1, 0])),
    ),
    "elementwise_add_pipelined": ("03-async-copy", lambda m: _add(m.elementwise_add_pipelined)),
    "memcpy_1d_tma": ("04-tma", lambda m: _copy(m.memcpy_1d_tma, 64)),
    "elementwise_add_tma": ("04-tma", lambda m: _add(m.elementwise_add_tma)),
    "small_mma": ("05-wgmma", lambda m: _small_mma(m, False)),
    "small_mma in registers": ("05-wgmma", lambda m: _small_mma(m, True)),
    "blocked_matmul": ("05-wgmma", lambda m: _matmul(m.blocked_matmul, 64, 64, 64, False, 4)),
    "blocked_matmul transposed": ("05-wgmma", lambda m: _matmul(m.blocked_matmul, 64, 64, 64, True, 4, turned=True)),
    "blocked_matmul_pipelined": (
        "05-wgmma",
        lambda m: _matmul(m.blocked_matmul_pipelined, 64, 64, 64, 4, shape=(64, 64, 256)),
    ),
    "matmul_pipelined": ("07-persistence", lambda m: _matmul(m.matmul_pipelined, 64, 64, 64, 3, 4)),
    "persistent_matmul": (
        "07-persistence",
        lambda m: _matmul(m.persistent_matmul, 64, 64, 64, 3, 4, m.schedulers[0]),
    ),
    "persistent_matmul grouped": (
        "07-persistence",
        lambda m: _matmul(m.persistent_matmul, 64, 64, 64, 3, 4, m.schedulers[-1]),
    ),
    "persistent_matmul_pipelined": (
        "07-persistence",
        lambda m: _matmul(m.persistent_matmul_pipelined, 64, 64, 64, 3, 4, m.schedulers[-1], shape=(128, 128, 512)),
    ),
    "elementwise_add_warp_specialized": ("08-warp-specialization", lambda m: _add(m.elementwise_add_warp_specialized)),
    "tma_im2col": ("13-conv-im2col", lambda m: _pixels(m)),
    "conv2d_im2col": ("13-conv-im2col", lambda m: _convolution(m)),
    "multicta_softmax": ("14-multicta", lambda m: _softmax(m)),
    "tma_multicast_copy": ("14-multicta", lambda m: _multicast(m)),
}


def _pixels(m: ModuleType) -> None:
    x = torch.arange(1.0, 17.0).reshape(1, 4, 4, 1).expand(1, 4, 4, 32).contiguous()
    y = torch.empty(16, 32)
    layout = m.ttgl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=32, rank=2)
    corner = [-1, -1]
    source = m.TensorDescriptorIm2Col.from_tensor(
        x, [16, 32], layout, pixel_box_lower_corner=corner, pixel_box_upper_corner=corner
    )
    target = m.TensorDescriptor.from_tensor(y, [16, 32], layout)
    m.tma_im2col_kernel[(1,)](source, target, 0, -1, -1, 0, 0, 0, num_warps=1)
    want = torch.nn.functional.pad(x[0, :, :, 0], (1, 0, 1, 0))[:4, :4].flatten()
    assert torch.equal(y, want[:, None].expand(16, 32))


def _convolution(m: ModuleType) -> None:
    x, w = torch.randn(1, 8, 8, 64, dtype=F16), torch.randn(64, 3, 3, 64, dtype=F16)
    want = torch.nn.functional.conv2d(x.float().permute(0, 3, 1, 2), w.float().permute(0, 3, 1, 2), padding=1)
    _close(m.conv2d_tma_im2col(x, w, padding=1), want.permute(0, 2, 3, 1))


def _softmax(m: ModuleType) -> None:
    x = torch.randn(2, 2048)
    _close(m.multicta_softmax_f32(x), torch.softmax(x, 1))


def _multicast(m: ModuleType) -> None:
    x = torch.randn(64, 64, dtype=F16)
    y = torch.empty_like(x)
    m.run_tma_multicast_copy(x, y)
    assert torch.equal(x, y)


def loaded(checkout: Path, name: str) -> ModuleType:
    """A tutorial as a module, on an emulated GPU in place of one that PyTorch has."""
    folder = checkout / "python" / "tutorials" / "gluon"
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = folder / f"{name}.py"
    text = re.sub(r"^benchmark_\w+\(.*\)$", "", path.read_text(), flags=re.MULTILINE)  # lines keep their numbers
    exec(compile(text, str(path), "exec"), vars(module))
    return module


@contextmanager
def emulated() -> Iterator[None]:
    """PyTorch answers that there is one H100, with two SMs; `tritium` is `triton`."""
    tritium.install()
    properties = type("Properties", (), {"multi_processor_count": 2, "major": 9, "minor": 0})()
    changed: dict[str, Callable[..., Any]] = {
        "get_device_capability": lambda *a: (9, 0),
        "get_device_properties": lambda *a: properties,
    }
    before = {name: getattr(torch.cuda, name) for name in changed}
    for name, value in changed.items():
        setattr(torch.cuda, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(torch.cuda, name, value)


def run(checkout: Path, interpreter: str | None, only: str = "", show: int = 0) -> dict[str, str]:
    """ "" for each case that passes, else what went wrong; cases of Triton's code are named so."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, emulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machines: dict[str, Any] = {"ours": EmulatedCUDADriver(capability=90)}
        if interpreter is not None:
            machines["Triton"] = TritonDriver(interpreter, folder)
        for name, (tutorial, case) in CASES.items():
            if only not in f"{tutorial} {name}":
                continue
            for machine, active in machines.items():
                driver.set_active(active)
                try:
                    case(loaded(checkout, tutorial))
                    text = f"not refused: {LEFT_RUNNING[name]}" if name in LEFT_RUNNING else ""
                except Exception as error:
                    expected = name in LEFT_RUNNING and LEFT_RUNNING[name] in str(error)
                    text = "" if expected else f"{type(error).__name__}: {str(error)[-500:]}"
                finally:
                    driver.reset_active()
                found[f"{tutorial} {name}, {machine}"] = text
        if interpreter is not None:
            machines["Triton"].close()
            for kernel, (ours, theirs) in machines["Triton"].texts.items():
                if ours != theirs:
                    lines = [line for line in difflib.ndiff(theirs, ours) if line[0] in "+-"]
                    print(f"IR of {kernel}: {len(lines)} of {len(ours)} lines differ", *lines[:show], sep="\n    ")
            equal = sum(ours == theirs for ours, theirs in machines["Triton"].texts.values())
            print(f"IR of {len(machines['Triton'].texts)} kernels: {equal} equal to Triton's")
    return found


def main() -> int:
    """The command line; 1 where a case fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--triton", metavar="PYTHON", help="an interpreter that has Triton 3.9")
    parser.add_argument("--only", default="", help="cases that contain this text")
    parser.add_argument("--show", type=int, default=0, help="lines of the IR of a kernel that differ")
    chosen = parser.parse_args()
    found = run(chosen.checkout, chosen.triton, chosen.only, chosen.show)
    for name, error in found.items():
        print(name, error or "passed")
    failed = sum(map(bool, found.values()))
    print(f"{len(found)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
