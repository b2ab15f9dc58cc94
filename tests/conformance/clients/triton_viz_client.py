"""triton-viz (pypi.org/project/triton-viz): its tracer, profiler and sanitizer on kernels that run in the interpreter."""

import torch
import triton
import triton.language as tl
from harness import case, main, start

start("")

import triton_viz  # noqa: E402
from triton_viz.clients import Profiler, Sanitizer, Tracer  # noqa: E402
from triton_viz.core.trace import launches  # noqa: E402


def _add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def _rows(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(row, axis=0))


def _product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(left, right, allow_tf32=False))


def _traced(function, client):
    return triton_viz.trace(client=client)(triton.jit(function))


def _records():
    return [type(record).__name__ for record in launches[-1].records]


@case
def tracer():
    x, out = torch.arange(100.0), torch.empty(100)
    _traced(_add, Tracer())[(2,)](x, x, out, 100, 64)
    assert torch.equal(out, 2 * x) and {"Grid", "Load", "Store"} <= set(_records()), _records()
    x = torch.randn(5, 30)
    out = torch.empty(5)
    _traced(_rows, Tracer())[(5,)](x, out, 30, 32)
    torch.testing.assert_close(out, x.sum(1))
    assert any(name.startswith("Reduce") for name in _records()), _records()
    a, b, c = torch.randn(16, 32), torch.randn(32, 16), torch.empty(16, 16)
    _traced(_product, Tracer())[(1,)](a, b, c, 16, 16, 32)
    torch.testing.assert_close(c, a @ b, atol=1e-4, rtol=1e-4)
    assert "Dot" in _records(), _records()


@case
def profiler():
    client = Profiler()  # it looks at accesses, and does not carry all of them out
    _traced(_add, client)[(2,)](torch.arange(100.0), torch.arange(100.0), torch.empty(100), 100, 64)
    _traced(_add, client)[(1,)](torch.arange(16.0), torch.arange(16.0), torch.empty(16), 16, 64)


def _outside(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at), mask=at < n)


@case
def sanitizer():
    client = Sanitizer(abort_on_error=False)
    _traced(_add, client)[(2,)](torch.arange(128.0), torch.arange(128.0), torch.empty(128), 128, 64)
    assert not client.records, client.records
    client = Sanitizer(abort_on_error=False)
    _traced(_outside, client)[(2,)](torch.arange(100.0), torch.empty(100), 100, 64)
    assert client.records, "no access out of bounds was found"


main()
