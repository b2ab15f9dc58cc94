"""`runtime.interpreter`: kernels run as Python on handles, by methods of `interpreter_builder` that clients replace."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest

import tritium
import tritium.language as tl
import tritium.runtime.interpreter as interpreter
from tritium.runtime import TensorDescriptor
from tritium.runtime.errors import LaunchError
from tritium.runtime.interpreter import (
    ASTTransformer,
    FunctionRewriter,
    GridExecutor,
    InterpretedFunction,
    InterpreterBuilder,
    InterpreterError,
    ReduceOps,
    ScanOps,
    TensorHandle,
    interpreter_builder,
    interpreter_semantic,
)


@tritium.jit
def device_function(x, y):
    return tl.where(x > y, x, y * 2)


@tritium.jit
def multiply(a, b):
    return a * b


def elementwise(x, y, out, N: tl.constexpr):
    o = tl.arange(0, N)
    a, b = tl.load(x + o), tl.load(y + o)
    r = a * b - a / b + tl.exp(a) + tl.sqrt(tl.abs(b)) + tl.maximum(a, b) + tl.fma(a, b, a)
    r += device_function(a, b)
    r += tl.where(0.2 < a < 0.8, 1.0, -1.0)
    r += (a.to(tl.bfloat16) * b.to(tl.bfloat16)).to(tl.float32) + a.to(tl.float8e5).to(tl.float32)
    r += tl.softmax(a) + tl.sigmoid(b)
    tl.store(out + o, r)


def integers(x, y, out, N: tl.constexpr):
    o = tl.arange(0, N)
    a = tl.load(x + o)
    b = tl.load(y + o)
    u = a.to(tl.uint32, bitcast=True)
    r = a + b * 3 - (a ^ b) + (a >> 2) + (b << 1) + a // b + a % b + (u >> 3).to(tl.int32)
    r += (u // 7).to(tl.int32) + (u % 5).to(tl.int32) + (u > 9).to(tl.int32) + tl.umulhi(u, u).to(tl.int32)
    r += a.to(tl.int8).to(tl.int32) + a.to(tl.uint8).to(tl.int32) + ((a > 0) & (b > 0)).to(tl.int32) + ~a + -b
    r += tl.minimum(a, b) + (a == b).to(tl.int32) + (a != 3).to(tl.int32)
    tl.store(out + o, r)


def whole_tiles(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    b = tl.load(y + i[:, None] * N + i[None, :])
    c = tl.dot(a, b, input_precision="ieee") + tl.trans(a) + a.T
    c += tl.cumsum(a, 1) + tl.sum(b, 0)[None, :] + tl.reduce(a, 1, multiply)[:, None] + tl.max(a)
    c += tl.associative_scan(a, 0, multiply, reverse=True)
    lo, hi = tl.split(tl.reshape(tl.join(a, b), (N, N, 2)))
    c += lo - hi + tl.argmax(a, 1)[:, None].to(tl.float32) + tl.flip(a, 1)
    for k in range(tl.num_programs(0) + 2):
        c += k
    tl.store(out + i[:, None] * N + i[None, :], c)


def block_pointers(x, y, out, N: tl.constexpr):
    p = tl.make_block_ptr(x, (N, N), (N, 1), (N // 2, 0), (N, N), (1, 0))
    q = tl.make_block_ptr(out, (N, N), (N, 1), (0, 0), (N, N), (1, 0))
    v = tl.load(p, boundary_check=(0,), padding_option="zero")
    tl.store(tl.advance(q, (0, 2)), v + 1, boundary_check=(0, 1))


def descriptors(x, y, out, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [N, N], [N, 1], [N, N])
    e = tl.make_tensor_descriptor(out, [N, N], [N, 1], [N, N])
    e.store([0, 4], d.load([2, 0]))


def atomics(x, y, out, N: tl.constexpr):
    o = tl.arange(0, N)
    tl.atomic_add(out + o % 4, tl.load(x + o), mask=o < N - 1)
    tl.atomic_max(out + 4 + o % 2, tl.load(y + o))


def floats(*shape, seed=0):
    return np.random.default_rng(seed).random(shape, np.float32)


@pytest.mark.parametrize(
    "kernel, x, y",
    [
        (elementwise, floats(64), floats(64, seed=1) + 0.1),
        (integers, np.arange(-32, 32, dtype=np.int32), np.arange(1, 65, dtype=np.int32)),
        (whole_tiles, floats(16, 16), floats(16, 16, seed=1)),
        (block_pointers, floats(8, 8), floats(8, 8)),
        (descriptors, floats(8, 8), floats(8, 8)),
        (atomics, floats(32), floats(32, seed=1)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_results_equal_those_of_compiled_code(kernel, x, y) -> None:
    compiled, interpreted = np.zeros_like(x), np.zeros_like(x)
    tritium.jit(kernel)[(1,)](x, y, compiled, N=x.shape[0])
    InterpretedFunction(kernel)[(1,)](x, y, interpreted, N=x.shape[0])
    np.testing.assert_allclose(interpreted, compiled, rtol=2e-5, atol=1e-6)


def edges(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.maximum(a, b))
    tl.store(out + N + at, tl.minimum(a, b))
    tl.store(out + 2 * N + at, tl.clamp(a, b, tl.abs(b)))
    tl.store(out + 3 * N + at, (a * 300).to(tl.uint8).to(tl.float32))


def test_zeros_and_conversions_equal_those_of_compiled_code() -> None:
    numbers = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 3.0], np.float32)
    x, y = np.repeat(numbers, 8), np.tile(numbers, 8)
    compiled, interpreted = np.zeros((2, 4, 64), np.float32)
    tritium.jit(edges)[(1,)](x, y, compiled, N=64)
    InterpretedFunction(edges)[(1,)](x, y, interpreted, N=64)
    np.testing.assert_array_equal(interpreted, compiled)
    np.testing.assert_array_equal(np.signbit(interpreted), np.signbit(compiled) & ~np.isnan(compiled))


def copy(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o, mask=o < n, other=1.0), mask=o < n)


def launch_copy(n=10):
    x, y = floats(12), np.zeros(12, np.float32)
    InterpretedFunction(copy)[(3,)](x, y, n, B=4)
    return x, y


def test_masked_accesses_touch_no_other_element() -> None:
    x, y = launch_copy()
    assert (y[:10] == x[:10]).all() and (y[10:] == 0).all()


def test_a_replaced_method_of_the_builder_takes_effect(monkeypatch) -> None:
    seen = []
    original = interpreter_builder.create_masked_load

    def traced(ptrs, mask, other, *rest):
        seen.append((ptrs.data.shape, int(mask.data.sum()), ptrs.get_element_ty(), len(rest)))
        return original(ptrs, mask, other, *rest)

    monkeypatch.setattr(interpreter_builder, "create_masked_load", traced)
    launch_copy()
    assert seen == [((4,), 4, tl.float32, 3), ((4,), 4, tl.float32, 3), ((4,), 2, tl.float32, 3)]


def test_a_replacement_with_the_arguments_of_3_9_is_given_one_cache_policy(monkeypatch) -> None:
    policies = []
    original = interpreter_builder.create_masked_load

    def traced(ptrs, mask, other, cache_policy, is_volatile):
        policies.append((cache_policy, is_volatile))
        return original(ptrs, mask, other, cache_policy, is_volatile)

    monkeypatch.setattr(interpreter_builder, "create_masked_load", traced)
    launch_copy()
    assert policies == [(None, False)] * 3


@pytest.mark.parametrize(
    "kernel, method, count",
    [
        (elementwise, "unary_op", 5),
        (elementwise, "binary_op", 10),
        (elementwise, "create_fma", 1),
        (elementwise, "ternary_op", 1),
        (integers, "create_idiv", 2),
        (integers, "create_ashr", 1),
        (integers, "create_umulhi", 1),
        (whole_tiles, "create_dot", 1),
        (whole_tiles, "create_trans", 2),
        (whole_tiles, "create_join", 1),
        (whole_tiles, "create_expand_dims", 4),
        (whole_tiles, "create_broadcast", 4),
        (block_pointers, "create_tensor_pointer_load", 1),
        (block_pointers, "create_advance", 1),
        (block_pointers, "create_masked_store", 1),
        (descriptors, "create_descriptor_load", 1),
        (descriptors, "create_masked_load", 1),
        (atomics, "create_atomic_rmw", 2),
        (atomics, "create_addptr", 4),
    ],
)
def test_operations_are_calls_of_the_builder(monkeypatch, kernel, method, count) -> None:
    calls = []
    original = getattr(interpreter_builder, method)
    monkeypatch.setattr(interpreter_builder, method, lambda *a, **k: (calls.append(a), original(*a, **k))[1])
    kind = np.int32 if kernel is integers else np.float32
    x, y = (np.arange(1, 65).reshape(8, 8).astype(kind) for _ in range(2))
    InterpretedFunction(kernel)[(1,)](x, y, np.zeros_like(x), N=8)
    assert len(calls) >= count and all(not isinstance(a, tritium.ir.Value) for args in calls for a in args)


class Symbol:
    """What a symbolic client puts in the place of a handle."""

    def __init__(self, text):
        self.text, self.attr = text, {}

    @property
    def data(self):
        raise AssertionError("nobody may ask for the elements")


def test_objects_of_a_client_flow_through_as_they_are(monkeypatch) -> None:
    text = lambda v: v.text if isinstance(v, Symbol) else str(v.data.reshape(-1)[0]) if hasattr(v, "data") else str(v)
    stored = []
    monkeypatch.setattr(interpreter_builder, "create_get_program_id", lambda axis: Symbol(f"pid{axis}"))
    monkeypatch.setattr(
        interpreter_builder, "binary_op", lambda a, b, op: Symbol(f"({text(a)} {op.__name__} {text(b)})")
    )
    monkeypatch.setattr(interpreter_builder, "create_addptr", lambda p, o: Symbol(f"p[{text(o)}]"))
    monkeypatch.setattr(interpreter_builder, "create_store", lambda p, v, *_: stored.append(text(p)))

    def kernel(out):
        i = tl.program_id(0) * 4
        i += 2
        tl.store(out + i, 1.0)

    InterpretedFunction(kernel)[(1,)](np.zeros(8, np.float32))
    assert stored == ["p[((pid0 multiply 4) add 2)]"]


def test_a_replaced_function_of_the_language_takes_effect(monkeypatch) -> None:
    shapes = []
    original = tl.sum

    def traced(x, *args, **kwargs):
        result = original(x, *args, **kwargs)
        shapes.append((x.handle.data.shape, result.handle.data.shape))
        return result

    monkeypatch.setattr(tl, "sum", traced)

    def kernel(x, out):
        i = tl.arange(0, 4)
        tl.store(out + i, tl.sum(tl.load(x + i[:, None] * 4 + i[None, :]), axis=1))

    x, out = floats(4, 4), np.zeros(4, np.float32)
    InterpretedFunction(kernel)[(1,)](x, out)
    assert shapes == [((4, 4), (4,))]
    np.testing.assert_allclose(out, x.sum(1), rtol=1e-6)


def test_replaced_reductions_and_scans_take_effect(monkeypatch) -> None:
    seen = []
    for kind in (ReduceOps, ScanOps):
        original = kind.apply_impl
        monkeypatch.setattr(kind, "apply_impl", lambda self, x, f=original: (seen.append(self.axis), f(self, x))[1])

    def kernel(x, out):
        i = tl.arange(0, 4)
        tl.store(out + i, tl.associative_scan(tl.load(x + i), 0, multiply) + tl.reduce(tl.load(x + i), 0, multiply))

    x, out = floats(4), np.zeros(4, np.float32)
    InterpretedFunction(kernel)[(1,)](x, out)
    assert seen == [0, 0]
    np.testing.assert_allclose(out, np.cumprod(x) + np.prod(x), rtol=1e-6)


def test_a_replaced_grid_executor_runs_the_programs(monkeypatch) -> None:
    def reversed_grid(self, *args, **kwargs):
        host, named = self._init_args_hst(args, kwargs)
        scope = interpreter._patch_lang(self.fn)
        given = inspect.getcallargs(self.fn, *host, **named)
        values = {k: v if k in self.constexprs else interpreter._implicit_cvt(v) for k, v in given.items()}
        interpreter_builder.set_grid_dim(*self.grid, 1, 1)
        for x in reversed(range(self.grid[0])):
            interpreter_builder.set_grid_idx(x, 0, 0)
            order.append(x)
            self.fn(**values)
        scope.restore()
        self._restore_args_dev(args, host, kwargs, named)

    order: list[int] = []
    monkeypatch.setattr(GridExecutor, "__call__", reversed_grid)
    x, y = launch_copy()
    assert order == [2, 1, 0] and (y[:10] == x[:10]).all()


def test_methods_added_to_the_transformer_rewrite_loops(monkeypatch) -> None:
    lines = []

    def visit_For(self, node):
        self.generic_visit(node)
        lines.append(node.lineno)
        node.iter = ast.Call(ast.Name("observed", ast.Load()), [node.iter], [])
        return node

    monkeypatch.setattr(ASTTransformer, "visit_For", visit_For, raising=False)

    def kernel(out, N: tl.constexpr):
        for i in tl.static_range(N):
            tl.store(out + i, i)

    seen = []
    out = np.zeros(3, np.int32)
    observed = lambda values: (seen.append(v) or v for v in values)
    InterpretedFunction(kernel, observed=observed)[(1,)](out, N=3)
    assert seen == [0, 1, 2] == out.tolist() and lines == [2]  # the line within the function


def test_rewritten_functions_keep_closures_defaults_and_globals() -> None:
    factor = 3

    def kernel(out, n: tl.constexpr = 2, *, more=1):
        tl.store(out, factor * n + more)

    made = FunctionRewriter(kernel).rewrite_ast()
    assert made.__globals__ is kernel.__globals__ and made.__defaults__ == (2,) and made.__kwdefaults__ == {"more": 1}
    assert made.__code__.co_firstlineno == kernel.__code__.co_firstlineno
    out = np.zeros(1, np.int32)
    InterpretedFunction(kernel)[(1,)](out)
    assert out[0] == 7


def test_the_language_is_as_before_after_a_launch() -> None:
    before = {name: getattr(tl, name) for name in dir(tl)}, dict(vars(tl.tensor))
    launch_copy()
    assert ({name: getattr(tl, name) for name in dir(tl)}, dict(vars(tl.tensor))) == before
    with pytest.raises(ValueError, match="only be called inside a kernel"):
        tl.arange(0, 4)
    with pytest.raises(LaunchError, match="cannot be called directly"):
        InterpretedFunction(copy)(1)


def test_errors_show_the_line_and_the_program() -> None:
    def reads_too_far(x, y):
        i = tl.program_id(0) * 8
        tl.store(y, tl.load(x + i))

    with pytest.raises(InterpreterError, match=r"is in no array") as error:
        InterpretedFunction(reads_too_far)[(4,)](np.zeros(8, np.float32), np.zeros(8, np.float32))
    assert error.value.program == (1, 0, 0) and "tl.store(y, tl.load(x + i))" in str(error.value)
    with pytest.raises(InterpreterError, match="Boolean|truth"):
        InterpretedFunction(ambiguous)[(1,)](np.zeros(8, np.float32))


def ambiguous(x):
    if tl.arange(0, 4) > 2:
        tl.store(x, 1.0)


def test_conditions_and_loops_are_those_of_python() -> None:
    def kernel(x, n, out):
        total = 0
        i = 0
        while i < n and tl.load(x + i) > 0:
            total += tl.load(x + i)
            i += 1
        tl.store(out, total if n > 2 else -1)

    out = np.zeros(1, np.int32)
    InterpretedFunction(kernel)[(1,)](np.array([3, 4, -1, 9], np.int32), 4, out)
    assert out[0] == 7


def test_arguments_are_arrays_numbers_tuples_and_descriptors() -> None:
    def kernel(pair, desc, flag, scale):
        i = tl.arange(0, 8)
        if flag:
            tl.store(pair[0] + i, tl.load(pair[1] + i) * scale + tl.sum(desc.load([0, 0])))

    x, y, z = floats(8), np.zeros(8, np.float32), floats(8, 8)
    InterpretedFunction(kernel)[(1,)]((y, x), TensorDescriptor.from_tensor(z, [4, 4]), True, 2.0)
    np.testing.assert_allclose(y, x * 2 + z[:4, :4].sum(), rtol=1e-5)


@pytest.mark.torch
def test_tensors_of_torch_are_changed_in_place() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.rand(12, dtype=torch.bfloat16), torch.zeros(12, dtype=torch.bfloat16)
    calls = []
    kernel = InterpretedFunction(copy)
    kernel.add_pre_run_hook(lambda *args, **kwargs: calls.append(len(args)))
    kernel[(3,)](x, y, 12, 4)
    assert torch.equal(x, y) and calls == [4]


def test_handles_check_the_width_of_their_elements() -> None:
    handle = TensorHandle(np.ones(4, np.float32), tl.float32)
    handle.set_attr("tt.divisibility", [16])
    assert bool(handle) and handle.attr and handle.clone().data is not handle.data
    assert TensorHandle(np.ones(1, np.uint64), tl.pointer_type(tl.int8)).get_element_ty() is tl.int8
    with pytest.raises(ValueError, match="64 bits do not fit int32"):
        TensorHandle(np.ones(1, np.int64), tl.int32)


def handle(values, dtype):
    return TensorHandle(np.array(values, interpreter._get_np_dtype(dtype)), dtype)


def test_methods_of_the_builder_compute_on_handles() -> None:
    b = InterpreterBuilder()
    x, y = handle([7, -7, 3], tl.int32), handle([2, 2, 0], tl.int32)
    assert b.create_idiv(x, y).data[:2].tolist() == [3, -3]
    assert b.create_shl(x, handle([1, 31, 40], tl.int32)).data.tolist() == [14, -(1 << 31), 0]
    assert b.create_icmpSLT(x, y).dtype is tl.int1
    assert b.create_ashr(handle([0x80000000], tl.uint32), handle([31], tl.uint32)).data.tolist() == [0xFFFFFFFF]
    f = handle([1.0, np.nan], tl.float32)
    assert b.create_fcmpUNE(f, f).data.tolist() == [False, True]
    assert b.create_fcmpONE(f, f).data.tolist() == [False, False]
    assert b.create_fcmpULT(f, f).data.tolist() == [False, True]
    assert b.cast_impl(f, tl.bfloat16).data[0] == 0x3F80 and b.get_bf16(1.0).data.tolist() == [0x3F80]
    assert b.create_splat(tl.block_type(tl.int32, [2, 2]), b.get_int32(5)).data.tolist() == [[5, 5], [5, 5]]
    assert b.get_all_ones_value(tl.uint8).data.tolist() == [255] and b.get_half_ty() is tl.float16
    assert b.create_bitcast(handle([1.0], tl.float32), tl.int32).data.tolist() == [0x3F800000]
    assert b.create_histogram(handle([0, 1, 1, 9], tl.int32), 4, None).data.tolist() == [1, 2, 0, 0]
    with pytest.raises(ValueError, match="grid of size 2 along y"):
        b.set_grid_dim(1, 2, 1)
        b.set_grid_idx(0, 2, 0)


def test_the_semantics_take_and_return_tensors_with_handles() -> None:
    five = interpreter_semantic.to_tensor(5)
    assert isinstance(five.handle, TensorHandle) and five.handle.data.tolist() == [5]
    assert interpreter_semantic.to_tensor("text", False) == "text"
    total = interpreter_semantic.add(five, interpreter_semantic.to_tensor(2.5))
    assert total.dtype is tl.float32 and total.handle.data.tolist() == [7.5]
    assert interpreter_semantic.builder is interpreter_builder


CLIENT = """
import traceback
import numpy as np
import tritium
tritium.install()
import triton, triton.language as tl
from triton.runtime.interpreter import InterpretedFunction, interpreter_builder

