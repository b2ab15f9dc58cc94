"""`torch.compile` with this compiler as its Triton: models and user kernels, compared with torch without compiling.

    python -m tests.conformance.inductor [--device cuda] [CASE ...]

On CPUs Inductor is told to write Triton (`cpu_backend = "triton"`); on GPUs it does so by itself. A case is a function of
tensors, or a module, with the arguments of some calls. Results and gradients are compared with what the same function
gives in float64, and Inductor must have made Triton kernels. A line of JSON a case, as in `tests/conformance/wild`;
the exit status is 1 where one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from copy import deepcopy
from typing import Any

if os.environ.get("THIRD_PARTY_COMPILER") != "triton":
    import tritium

    tritium.install()

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from torch._higher_order_ops import triton_kernel_wrap  # noqa: E402
from torch._inductor import config, metrics  # noqa: E402
from torch._inductor.async_compile import AsyncCompile  # noqa: E402
from torch.nn import functional as F  # noqa: E402

DEVICE = "cpu"
TOLERANCE = 2e-4
_cases: dict[str, Callable[[], None]] = {}


def case(function: Callable[[], None]) -> Callable[[], None]:
    _cases[function.__name__] = function
    return function


def draw(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape).to(dtype).to(DEVICE)


def _wide(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _leaves(values: Any) -> list[torch.Tensor]:
    return [
        v.detach().clone().requires_grad_(v.is_floating_point()) if isinstance(v, torch.Tensor) else v for v in values
    ]


def _close(got: torch.Tensor, want: torch.Tensor, tolerance: float, what: str) -> None:
    assert got.shape == want.shape, f"{what}: shape {tuple(got.shape)}, not {tuple(want.shape)}"
    if not got.is_floating_point():
        assert torch.equal(got, want.to(got.dtype)), f"{what}: {int((got != want).sum())} elements differ"
        return
    difference = (got.detach().double() - want.detach().double()).abs()
    scale = max(1.0, float(want.detach().double().abs().max())) if want.numel() else 1.0
    assert not difference.isnan().any(), f"{what}: NaN"
    worst = float(difference.max()) if difference.numel() else 0.0
    assert worst <= tolerance * scale, f"{what}: off by up to {worst:.3g}"


def same(
    function: Any, *calls: tuple[Any, ...], gradient: bool = False, tolerance: float = TOLERANCE, **options: Any
) -> None:
    """The compiled `function` is itself for the arguments of every one of `calls`; kernels were made for it."""
    torch._dynamo.reset()
    metrics.reset()
    compiled = torch.compile(function, fullgraph=True, **options)
    reference = deepcopy(function).double() if isinstance(function, torch.nn.Module) else function
    for arguments in calls:
        ours = _leaves(arguments) if gradient else list(arguments)
        theirs = [_wide(v) for v in arguments]
        theirs = _leaves(theirs) if gradient else theirs
        got, want = compiled(*ours), reference(*theirs)
        pairs = list(zip(got, want)) if isinstance(got, tuple) else [(got, want)]
        for number, (a, b) in enumerate(pairs):
            _close(a, b, tolerance, f"result {number}")
        if gradient:
            _same_gradients(pairs, ours, theirs, tolerance)
    assert metrics.generated_kernel_count > 0, "no kernel was made"


def _same_gradients(pairs: Any, ours: list[Any], theirs: list[Any], tolerance: float) -> None:
    torch.autograd.backward([b for _, b in pairs], [torch.ones_like(b) for _, b in pairs])
    torch.autograd.backward([a for a, _ in pairs], [torch.ones_like(a) for a, _ in pairs])
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if isinstance(a, torch.Tensor) and a.grad is not None:
            _close(a.grad, b.grad, tolerance, f"gradient by argument {number}")


@case
def elementwise_and_sums() -> None:
    def fused(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = torch.relu(x * 2 + y) - torch.sigmoid(y)
        return z, z.sum(-1), z.amax(0), z.mean(), (z > 0).sum()

    same(fused, (draw(37, 130), draw(37, 130)), (draw(1, 1), draw(1, 1)))


@case
def softmax_and_norms() -> None:
    def softmax(x: torch.Tensor) -> torch.Tensor:
        return (x * 3).softmax(-1)

    def norms(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.gelu(F.layer_norm(x, x.shape[-1:], w, b)) + F.rms_norm(x, x.shape[-1:])

    same(softmax, (draw(50, 1000),), gradient=True)
    same(norms, (draw(6, 9, 300), draw(300), draw(300)), gradient=True)


@case
def multilayer_perceptron() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(30, 64), torch.nn.GELU(), torch.nn.Linear(64, 10), torch.nn.LogSoftmax(-1)
    )
    same(model.to(DEVICE), (draw(17, 30),), gradient=True)


@case
def training_step() -> None:
    """Loss, backward and an optimizer's step, all compiled, are what they are without."""
    torch._dynamo.reset()
    model = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.Tanh(), torch.nn.Linear(32, 5)).to(DEVICE)
    other, x, target = deepcopy(model).double(), draw(40, 12), torch.randint(0, 5, (40,)).to(DEVICE)
    for network, data, wrap in ((model, x, torch.compile), (other, x.double(), lambda f: f)):
        optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
        loss_of = wrap(lambda a, n=network: F.cross_entropy(n(a), target))
        step = wrap(optimizer.step)
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(data).backward()
            step()
    for a, b in zip(model.parameters(), other.parameters()):
        _close(a, b, 1e-3, "parameter")


