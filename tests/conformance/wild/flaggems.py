"""FlagGems (github.com/FlagOpen/FlagGems): the operators of torch, as kernels; many are generated from expressions."""

import os
import sys
import tempfile

os.environ["GEMS_VENDOR"] = "nvidia"
os.environ["FLAGGEMS_CACHE_DIR"] = tempfile.mkdtemp()  # its generated sources, and a data base of what it tuned

import torch  # noqa: E402
from harness import DEVICE, case, close, draw, main, package, same_function, start  # noqa: E402
from torch.nn import functional as F  # noqa: E402

start("src")
package("flag_gems", "src/flag_gems")

from flag_gems import runtime  # noqa: E402

_all_configs = runtime.get_tuned_config
runtime.get_tuned_config = lambda name: _spread(_all_configs(name), 5)
del sys.modules["flag_gems"]


def _spread(configs, most):
    """A few of the ways that a kernel is tuned over: some have a hundred."""
    return configs[:: -(-len(configs) // most)] if configs else configs


class _Generator:
    """What CUDA's generators of random numbers answer: a seed and an offset, as bytes."""

    state = torch.tensor([1234, 0]).view(torch.uint8)

    def get_state(self):
        return self.state.clone()

    def set_state(self, state):
        self.state = state


if DEVICE == "cpu":  # it asks where its arguments are
    torch.Tensor.is_cuda = property(lambda self: True)
    torch.cuda.default_generators = (_Generator(),)
    runtime.device.name = "cpu"

import flag_gems  # noqa: E402


def _same(name, reference, *inputs, tolerance=None, **keywords):
    """A function of the package gives what the one of torch gives."""
    function = getattr(flag_gems, name)
    try:
        same_function(
            lambda *x: function(*x, **keywords),
            lambda *x: reference(*x, **keywords),
            *inputs,
            gradient=False,
            tolerance=tolerance,
        )
    except Exception as error:
        error.args = (f"{name}: {error.args[0] if error.args else ''}",)
        raise


def _integers(*shape, low=-50, high=50, dtype=torch.int32):
    return torch.randint(low, high, shape, dtype=dtype).to(DEVICE)


@case
def functions_of_one():
    x = draw(37, 65)
    for name in ("abs", "neg", "sin", "cos", "tanh", "sigmoid", "relu", "exp", "exp2", "erf", "atan", "reciprocal"):
        _same(name, getattr(torch, name), x)
    for name in ("sqrt", "rsqrt", "log"):
        _same(name, getattr(torch, name), draw(37, 65, low=0.2))
    for name in ("silu", "gelu", "celu", "elu", "softplus"):
        _same(name, getattr(F, name), x)
    _same("log_sigmoid", F.logsigmoid, x)
    _same("gelu", F.gelu, x, approximate="tanh")
    close(flag_gems.threshold(x, 0.2, 5.0), F.threshold(x.double(), 0.2, 5.0))
    _same("abs", torch.abs, x.t())
    _same("abs", torch.abs, draw(4, 6, 8, 10)[:, ::2, 1:, ::3])
    _same("tanh", torch.tanh, draw(70, dtype=torch.bfloat16))
    _same("bitwise_not", torch.bitwise_not, _integers(33))
    odd = torch.tensor([0.0, float("inf"), -float("inf"), float("nan"), 1.5], device=DEVICE)
    for name in ("isnan", "isinf", "isfinite", "logical_not"):
        _same(name, lambda a, name=name: getattr(torch, name)(a), odd)
    _same("nan_to_num", lambda a: torch.nan_to_num(a.float()).double(), odd)


@case
def functions_of_two():
    a, b = draw(9, 1, 70), draw(5, 70)
    for name in ("add", "sub", "mul", "true_divide", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"):
        _same(name, getattr(torch, name), a, b)
    for name in ("floor_divide", "remainder"):
        _same(name, getattr(torch, name), _integers(40, 30), _integers(30, low=1))
        _same(name, getattr(torch, name), _integers(40, 30), _integers(40, 1, low=-9, high=-1))
    _same("pow_tensor_tensor", torch.pow, draw(30, 20, low=0.5), draw(20))
    for name in ("bitwise_and", "bitwise_or"):
        _same(f"{name}_tensor", getattr(torch, name), _integers(40, 30), _integers(30))
    for name in ("logical_and", "logical_or", "logical_xor"):
        _same(name, getattr(torch, name), _integers(40, 30, low=-1, high=2), _integers(30, low=-1, high=2))
    _same("add", torch.add, a, b, alpha=0.5)
    _same("isclose", torch.isclose, a, a + 1e-7)


@case
def functions_of_three():
    a, b, c = draw(9, 70), draw(9, 70), draw(70, low=0.5)
    _same("addcmul", torch.addcmul, a, b, c, value=0.3)
    _same("addcdiv", torch.addcdiv, a, b, c, value=0.3)
    _same("lerp_tensor", torch.lerp, a, b, c.expand(9, 70))
    if DEVICE == "cuda":  # refuses others
        _same("where_self", torch.where, a > 0, b, c)
    _same("clamp_tensor", torch.clamp, a, b.minimum(a), c.expand(9, 70).clone())


@case
def reductions():
    x = draw(37, 5, 130)
    for name in ("sum", "mean", "max", "min", "prod"):
        _same(name, getattr(torch, name), x if name != "prod" else draw(300, low=0.5))
    for name in ("sum_dim", "mean_dim", "amax"):
        reference = getattr(torch, name.removesuffix("_dim"))
        _same(name, reference, x, dim=[1])
        _same(name, reference, x, dim=[0, 2], keepdim=True)
    for name in ("argmax", "argmin"):
        _same(name, getattr(torch, name), x)
        _same(name, getattr(torch, name), x, dim=1)
    for name in ("max_dim", "min_dim"):
        _same(name, lambda a, name=name, **k: list(getattr(torch, name[:3])(a, **k)), x, dim=2)
    _same("prod_dim", torch.prod, x, dim=2)
    _same("vector_norm", torch.linalg.vector_norm, x, dim=[1, 2])
    _same("std", torch.std, x, dim=[2])
    _same("var_mean", lambda a, **k: list(torch.var_mean(a, **k)), x, dim=[1])
    truth = x > 0
    for name in ("all", "any"):
        _same(name, getattr(torch, name), truth)
        _same(f"{name}_dim", getattr(torch, name), truth, dim=2)
    _same("count_nonzero", torch.count_nonzero, truth.int(), dim=1)


@case
def scans():
    for shape, dim in (((1000,), 0), ((30, 70), 1), ((5, 600, 7), 1), ((9000,), 0)):
        _same("cumsum", torch.cumsum, draw(*shape), dim=dim)
        _same("cumsum", torch.cumsum, _integers(*shape), dim=dim)
    for name in ("cummax", "cummin"):
        for shape in ((30, 70), (4, 3000)):
            _same(name, lambda a, name=name, **k: list(getattr(torch, name)(a, **k)), draw(*shape), dim=1)


@case
def softmaxes():
    for columns in (60, 3000):
        for name in ("softmax", "log_softmax"):
            _same(name, getattr(torch, name), draw(20, columns), dim=-1)
            _same(name, getattr(torch, name), draw(5, columns, 7), dim=1)


@case
def norms():
    for columns in (64, 5000):
        x, w, b = draw(9, columns), draw(columns), draw(columns)
        close(
            flag_gems.layer_norm(x, [columns], w, b)[0],
            F.layer_norm(*(t.double() for t in (x,)), [columns], w.double(), b.double()),
        )
        close(flag_gems.rms_norm(x, [columns], w), F.rms_norm(x.double(), [columns], w.double(), 1e-5))
    x, w, b = draw(3, 12, 50), draw(12), draw(12)
    got = flag_gems.group_norm(x, w, b, 3, 12, 50, 3)  # its groups are powers of two
    close(got[0], F.group_norm(x.double(), 3, w.double(), b.double()))
    mean, var = torch.zeros(12, device=DEVICE), torch.ones(12, device=DEVICE)
    got = flag_gems.batch_norm(x, w, b, mean.clone(), var.clone(), training=True)
    close(got[0], F.batch_norm(x.double(), mean.double(), var.double(), w.double(), b.double(), training=True))
    _same("instance_norm", lambda *a: F.instance_norm(a[0], weight=a[1], bias=a[2]), x, w, b)
    _same("weight_norm", lambda v, g: torch._weight_norm(v, g, 0), draw(12, 30), draw(12, 1))


@case
def products():
    for dtype in (torch.float32, torch.float16):
        made = [draw(*shape, dtype=dtype) for shape in ((70, 130), (130, 90), (90,), (130,))]
        a, b, bias, vector = made
        _same("mm", torch.mm, a, b, tolerance=1e-2)
        _same("addmm", torch.addmm, bias, a, b, tolerance=1e-2, alpha=0.5, beta=2.0)
        _same("mv", torch.mv, a, vector)
        _same("bmm", torch.bmm, draw(3, 33, 64, dtype=dtype), draw(3, 64, 50, dtype=dtype), tolerance=1e-2)
    _same("addmv", torch.addmv, draw(70), draw(70, 130), draw(130))
    _same("addr", torch.addr, draw(30, 40), draw(30), draw(40))
    _same("dot", torch.dot, draw(3000), draw(3000))
    _same("vdot", torch.vdot, draw(300), draw(300))
    _same("outer", torch.outer, draw(30), draw(40))
    _same("kron", torch.kron, draw(3, 5), draw(4, 6))


@case
def orders():
    for name, columns in (("sort", 700), ("sort", 20)):
        for descending in (False, True):
            x = draw(5, columns)
            got, places = getattr(flag_gems, name)(x, descending=descending)
            close(got, x.double().sort(descending=descending).values)
            close(x.gather(-1, places), got.double())
    numbers = _integers(6, 900, low=-1000, high=1000, dtype=torch.int16)
    close(flag_gems.sort(numbers)[0], numbers.sort().values)
    for k, columns in ((5, 100), (7, 9000)):
        x = draw(4, columns)
        got, places = flag_gems.topk(x, k)
        close(got, x.double().topk(k).values)
        close(x.gather(-1, places), got.double())
    x = _integers(700, high=30)
    for got, want in zip(flag_gems._unique2(x, True, True, True), torch.unique(x, True, True, True)):
        close(got, want)
    _same("isin", torch.isin, _integers(50, 30), _integers(20))


@case
def gathers():
    x = draw(40, 30)
    index = _integers(40, 12, low=0, high=30, dtype=torch.int64)
    close(flag_gems.gather(x, 1, index), x.double().gather(1, index))
    close(flag_gems.scatter(x, 1, index[:, :1], draw(40, 1) * 0 + 3), x.double().scatter(1, index[:, :1], 3.0))
    rows = _integers(17, low=0, high=40, dtype=torch.int64)
    close(flag_gems.index_select(x, 0, rows), x.double()[rows])
    close(flag_gems.embedding(x, rows), x.double()[rows])
    unique = torch.randperm(40)[:17].to(DEVICE)
    more = draw(17, 30)
    close(flag_gems.index_add(x, 0, unique, more), x.double().index_add(0, unique, more.double()))
    close(flag_gems.index_put(x, [unique], more), x.double().index_put([unique], more.double()))
    close(flag_gems.masked_select(x, x > 0), x.double()[x > 0])
    close(flag_gems.masked_fill(x, x > 0, 2.5), x.double().masked_fill(x > 0, 2.5))
    close(flag_gems.nonzero(x > 0.5), (x > 0.5).nonzero())
    close(flag_gems.select_scatter(x, draw(40) * 0 + 2, 1, 3)[:, 3], torch.full((40,), 2.0, dtype=torch.float64))
    close(flag_gems.slice_scatter(x, more, 0, 3, 37, 2), x.double().slice_scatter(more.double(), 0, 3, 37, 2))


@case
def shapes():
    x = draw(6, 10, 14)
    close(flag_gems.flip(x, [0, 2]), x.double().flip([0, 2]))
    close(flag_gems.tile(x, [2, 1, 3]), x.double().tile([2, 1, 3]))
    close(flag_gems.repeat(x, [2, 1, 1, 3]), x.double().repeat([2, 1, 1, 3]))
    close(flag_gems.cat([x, x[:, :3]], 1), torch.cat([x, x[:, :3]], 1).double())
    close(flag_gems.stack([x, -x], 1), torch.stack([x, -x], 1).double())
    close(flag_gems.hstack([x, x]), torch.hstack([x, x]).double())
    close(flag_gems.vstack([x, x]), torch.vstack([x, x]).double())
    close(flag_gems.triu(x[0], 1), x[0].double().triu(1))
    close(flag_gems.diag(x[0, 0]), x[0, 0].double().diag())
    close(flag_gems.diag_embed(x[0]), torch.diag_embed(x[0].double()))
    close(flag_gems.trace(x[0]), x[0].double().trace())
    close(flag_gems.contiguous(x.transpose(0, 2)), x.transpose(0, 2).double().contiguous())
    close(flag_gems.repeat_interleave_self_int(x, 3, 1), x.double().repeat_interleave(3, 1))
    for mode in ("constant", "reflect", "replicate"):
        close(flag_gems.pad(x, [2, 3], mode), F.pad(x.double(), [2, 3], mode))
    close(flag_gems.arange(77, device=DEVICE), torch.arange(77))
    close(flag_gems.linspace(0.5, 3.0, 30, device=DEVICE), torch.linspace(0.5, 3.0, 30, dtype=torch.float64))
    close(flag_gems.eye(30, device=DEVICE), torch.eye(30, dtype=torch.float64))
    close(flag_gems.full([5, 6], 2.5, device=DEVICE), torch.full([5, 6], 2.5, dtype=torch.float64))
    images = draw(2, 3, 11, 13)
    close(flag_gems.upsample_nearest2d(images, [22, 30]), F.interpolate(images.double(), [22, 30]))
    close(
        flag_gems._upsample_bicubic2d_aa(images, [22, 7]),
        F.interpolate(images.double(), [22, 7], mode="bicubic", antialias=True),
        1e-4,
    )


@case
def windows():
    images = draw(2, 8, 20, 23)
    same_function(
        lambda x, w, b: flag_gems.conv2d(x, w, b, stride=2, padding=1),
        lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1),
        images,
        draw(16, 8, 3, 3),
        draw(16),
        tolerance=2e-3,
    )
    _same("conv1d", F.conv1d, draw(2, 8, 50), draw(4, 8, 5), tolerance=2e-3)
    _same("avg_pool2d", F.avg_pool2d, images, kernel_size=3, stride=2, padding=1)
    got, places = flag_gems.max_pool2d_with_indices(images, 3, 2, 1)
    want = F.max_pool2d(images.double(), 3, 2, 1, return_indices=True)
    close(got, want[0])
    close(places, want[1])


@case
def attention():
    for causal in (False, True):
        q, k, v = (draw(2, heads, 128, 64, dtype=torch.float16) for heads in (4, 4, 4))
        got = flag_gems.scaled_dot_product_attention(q, k, v, is_causal=causal)
        want = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
        close(got[0] if isinstance(got, tuple) else got, want, 1e-2)


@case
def attention_in_parts():
    """The kernels of flash attention: batches of one length, and sequences behind each other."""
    q, k, v = (draw(2, 100, heads, 64, dtype=torch.float16) for heads in (4, 2, 2))
    wide = [x.double().transpose(1, 2).repeat_interleave(4 // x.shape[2], 1) for x in (q, k, v)]
    for causal in (False, True):
        got = flag_gems.flash_attention_forward(q, k, v, None, None, 100, 100, 0.0, causal, False)
        want = F.scaled_dot_product_attention(*wide, is_causal=causal).transpose(1, 2)
        close(got[0], want, 1e-2)
    # sequences behind each other: 70 and 30 rows, whose keys and values lie in pages of 16
    starts, lengths = torch.tensor([0, 70, 100]), torch.tensor([70, 30])
    pages = torch.randperm(12)[:10].view(2, 5)
    keys, values = (torch.full((12, 16, 2, 64), float("nan"), dtype=torch.float16) for _ in "kv")
    for row, (begin, end) in enumerate(zip(starts.tolist(), starts.tolist()[1:])):
        for at in range(begin, end):
            place = int(pages[row, (at - begin) // 16]), (at - begin) % 16
            keys[place], values[place] = k[0, at].cpu(), v[0, at].cpu()
    keys, values = (x.nan_to_num(0.0).to(DEVICE) for x in (keys, values))
    places = [x.to(DEVICE).int() for x in (starts, lengths, pages)]
    got = flag_gems.flash_attn_varlen_func(
        q[0], keys, values, 70, places[0], 70, seqused_k=places[1], causal=True, block_table=places[2]
    )
    for begin, end in ((0, 70), (70, 100)):
        want = F.scaled_dot_product_attention(*(x[0, :, begin:end] for x in wide), is_causal=True).transpose(0, 1)
        close((got[0] if isinstance(got, tuple) else got)[begin:end], want, 1e-2)


@case
def losses():
    x, target = draw(50, 70), _integers(50, low=0, high=70, dtype=torch.int64)
    target[::7] = 3  # it reads what lies at the index to be ignored, so -100 is none
    for keywords in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.1}):
        got = flag_gems.cross_entropy_loss(x, target, ignore_index=3, **keywords)
        close(got, F.cross_entropy(x.double(), target, ignore_index=3, **keywords))
    log = x.log_softmax(-1)
    close(flag_gems.nll_loss_forward(log, target)[0], F.nll_loss(log.double(), target))
    close(flag_gems.mse_loss(x, x * 0.5), F.mse_loss(x.double(), x.double() * 0.5))


@case
def fused_functions():
    a, b = draw(30, 70), draw(30, 70)
    same_function(flag_gems.silu_and_mul, lambda x, y: F.silu(x) * y, a, b)
    same_function(flag_gems.gelu_and_mul, lambda x, y: F.gelu(x) * y, a, b)
    w, bias = draw(70), draw(70)
    total = a.double() + b.double()
    close(flag_gems.skip_layer_norm(a, b, [70], w, bias), F.layer_norm(total, [70], w.double(), bias.double()))
    got, residual = flag_gems.fused_add_rms_norm(a.clone(), b.clone(), [70], w)
    close(got, F.rms_norm(total, [70], w.double(), 1e-5))
    close(residual, total)
    weights, places = torch.zeros(30, 4, device=DEVICE), torch.zeros(30, 4, dtype=torch.int32, device=DEVICE)
    flag_gems.topk_softmax(weights, places, torch.zeros_like(places), draw(30, 64))
    assert bool((weights[:, :-1] >= weights[:, 1:]).all()) and bool((places >= 0).all() & (places < 64).all())


@case
def experts_in_blocks():
    experts, block = 8, 16
    chosen = _integers(40, 2, low=0, high=experts)
    order, owners, padded = flag_gems.moe_align_block_size(chosen, block, experts)
    total = int(padded)
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    assert total == int(((counts + block - 1) // block * block).sum())
    flat = torch.cat([chosen.flatten().cpu(), torch.full((1,), -1)])
    for at in range(0, total, block):
        here = flat[order[at : at + block].cpu().clamp(max=chosen.numel()).long()]
        assert set(here.tolist()) <= {int(owners[at // block]), -1}
    assert sorted(order[:total].tolist())[: chosen.numel()] == list(range(chosen.numel()))


@case
def random_numbers():
    """What is drawn has the moments and the range that it should have."""
    n = 100_000
    flat, normal = flag_gems.rand([n], device=DEVICE), flag_gems.randn([n], device=DEVICE)
    assert 0 <= float(flat.min()) and float(flat.max()) <= 1
    for got, mean, std in ((flat, 0.5, 12**-0.5), (normal, 0.0, 1.0)):
        assert abs(float(got.mean()) - mean) < 0.02 and abs(float(got.std()) - std) < 0.02
    ones = torch.ones(n, device=DEVICE)
    kept, mask = flag_gems.dropout(ones, 0.25, True)
    assert abs(float((kept == 0).float().mean()) - 0.25) < 0.01 and torch.equal(kept != 0, mask.bool())
    close(flag_gems.randperm(3000, device=DEVICE).sort().values, torch.arange(3000))
    grown = flag_gems.exponential_(torch.empty(n, device=DEVICE), 2.0)
    assert float(grown.min()) >= 0 and abs(float(grown.mean()) - 0.5) < 0.02
    drawn = flag_gems.multinomial(torch.tensor([0.1, 0.0, 0.9], device=DEVICE), n, True)
    assert abs(float((drawn == 2).float().mean()) - 0.9) < 0.01 and not bool((drawn == 1).any())


main()