def user_line():
    skipped = ("triton/runtime", "triton/language")
    stack = [f for f in traceback.extract_stack()[:-2] if not any(s in f.filename for s in skipped)]
    return stack[-1].line

lines = []
for name in ("create_masked_load", "create_masked_store", "unary_op"):
    def traced(*args, original=getattr(interpreter_builder, name)):
        lines.append(user_line())
        return original(*args)
    setattr(interpreter_builder, name, traced)

def kernel(x, y):
    o = tl.arange(0, 4)
    v = tl.load(x + o)
    v = tl.softmax(v)
    tl.store(y + o, v)

InterpretedFunction(kernel)[(1,)](np.ones(4, np.float32), np.ones(4, np.float32))
print("\\n".join(lines))
"""


def test_tools_that_skip_triton_s_frames_find_the_line_of_the_kernel(tmp_path) -> None:
    script = tmp_path / "client.py"
    script.write_text(textwrap.dedent(CLIENT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wanted = ["v = tl.load(x + o)", "v = tl.softmax(v)", "tl.store(y + o, v)"]
    assert done.stdout.splitlines() == wanted, traceback.format_exc()


def test_parts_that_clients_compose_exist() -> None:
    options = interpreter.InterpreterOptions(debug=True)
    assert options.debug and options.backend_name == "interpreter" and "fp8e4nv" in options.supported_fp8_dtypes
    b = InterpreterBuilder()
    assert b.codegen_fns["min_dot_size"](None, None) == (1, 1, 1)
    cast = interpreter.ExtraFunctions._convert_custom_types
    made = cast(interpreter_semantic.to_tensor(1.5), tl.float8e4b15, None, interpreter_semantic)
    assert made.dtype is tl.float8e4b15
    base = handle([4096], tl.pointer_type(tl.float32))
    sizes = [handle([6], tl.int64), handle([8], tl.int64)]
    steps = [handle([8], tl.int64), handle([1], tl.int64)]
    starts = [handle([4], tl.int32), handle([0], tl.int32)]
    block = interpreter.BlockPointerHandle(base, sizes, steps, starts, [4, 4], (1, 0))
    pointers, inside = block.materialize_pointers([0])
    assert pointers.data[1, 2] == 4096 + 4 * (5 * 8 + 2) and inside.data.sum() == 8
    desc = interpreter.TensorDescHandle(base, sizes, steps, [4, 4], tl.PropagateNan.NONE)
    desc.validate()
    assert (desc.materialize_pointers(starts)[1].data == inside.data).all()
    desc.strides[0] = handle([7], tl.int64)
    with pytest.raises(ValueError, match="multiples of 16 bytes"):
        desc.validate()


def test_attributes_are_restored_in_reverse_order() -> None:
    class Holder:
        value = 1

    scope = interpreter._LangPatchScope()
    scope.set_attr(Holder, "value", 2)
    scope.set_attr(Holder, "value", 3)
    scope.set_attr(Holder, "other", 4)
    assert (Holder.value, Holder.other) == (3, 4)
    scope.restore()
    assert Holder.value == 1 and not hasattr(Holder, "other")
    interpreter._patch_builtin(tl.math, interpreter_builder, scope)
    assert tl.math.exp(interpreter_semantic.to_tensor(0.0)).handle.data.tolist() == [1.0]
    scope.restore()
    with pytest.raises(ValueError, match="only be called inside a kernel"):
        tl.math.exp(interpreter_semantic.to_tensor(0.0))
