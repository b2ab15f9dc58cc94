"""What the modules of this folder share: workloads by name, inputs on a device, and checkouts of public repositories.

A module names its repository, imports the published kernels from a checkout and has one function per workload, marked
`@workload`. The function makes the inputs and returns `run`, which calls the repository's own code and returns tensors
to compare. Nothing of the repositories is copied or changed; stand-ins replace only packages that are not installed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

__all__ = [
    "DEVICE", "MODULES", "Run", "anything", "both_ways", "load", "package", "packages", "rand", "stand_in", "whole",
    "workload",
]  # fmt: skip

DEVICE = os.environ.get("PUBLIC_DEVICE", "cuda")
HERE = Path(__file__).resolve().parent
Run = Callable[[], Any]
bf16, f16, f32 = torch.bfloat16, torch.float16, torch.float32

#: A module of this folder -> the folder that a clone of its repository makes.
MODULES = {
    "attorch": "attorch",
    "fla": "flash-linear-attention",
    "vllm": "vllm",
    "lightllm": "lightllm",
    "sglang": "sglang",
    "mamba": "mamba",
    "liger": "Liger-Kernel",
    "unsloth": "unsloth",
    "cross_entropy": "ml-cross-entropy",
    "conch": "conch",
    "sageattention": "SageAttention",
    "flag_attention": "FlagAttention",
    "flaggems": "FlagGems",
    "tutorials": "tutorials",
    "tuned_tutorials": "tutorials",
}
_found: dict[str, Callable[[], Run]] = {}
_root = Path()


def workload(function: Callable[[], Run]) -> Callable[[], Run]:
    """Mark a function that makes inputs and returns the call to measure."""
    _found[function.__name__] = function
    return function


def load(module: str, checkouts: Path) -> dict[str, Callable[[], Run]]:
    """The workloads of a module of this folder, with the kernels of its checkout, by `module.workload`."""
    global _root
    _found.clear()
    _root = checkouts / MODULES[module]
    if not _root.is_dir():
        raise FileNotFoundError(f"no checkout {_root}")
    if module.endswith("tutorials"):
        sys.modules["tutorials_reader"] = _from(HERE.parent / "tutorials.py")
    _from(HERE / f"{module}.py")
    return {f"{module}.{name}": function for name, function in _found.items()}


def _from(file: Path) -> ModuleType:
    """A module by path: some files of this folder have the names of packages."""
    spec = importlib.util.spec_from_file_location(f"public_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- checkouts ---------------------------------------------------------------------------------------------------


def path(folder: str = "") -> Path:
    """A folder of the checkout, put on sys.path."""
    sys.path.insert(0, str(_root / folder))
    return _root / folder


def package(name: str, folder: str, **members: Any) -> None:
    """The package `name` is `folder` of the checkout without its `__init__`, whose imports are not needed."""
    module = ModuleType(name)
    module.__path__ = [str(_root / folder)]
    module.__dict__.update(members)
    sys.modules[name] = module


def packages(name: str, folder: str) -> None:
    """`package` for `folder` and all folders below it."""
    for where, _, files in os.walk(_root / folder):
        if any(file.endswith(".py") for file in files):
            below = Path(where).relative_to(_root / folder)
            package(".".join((name, *below.parts)), str(Path(where).relative_to(_root)))


def stand_in(name: str, **members: Any) -> ModuleType:
    """A module that is not installed, with the few members that files with kernels import."""
    module = sys.modules[name] = ModuleType(name)
    module.__dict__.update(members)
    parent, _, short = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], short, module)
    return module


def anything(name: str, answer: Any = None, **members: Any) -> None:
    """A module, or a package as it is, whose other members all are `answer` (a function that returns False)."""

    def member(asked: str) -> Any:
        if asked.startswith("__"):
            raise AttributeError(asked)
        return answer if answer is not None else lambda *_, **__: False

    module = sys.modules.get(name) or stand_in(name)
    module.__dict__.update(members, __getattr__=member)


def on_cpu() -> None:
    """Let code that asks for CUDA devices run with tensors in the CPU's memory: to compile without a GPU."""
    answers = {
        "device": lambda *_: contextlib.nullcontext(), "device_of": lambda *_: contextlib.nullcontext(),
        "current_device": lambda: 0, "device_count": lambda: 1, "synchronize": lambda *_: None,
        "is_available": lambda: True, "is_bf16_supported": lambda *_, **__: True,
        "get_device_capability": lambda *_: (9, 0), "get_device_name": lambda *_: "NVIDIA H100",
        "get_device_properties": lambda *_: SimpleNamespace(
            multi_processor_count=132, name="NVIDIA H100", major=9, minor=0, total_memory=80 << 30, warp_size=32,
            shared_memory_per_block_optin=232448, max_threads_per_multi_processor=2048,
            regs_per_multiprocessor=65536,
        ),
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    for name in ("empty", "zeros", "ones", "full", "arange", "tensor", "empty_like", "randint", "randn", "rand"):
        setattr(torch, name, _on_cpu(getattr(torch, name)))
    for name in ("matmul", "mm", "bmm", "addmm"):  # large ones would take minutes, and nothing looks at the values
        if name != "addmm":
            setattr(torch.Tensor, name, _unmultiplied(name))
        setattr(torch, name, _unmultiplied(name))
    torch.Tensor.__matmul__ = torch.Tensor.matmul  # type: ignore[method-assign]
    torch.Tensor.is_cuda = property(lambda self: True)  # type: ignore[assignment,method-assign]
    torch.Tensor.cuda = lambda self, *_, **__: self  # type: ignore[method-assign,assignment]


def _unmultiplied(name: str) -> Callable[..., torch.Tensor]:
    """A function that returns zeros of the shape of a @ b."""

    def zeros(*args: torch.Tensor, **_: Any) -> torch.Tensor:
        a, b = args[1:3] if name == "addmm" else args[:2]
        if b.dim() == 1:
            return a.new_zeros(a.shape[:-1])
        return a.new_zeros((*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))

    zeros.__name__ = name
    return zeros


def _on_cpu(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def made(*args: Any, **keywords: Any) -> torch.Tensor:
        if str(keywords.get("device", "")).startswith("cuda"):
            keywords["device"] = "cpu"
        return make(*args, **keywords)

    return made


# ---- inputs ------------------------------------------------------------------------------------------------------


def rand(*shape: int, dtype: torch.dtype = bf16, scale: float = 1.0) -> torch.Tensor:
    """Normal numbers on the device."""
    if DEVICE == "cpu":
        return torch.full(shape, 0.5, dtype=dtype)
    return (torch.randn(shape, device=DEVICE, dtype=f32) * scale).to(dtype)


def whole(below: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Integers from 0 to `below` - 1 on the device."""
    return torch.randint(0, below, shape, device=DEVICE).to(dtype)


def both_ways(function: Callable[..., Any], *inputs: torch.Tensor, fixed: tuple[int, ...] = ()) -> Run:
    """`function` and its gradients by all floating inputs but those whose indices are in `fixed`."""
    leaves = [
        x.detach().requires_grad_(x.is_floating_point() and i not in fixed) if isinstance(x, torch.Tensor) else x
        for i, x in enumerate(inputs)
    ]
    wanted = [x for x in leaves if isinstance(x, torch.Tensor) and x.requires_grad]
    cotangents: list[torch.Tensor] = []

    def run() -> list[torch.Tensor]:
        out = function(*[x.view_as(x) if isinstance(x, torch.Tensor) and x.requires_grad else x for x in leaves])
        results = [x for x in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(x, torch.Tensor)]
        with_gradient = [x for x in results if x.requires_grad]
        if not cotangents:
            cotangents.extend(
                rand(*x.shape, dtype=x.dtype, scale=0.1) if x.dim() else torch.ones_like(x) for x in with_gradient
            )
        gradients = torch.autograd.grad(with_gradient, wanted, [c.clone() for c in cotangents], allow_unused=True)
        return [*(x.detach() for x in results), *(g for g in gradients if g is not None)]

    return run