@case
def dynamic_shapes() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.exp() + y[:, None]).sum(-1) / x.shape[1]

    same(function, *[(draw(n, m), draw(n)) for n, m in ((5, 7), (16, 129), (33, 1), (1, 64), (2, 3000))], dynamic=True)


@case
def scans_sorts_and_indices() -> None:
    def function(x: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            x.cumsum(-1),
            x.argmax(-1),
            x[places].sum(0),
            x.sort(-1).values[:, :3],
            torch.where(x > 0, x, -x).prod(-1),
        )

    same(function, (draw(20, 40) / 2, torch.randint(0, 20, (11,)).to(DEVICE)))


@case
def integers_and_narrow_floats() -> None:
    def integers(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x // y, x % y, x << 2, (x ^ y).to(torch.uint8), x.sum(), torch.div(x, y, rounding_mode="trunc")

    ints = torch.randint(-99, 99, (333,)).to(DEVICE)
    same(integers, (ints, torch.randint(1, 9, (333,)).to(DEVICE)))
    for dtype in (torch.float16, torch.bfloat16):
        same(lambda x, y: (x * y + 1).sum(-1), (draw(20, 70, dtype=dtype), draw(20, 70, dtype=dtype)), tolerance=2e-2)


@case
def mathematics() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        small = torch.tanh(x)
        return (
            torch.erf(x), torch.log1p(x * x), torch.expm1(small), torch.sin(x) + torch.cos(x), torch.asin(small * 0.9),
            torch.atan2(x, small), x.abs().pow(1.7), torch.floor(x), torch.round(x), torch.sinh(x),
            torch.fmod(x, 0.5), torch.copysign(x, small), torch.signbit(x), torch.rsqrt(x.abs() + 1),
        )  # fmt: skip

    same(function, (draw(999),))


@case
def rare_mathematics() -> None:
    same(
        lambda x: (torch.hypot(x, x + 1), torch.lgamma(x.abs() + 1), torch.special.bessel_j0(x), torch.erfinv(x.tanh())),
        (draw(999),), tolerance=1e-3,
    )  # fmt: skip


@case
def random_numbers() -> None:
    """Dropout inside a compiled function: its rate, and zeros of gradients where results are zero."""
    torch._dynamo.reset()
    x = (draw(300, 400).abs() + 1).requires_grad_()
    made = torch.compile(lambda a: F.dropout(a, 0.25))(x)
    assert 0.73 < float((made != 0).float().mean()) < 0.77
    made.sum().backward()
    assert torch.equal(x.grad != 0, made != 0)


@case
def compiled_by_workers() -> None:
    """Kernels made by Inductor's processes, which must find this compiler, too, and hand over what they made."""
    with config.patch(compile_threads=2):
        AsyncCompile.wait_pool_ready(120)
        assert AsyncCompile.use_process_pool(), "no process that compiles"
        same(lambda x, y: (torch.relu(x * 2 + y).sum(-1), torch.softmax(y, -1)), (draw(37, 130), draw(37, 130)))


@triton.jit
def _add_kernel(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    tl.store(out + at, tl.load(x + at, there) + scale * tl.load(y + at, there), there)


@triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((64, 2), (256, 4))], key=["n"])
@triton.jit
def _tuned_kernel(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    tl.store(out + at, tl.load(x + at, there) + scale * tl.load(y + at, there), there)


@triton.jit
def _accumulate_kernel(x, out, n, STEPS: tl.constexpr, num_stages: tl.constexpr, BLOCK: tl.constexpr):
    """Adds to `out`, in a loop of `num_stages` stages, a parameter that is also the name of an option."""
    for step in tl.range(0, STEPS, num_stages=num_stages):
        at = (tl.program_id(0) * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(out + tl.arange(0, BLOCK), tl.load(x + at, at < n, other=0.0), sem="relaxed")


def _launched(kernel: Any, x: torch.Tensor, y: torch.Tensor, **constants: Any) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, 0.5, **constants)
    return out


def _kernels_function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _launched(_add_kernel, torch.sin(x), y * 2, BLOCK=128) + _launched(_tuned_kernel, x, y)


@case
def user_kernels() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(_kernels_function, fullgraph=True)
    for n in (1000, 77):
        x, y = draw(n), draw(n)
        want = torch.sin(x.double()) + y.double() + x.double() + 0.5 * y.double()
        _close(compiled(x, y), want, TOLERANCE, "result")


@case
def user_kernels_write_into_what_is_used_later() -> None:
    """A kernel that writes into a tensor between two readers of it, and a view of that."""
    torch._dynamo.reset()

    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        out = x * 1
        before = out + 1
        _add_kernel[(triton.cdiv(out.numel(), 128),)](out, y, out, out.numel(), 2.0, BLOCK=128)
        return before, out + 1, out.view(2, -1).sum(0), x + 1

    x, y = draw(600), draw(600)
    want = x.double() + 2 * y.double()
    got = torch.compile(function, fullgraph=True)(x, y)
    for number, (a, b) in enumerate(zip(got, (x.double() + 1, want + 1, want.view(2, -1).sum(0), x.double() + 1))):
        _close(a, b, TOLERANCE, f"result {number}")


@case
def user_kernel_with_an_option_for_a_parameter() -> None:
    """pytorch#136550: atomics into zeros, and a parameter that has the name of an option."""
    torch._dynamo.reset()

    def function(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(64, device=x.device)
        _accumulate_kernel[(4,)](x, out, x.numel(), STEPS=3, num_stages=2, BLOCK=64)
        return out * 2

    x = draw(700)
    want = 2 * F.pad(x.double(), (0, 68)).view(12, 64).sum(0)
    compiled = torch.compile(function, fullgraph=True)
    for _ in range(2):
        _close(compiled(x), want, TOLERANCE, "result")
    _close(function(x), want, TOLERANCE, "result without compiling")


@case
def what_kernels_write() -> None:
    """PyTorch sees in a kernel's text which arrays it writes: `out`, and no other."""
    with torch._subclasses.FakeTensorMode():
        x, y, out = (torch.empty(64) for _ in range(3))
    arguments = {"x": x, "y": y, "out": out, "n": 64, "scale": 0.5, "BLOCK": 64}
    older = getattr(triton_kernel_wrap, "identify_mutated_tensors", None)
    for kernel in (_add_kernel, _tuned_kernel):
        if older is not None:
            found = older(kernel, dict(arguments), {})
        else:
            accesses = triton_kernel_wrap.identify_accessed_tensors(kernel, dict(arguments), {})
            found = [dep.name for dep in accesses.read_writes.writes]
        assert found == ["out"], found


@case
def user_operators() -> None:
    """`torch.library.triton_op` and `wrap_triton`: an operator of the user's, differentiable, in a compiled function."""
    torch._dynamo.reset()

    @torch.library.triton_op("tritium_test::scaled_add", mutates_args={})
    def scaled_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        torch.library.wrap_triton(_add_kernel)[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), 0.5, BLOCK=128)
        return out

    scaled_add.register_autograd(lambda ctx, grad: (grad, 0.5 * grad))
    x, y = draw(500).requires_grad_(), draw(500).requires_grad_()
    for function in (scaled_add, torch.compile(lambda a, b: scaled_add(a.sin(), b) * 3, fullgraph=True)):
        made = function(x, y)
    _close(made, 3 * (x.double().sin() + 0.5 * y.double()), TOLERANCE, "result")
    made.sum().backward()
    _close(x.grad, 3 * x.double().cos(), TOLERANCE, "gradient")


@case
def matrix_templates() -> None:
    """Products as Inductor's Triton templates, tuned, with what follows fused into them."""
    if DEVICE == "cuda":
        with config.patch(max_autotune=True, max_autotune_gemm_backends="TRITON"):
            for dtype, tolerance in ((torch.float16, 1e-2), (torch.bfloat16, 5e-2)):
                left, right = draw(257, 130, dtype=dtype), draw(130, 192, dtype=dtype)
                same(lambda a, b: torch.relu(a @ b + 1), (left, right), tolerance=tolerance)


@case
def attention() -> None:
    if DEVICE == "cuda":
        shape = (2, 4, 256, 64)
        same(
            lambda q, k, v: torch.nn.attention.flex_attention.flex_attention(q, k, v),
            tuple(draw(*shape, dtype=torch.float16) for _ in range(3)), tolerance=2e-2,
        )  # fmt: skip


def _run(name: str) -> dict[str, Any]:
    torch.manual_seed(0)
    row: dict[str, Any] = {"case": name, "ok": True}
    for run in ("seconds", "again")[: 1 + (os.environ.get("THIRD_PARTY_AGAIN") == "1")]:
        began = time.perf_counter()
        try:
            _cases[name]()
        except Exception as error:  # every failure is a row
            row.update(ok=False, error=f"{type(error).__name__}: {error}"[:1500])
            row["where"] = traceback.format_exc()[-1500:]
        row[run] = round(time.perf_counter() - began, 4)
        if not row["ok"]:
            break
    return row


def main(given: list[str] | None = None) -> int:
    """Run cases and print their rows; 1 where one fails."""
    global DEVICE
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.inductor")
    parser.add_argument("cases", nargs="*", choices=[[], *_cases])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--workers", type=int, default=1, help="processes of Inductor that compile (1: none but this)")
    arguments = parser.parse_args(given)
    DEVICE = arguments.device
    config.compile_threads = arguments.workers
    config.cpu_backend = "triton"
    config.force_disable_caches = True
    failed = 0
    for name in arguments.cases or _cases:
        row = _run(name)
        failed += not row["ok"]
        print("END", json.dumps(row), flush=True)
    print(f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
