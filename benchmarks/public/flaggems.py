"""FlagGems (github.com/FlagOpen/FlagGems): the operators of torch, as kernels; many are generated from expressions."""

import os
import tempfile

os.environ["GEMS_VENDOR"] = "nvidia"
os.environ["FLAGGEMS_CACHE_DIR"] = tempfile.mkdtemp()  # its generated sources, and a data base of what it tuned

import torch
from workloads import DEVICE, path, rand, whole, workload

path("src")
import flag_gems as gems  # noqa: E402

f16, f32 = torch.float16, torch.float32
if DEVICE == "cpu":
    gems.runtime.device.name = "cpu"


@workload
def functions_of_one():
    x = rand(8192, 8192, dtype=f16)
    return lambda: [gems.gelu(x), gems.silu(x), gems.exp(x), gems.rsqrt(x.abs())]


@workload
def functions_of_two():
    x, y = rand(8192, 8192, dtype=f16), rand(8192, 8192, dtype=f16)
    return lambda: [gems.add(x, y), gems.mul(x, y[:1])]


@workload
def softmaxes():
    x = rand(8192, 4096, dtype=f16)
    return lambda: [gems.softmax(x, -1), gems.log_softmax(x, -1), gems.softmax(x[:, :2048].contiguous(), 0)]


@workload
def norms():
    x, w, b = rand(8192, 4096, dtype=f16), rand(4096, dtype=f16), rand(4096, dtype=f16)
    return lambda: [gems.layer_norm(x, (4096,), w, b), gems.rms_norm(x, (4096,), w)]


@workload
def reductions():
    x = rand(8192, 8192, dtype=f32)
    return lambda: [
        gems.sum(x), gems.sum_dim(x, [1]), gems.sum_dim(x, [0]), gems.mean_dim(x, [1]), gems.amax(x, [1]),
        gems.argmax(x, 1), gems.max(x), gems.all(x > -100), gems.prod(x[:, :64] * 0 + 1),
    ]  # fmt: skip


@workload
def variances():
    x = rand(8192, 4096, dtype=f32)
    return lambda: gems.var_mean(x, [1])


@workload
def scans():
    x = rand(4096, 8192, dtype=f32)
    return lambda: gems.cumsum(x, 1)


@workload
def best_of_rows():
    x = rand(1024, 4096, dtype=f32)
    return lambda: gems.topk(x, 16)[0]


@workload
def gathers():
    x, at = rand(8192, 4096, dtype=f16), whole(8192, 8192)
    return lambda: [gems.index_select(x, 0, at), gems.embedding(x, at), gems.flip(x, [1]), gems.tril(x)]


@workload
def matmul():
    a, b = rand(4096, 4096, dtype=f16), rand(4096, 4096, dtype=f16)
    return lambda: gems.mm(a, b)


@workload
def matmul_of_batches():
    a, b = rand(32, 1024, 512, dtype=f16), rand(32, 512, 1024, dtype=f16)
    return lambda: gems.bmm(a, b)


@workload
def matmul_with_bias():
    a, b, c = rand(2048, 4096, dtype=f16), rand(4096, 4096, dtype=f16), rand(4096, dtype=f16)
    return lambda: gems.addmm(c, a, b)


@workload
def matrix_times_vector():
    a, b = rand(8192, 8192, dtype=f16), rand(8192, dtype=f16)
    return lambda: gems.mv(a, b)
