"""What drivers of third-party kernels share: cases by name, comparison with torch in float64, one line of JSON a case.

A driver is a script that `python -m tritium run` executes. It imports kernels from a checkout (`THIRD_PARTY_ROOT`, put on
`sys.path` by `start`), and each of its functions marked `@case` calls one of them and compares. Tensors are made on
`DEVICE` (`THIRD_PARTY_DEVICE`, the CPU unless it says another); memory that `torch.empty` gives is full of NaN.
With `THIRD_PARTY_AGAIN=1` each case runs a second time, whose seconds are the row's `again`. With `THIRD_PARTY_CONFIGS=N`
autotuners choose from at most N of their configurations, evenly spread: some kernels have hundreds.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

__all__ = ["DEVICE", "PRODUCTS", "case", "close", "draw", "main", "package", "same_function", "stand_in", "start"]

DEVICE = os.environ.get("THIRD_PARTY_DEVICE", "cpu")
_cases: dict[str, Callable[[], None]] = {}

# relative to the largest element of the reference: rounding of the result, and of sums of some hundred terms
TOLERANCES = {torch.float64: 1e-10, torch.float32: 3e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
# of products of fp32, which on GPUs keep 11 bits of each factor (tf32) unless they ask for more
PRODUCTS = TOLERANCES[torch.float32] if DEVICE == "cpu" else 3e-3


def start(*below: str) -> str:
    """The checkout's folder, with `below` (folders in it) put on sys.path; torch made ready: poison, seed, no CUDA."""
    root = os.environ["THIRD_PARTY_ROOT"]
    beside = os.path.dirname(os.path.abspath(__file__))  # drivers have the names of packages
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != beside]
    for folder in below:
        sys.path.insert(0, os.path.join(root, folder))
    extra = os.environ.get("THIRD_PARTY_SITE")
    if extra:
        sys.path.append(extra)
    if os.environ.get("THIRD_PARTY_CONFIGS"):
        _thin_configurations(int(os.environ["THIRD_PARTY_CONFIGS"]))
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    if DEVICE == "cpu":
        _answer_for_cuda()
    return root


