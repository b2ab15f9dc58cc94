"""jax-triton (pypi.org/project/jax-triton): calls of kernels lowered to what XLA runs on a GPU, which need none."""

import jax
import jax.numpy as jnp
import triton
import triton.language as tl
from harness import case, main, start
from jax import export

start("")

import jax_triton as jt  # noqa: E402


@triton.jit
def add(x, y, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))


@triton.jit
def scaled(x, factor, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * factor)


def _lowered(function, *args):
    checks = [export.DisabledSafetyCheck.custom_call("triton_kernel_call")]
    return export.export(jax.jit(function), platforms=["cuda"], disabled_checks=checks)(*args).mlir_module()


def _call(kernel, *args, like, **options):
    shape = jax.ShapeDtypeStruct(like.shape, like.dtype)
    return jt.triton_call(*args, kernel=kernel, out_shape=shape, grid=(4,), compute_capability=90, **options)


@case
def lowering():
    x = jnp.arange(64.0)
    text = _lowered(lambda a, b: _call(add, a, b, like=a, BLOCK=16), x, x)
    assert "triton_kernel_call" in text, text[:500]


@case
def options_and_scalars():
    x = jnp.arange(64.0)
    text = _lowered(lambda a: _call(scaled, a, 3.0, like=a, BLOCK=16, num_warps=2, num_stages=2), x)
    assert "triton_kernel_call" in text, text[:500]


main()
