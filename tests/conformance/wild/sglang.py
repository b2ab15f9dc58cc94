"""SGLang (github.com/sgl-project/sglang): kernels of serving language models, without the package around them."""

import os
import sys

import torch
import triton.language as tl
from harness import DEVICE, case, close, draw, main, package, stand_in, start
from torch.nn import functional as F

sys.path.pop(0)  # this file has the package's name
ROOT = start("python")


class _Nothing:
    """Settings: none is on."""

    def __getattr__(self, name):
        return self

    def get(self, *_):
        return False


def _packages():
    """Each folder is a package without its `__init__`."""
    for folder, _, files in os.walk(os.path.join(ROOT, "python", "sglang")):
        if any(name.endswith(".py") for name in files):
            below = os.path.relpath(folder, ROOT)
            package(".".join(below.split(os.sep)[1:]), below)


def _answers(name, **members):
    """A module that answers no to every other question."""
    stand_in(name, **members)
    sys.modules[name].__getattr__ = lambda asked: _refuse(asked) if asked.startswith("__") else lambda *_, **__: False


def _refuse(name):
    raise AttributeError(name)


_packages()
_answers(
    "sglang.srt.utils",
    get_device_core_count=lambda *_: 4,
    get_device_name=lambda *_: "none",
    ceil_align=lambda x, n: -(-x // n) * n,
    ceil_div=lambda x, n: -(-x // n),
)
_answers("sglang.srt.utils.patch_torch", register_fake_if_exists=lambda *_: lambda function: function)
_answers("sglang.kernels.jit.utils")
_answers("sglang.srt.batch_invariant_ops")
_answers("sglang.srt.layers.moe.utils", get_moe_padding_size=lambda *_: 0)
_answers("sglang.srt.layers.deep_gemm_wrapper")
stand_in("sglang.srt.environ", envs=_Nothing())
if DEVICE == "cpu":  # some functions ask where their arguments are
    torch.Tensor.is_cuda = property(lambda self: True)

from sglang.kernels.ops.attention.decode_attention import decode_attention_fwd  # noqa: E402
from sglang.kernels.ops.attention.extend_attention import extend_attention_fwd  # noqa: E402
from sglang.kernels.ops.attention.merge_state import merge_state_triton  # noqa: E402
from sglang.kernels.ops.attention.prefill_attention import context_attention_fwd  # noqa: E402
from sglang.kernels.ops.layernorm.rmsnorm_fp32 import rmsnorm_fp32  # noqa: E402
from sglang.kernels.ops.moe.fused_moe_triton_kernels import invoke_fused_moe_kernel  # noqa: E402
from sglang.kernels.ops.quantization.awq_triton import awq_dequantize_triton  # noqa: E402
from sglang.kernels.ops.quantization.fp8_kernel import _per_token_group_quant_8bit_raw  # noqa: E402
from sglang.kernels.ops.quantization.int8_kernel import per_token_quant_int8  # noqa: E402
from sglang.kernels.ops.sampling.renorm_triton import top_k_renorm_probs_triton, top_p_renorm_probs_triton  # noqa: E402
from sglang.kernels.ops.sampling.temperature_softmax import temperature_softmax  # noqa: E402
from sglang.kernels.ops.speculative.row_argmax import row_argmax  # noqa: E402


def _poison(*shape, dtype=torch.float16):
    return torch.full(shape, float("nan"), dtype=dtype, device=DEVICE)


def _whole(*values):
    return torch.tensor(values, dtype=torch.int32, device=DEVICE)


def _heads(x, times=2):
    """(places, heads, width) as (heads, places, width) in float64, each head `times`."""
    return x.double().transpose(0, 1).repeat_interleave(times, 0)


@case
def attention_of_one_token():
    lengths, splits = [1, 77, 190], 8
    starts = _whole(0, 1, 78, 268)
    where = torch.randperm(300)[:268].int().to(DEVICE)
    k, v = (draw(300, 2, 64, dtype=torch.float16) for _ in "kv")
    for heads in (2, 4):
        q, out = draw(3, heads, 64, dtype=torch.float16), _poison(3, heads, 64)
        parts, sums = _poison(3, heads, splits, 64, dtype=torch.float32), _poison(3, heads, splits, dtype=torch.float32)
        counts = _whole(1, 4, 8)
        decode_attention_fwd(q, k, v, out, starts, where, parts, sums, counts, splits, 0.125, 1.0, 1.0)
        for row, length in enumerate(lengths):
            at = where[int(starts[row]) :][:length].long()
            one = [_heads(x[at], heads // 2) for x in (k, v)]
            close(out[row], F.scaled_dot_product_attention(q[row].double()[:, None], *one)[:, 0], 1e-2)


@case
def attention_behind_a_prefix():
    prefixes, news = [0, 50, 130], [40, 1, 70]
    new_starts, old_starts = _whole(0, 40, 41, 111), _whole(0, 0, 50, 180)
    where = torch.randperm(200)[:180].long().to(DEVICE)
    old_k, old_v = (draw(200, 2, 64, dtype=torch.float16) for _ in "kv")
    q, k, v = (draw(111, heads, 64, dtype=torch.float16) for heads in (4, 2, 2))
    out = _poison(111, 4, 64)
    extend_attention_fwd(
        q, k, v, out, old_k, old_v, new_starts, old_starts, where, None, True, None, max(news), 1.0, 1.0
    )
    for row, (prefix, new) in enumerate(zip(prefixes, news)):
        begin, at = int(new_starts[row]), where[int(old_starts[row]) :][:prefix]
        keys, values = (
            torch.cat((_heads(old[at]), _heads(x[begin : begin + new])), 1) for old, x in ((old_k, k), (old_v, v))
        )
        seen = torch.ones(new, prefix + new, dtype=torch.bool, device=DEVICE).tril(prefix)
        want = F.scaled_dot_product_attention(_heads(q[begin : begin + new], 1), keys, values, attn_mask=seen)
        close(out[begin : begin + new], want.transpose(0, 1), 1e-2)


@case
def attention_of_whole_prompts():
    starts, lengths = _whole(0, 70, 71), _whole(70, 1, 130)
    q, k, v = (draw(201, heads, 64, dtype=torch.float16) for heads in (4, 2, 2))
    for causal in (True, False):
        out = _poison(201, 4, 64)
        context_attention_fwd(q, k, v, out, starts, lengths, 130, is_causal=causal)
        for begin, length in zip(starts.tolist(), lengths.tolist()):
            part = slice(begin, begin + length)
            one = _heads(q[part], 1), _heads(k[part]), _heads(v[part])
            close(out[part], F.scaled_dot_product_attention(*one, is_causal=causal).transpose(0, 1), 1e-2)


@case
def attention_merged():
    (a, b), (s, t) = draw(2, 60, 4, 80), draw(2, 60, 4)
    got, sums = merge_state_triton(a, s, b, t)
    want = torch.logaddexp(s.double(), t.double())
    close(sums, want)
    close(got, a.double() * (s - want).exp()[..., None] + b.double() * (t - want).exp()[..., None])


@case
def mixtures_of_experts():
    """Rows sorted by expert, in blocks of one expert each; with and without the weights of the choice."""
    tokens, experts, chosen, width, out = 50, 6, 2, 64, 96
    x, w = draw(tokens, width, dtype=torch.float16), draw(experts, out, width, dtype=torch.float16)
    weights, places = draw(tokens, experts).softmax(-1).topk(chosen)
    block, order, owners = 16, [], []
    for expert in range(experts):
        rows = (places.flatten().cpu() == expert).nonzero().flatten().tolist()
        rows += [tokens * chosen] * (-len(rows) % block)
        order += rows
        owners += [expert] * (len(rows) // block)
    config = {"BLOCK_SIZE_M": block, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 2}
    for weighted in (False, True):
        got = _poison(tokens, chosen, out)
        invoke_fused_moe_kernel(
            x, w, None, got, None, None, None, weights, places.int(), _whole(*order), _whole(*owners),
            _whole(len(order)), weighted, chosen, config, tl.float16, False, False, False, False, False,
        )  # fmt: skip
        want = torch.einsum("tk,tcnk->tcn", x.double(), w.double()[places])
        close(got, want * weights.double()[..., None] if weighted else want, 1e-2)


@case
def narrow_numbers():
    order = [0, 4, 1, 5, 2, 6, 3, 7]

    def packed(numbers):
        words = (numbers.unflatten(-1, (-1, 8)).long() << 4 * torch.tensor(order)).sum(-1)
        return ((words + 2**31) % 2**32 - 2**31).int().to(DEVICE)

    numbers, zeros = torch.randint(0, 16, (256, 64)), torch.randint(0, 16, (2, 64))
    scales = draw(2, 64, dtype=torch.float16)
    wide = (numbers - zeros.repeat_interleave(128, 0)).to(DEVICE) * scales.double().repeat_interleave(128, 0)
    close(awq_dequantize_triton(packed(numbers), scales, packed(zeros)), wide)
    x = draw(40, 256, dtype=torch.bfloat16)
    small, scale = per_token_quant_int8(x)
    close(small.float() * scale.float(), x.double(), 0.02)
    small, scale = _per_token_group_quant_8bit_raw(x, 128)
    close(scale, x.double().unflatten(-1, (2, 128)).abs().amax(-1) / 448, 1e-5)
    back = small.double().unflatten(-1, (2, 128)) * scale.double()[..., None]
    assert bool(((back.flatten(1) - x.double()).abs() <= x.double().abs() / 15 + 1e-2).all())


@case
def sampling():
    x, heat = 3 * draw(7, 40000), draw(7, 1, low=0.5)
    close(temperature_softmax(x, heat), (x.double() / heat.double()).softmax(-1))
    for rows in (3, 100):
        logits = draw(rows, 30000)
        close(row_argmax(logits), logits.argmax(-1))
    p = x[:, :5000].softmax(-1)
    best = p.double().topk(50).values[:, -1:]
    kept = torch.where(p.double() >= best, p.double(), 0.0)
    close(top_k_renorm_probs_triton(p, 50), kept / kept.sum(-1, keepdim=True))
    ordered = p.double().sort(-1, descending=True).values
    last = (ordered.cumsum(-1) - ordered < 0.7).sum(-1, keepdim=True) - 1
    kept = torch.where(p.double() >= ordered.gather(-1, last), p.double(), 0.0)
    close(top_p_renorm_probs_triton(p, 0.7), kept / kept.sum(-1, keepdim=True), 1e-3)


@case
def norms():
    for columns in (512, 1000):
        x, w = draw(40, columns), draw(columns)
        close(rmsnorm_fp32(x, w, 1e-6), F.rms_norm(x.double(), (columns,), w.double(), 1e-6))


main()