def _thin_configurations(most: int) -> None:
    """Let `triton.autotune` choose from `most` configurations of those that it is given."""
    import triton

    autotune = triton.autotune

    def thinned(configs: Sequence[Any], *args: Any, **keywords: Any) -> Any:
        chosen = configs[:: -(-len(configs) // most)] if configs else configs
        return autotune(chosen, *args, **keywords)

    triton.autotune = thinned


def _answer_for_cuda() -> None:
    """`with torch.cuda.device(x)` and questions for the number of multiprocessors, where torch has no CUDA."""
    torch.cuda.device = lambda *_: contextlib.nullcontext()  # type: ignore[assignment,misc]
    torch.cuda.device_of = lambda *_: contextlib.nullcontext()  # type: ignore[assignment,misc]
    torch.cuda.current_device = lambda: 0
    torch.cuda.device_count = lambda: 1
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_name = lambda *_: "NVIDIA H100"
    for name in ("empty", "zeros"):  # some functions write device="cuda"
        setattr(torch, name, _on_cpu(getattr(torch, name)))
    properties = SimpleNamespace(multi_processor_count=4, name="NVIDIA H100", major=9, minor=0, total_memory=1 << 34)
    torch.cuda.get_device_properties = lambda *_: properties


def _on_cpu(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def made(*args: Any, **keywords: Any) -> torch.Tensor:
        if keywords.get("device") == "cuda":
            keywords["device"] = "cpu"
        return make(*args, **keywords)

    return made


def package(name: str, *folders: str) -> None:
    """The package `name` is `folders` (below the checkout) without its `__init__`, which wants what is not here."""
    module = ModuleType(name)
    module.__path__ = [os.path.join(os.environ["THIRD_PARTY_ROOT"], folder) for folder in folders]
    sys.modules[name] = module


def stand_in(name: str, **members: Any) -> None:
    """A module of a library that is not here, with the few members that kernels' files import."""
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__dict__.update(members)


def case(function: Callable[[], None]) -> Callable[[], None]:
    """Mark `function` as a case: it raises AssertionError where results differ."""
    _cases[function.__name__] = function
    return function


def draw(*shape: int, dtype: torch.dtype = torch.float32, low: float | None = None) -> torch.Tensor:
    """Numbers on DEVICE: normal ones, or even ones between `low` and `low + 1`."""
    made = torch.randn(shape) if low is None else torch.rand(shape) + low
    return made.to(dtype).to(DEVICE)


def close(got: Any, want: torch.Tensor, tolerance: float | None = None, what: str = "result") -> None:
    """`got` is `want` up to `tolerance` of want's largest element (by got's dtype, where not given); shapes agree."""
    assert isinstance(got, torch.Tensor), f"{what}: {got!r} is no tensor"
    assert got.shape == want.shape, f"{what}: shape {tuple(got.shape)}, not {tuple(want.shape)}"
    if not got.is_floating_point():
        assert torch.equal(got.cpu(), want.to(got.dtype).cpu()), f"{what}: {int((got != want).sum())} elements differ"
        return
    limit = TOLERANCES[got.dtype] if tolerance is None else tolerance
    ours, theirs = got.detach().double().cpu(), want.detach().double().cpu()
    finite = theirs[torch.isfinite(theirs)].abs()
    scale = max(1e-3, float(finite.max()) if finite.numel() else 1.0)
    same = (ours == theirs) | (ours.isnan() & theirs.isnan()) | ((ours - theirs).abs() <= limit * scale)
    if not bool(same.all()):
        worst = (ours - theirs).abs()[~same].max().item()
        raise AssertionError(f"{what}: {int((~same).sum())} of {same.numel()} elements off, by up to {worst:.3g}")


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in _tensors(v)] if isinstance(value, (tuple, list)) else []


def _widened(value: torch.Tensor) -> torch.Tensor:
    return value.detach().double() if value.is_floating_point() else value


def same_function(
    theirs: Callable[..., Any],
    reference: Callable[..., Any],
    *inputs: torch.Tensor,
    gradient: bool = True,
    fixed: Sequence[int] = (),
    tolerance: float | None = None,
) -> None:
    """`theirs(*inputs)` is `reference(*inputs)` taken in float64; so are the gradients by floating inputs.

    Inputs whose numbers are in `fixed` need none. Results of one are compared with those of the other in order.
    """
    ours = [x.detach().clone() for x in inputs]
    wide = [_widened(x).clone() for x in inputs]
    wanted = [i for i, x in enumerate(inputs) if gradient and x.is_floating_point() and i not in fixed]
    for i in wanted:
        ours[i].requires_grad_()
        wide[i].requires_grad_()
    # what is differentiated is no leaf: some functions write into their inputs
    got = _tensors(theirs(*[x * 1 if x.requires_grad else x for x in ours]))
    want = _tensors(reference(*wide))
    assert len(got) >= len(want), f"{len(got)} results, not {len(want)}"
    for number, (a, b) in enumerate(zip(got, want)):
        close(a, b, tolerance, f"result {number}")
    pairs = [(a, b) for a, b in zip(got, want) if b.requires_grad]
    if not wanted or not pairs:
        return
    cotangents = [torch.randn_like(a) if a.dim() else torch.ones_like(a) for a, _ in pairs]
    torch.autograd.backward([b for _, b in pairs], [c.double() for c in cotangents])
    torch.autograd.backward([a for a, _ in pairs], [c.clone() for c in cotangents])
    for i in wanted:
        gradient_got = ours[i].grad
        assert gradient_got is not None, f"no gradient by input {i}"
        close(gradient_got, wide[i].grad, tolerance, f"gradient by input {i}")


def _tail(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {' | '.join(line.strip() for line in text[:6])}"[:600]


def main() -> None:
    """Run the cases that arguments name (all without any); a line before each and one after it."""
    verbose = os.environ.get("THIRD_PARTY_TRACEBACK") == "1"
    for name in sys.argv[1:] or list(_cases):
        print("BEGIN", name, flush=True)
        torch.manual_seed(0)
        row: dict[str, Any] = {"case": name, "ok": True}
        for run in ("seconds", "again")[: 1 + (os.environ.get("THIRD_PARTY_AGAIN") == "1")]:
            began = time.perf_counter()
            try:
                _cases[name]()
                if DEVICE == "cuda":
                    torch.cuda.synchronize()
            except Exception as error:  # whatever a kernel raises is its row
                row.update(ok=False, error=_tail(error))
                if verbose:
                    traceback.print_exc()
            row[run] = round(time.perf_counter() - began, 4)
            if not row["ok"]:
                break
        print("END", json.dumps(row), flush=True)
