"""Kernels of people who write what torch, NumPy and Python have, or misspell what the language has; see `kernels.py`."""

# ruff: noqa: F821, F841
import functools

import tritium.language as tl
from tests.errors import kernels
from tritium import cdiv
from tritium.frontend.callee import SourceFunction

KERNELS = []
kernel = functools.partial(kernels.kernel, cases=KERNELS)


@kernel("*fp32, i32")
def function_of_torch(p, n):
    tl.store(p, tl.ones((4,)))  # error: AttributeError: module tritium.language has no attribute ones
    # hint: use tl.full(shape, 1, dtype)


@kernel("*fp32, i32")
def function_of_the_device_library(p, n):
    tl.store(p, tl.tanh(tl.load(p)))  # error: AttributeError: module tritium.language has no attribute tanh
    # hint: libdevice.tanh


@kernel("*fp32, i32")
def misspelt_function(p, n):
    tl.store(p, tl.maximun(n, 1))  # error: AttributeError: module tritium.language has no attribute maximun
    # hint: did you mean 'maximum'?


@kernel("*fp32, i32")
def misspelt_keyword(p, n):
    tl.store(p, tl.load(p, msk=n > 1))  # error: TypeError: load() got an unexpected keyword argument 'msk'
    # hint: did you mean 'mask'?


@kernel("*fp32, i32")
def misspelt_keyword_of_a_function(p, n):
    tl.store(p, kernels.two(1, bb=n))  # error: TypeError: two() got an unexpected keyword argument 'bb'
    # hint: did you mean 'b'?


@kernel("*fp32, i32")
def step_of_arange(p, n):
    tl.store(p + tl.arange(0, 8, 2), 1.0)  # error: TypeError: arange() takes 2 arguments, got 3
    # hint: it takes (start, end)


@kernel("*fp32, i32")
def end_of_arange(p, n):
    tl.store(p + tl.arange(8), 1.0)  # error: TypeError: arange() missing argument 'end'
    # hint: it takes (start, end)


@kernel("*fp32, i32")
def keyword_of_method(p, n):
    x = tl.load(p + tl.arange(0, 8))
    tl.store(p, x.sum(axes=0))  # error: got an unexpected keyword argument 'axes'
    # hint: did you mean 'axis'?


@kernel("*fp32, i32")
def half_of_arange(p, n, N: tl.constexpr = 8):
    tl.store(p + tl.arange(0, N / 2), 1.0)  # error: arange's arguments must be integers, got 4.0 of type float
    # hint: // divides integers


@kernel("*fp32, *i32")
def pointer_for_a_number(p, n):
    tl.store(p, 1.0, mask=tl.arange(0, 1) < n)  # error: invalid operands of type
    # hint: a number in a tensor is passed as number.item()


@kernel("*fp32, i32")
def pointer_for_a_value(p, n):
    tl.store(p, tl.exp(p + n))  # error: but got pointer<fp32>
    # hint: the values there are tl.load(pointer + offsets)


@kernel("*fp32, i32")
def float_as_an_offset(p, n):
    tl.store(p + n / 2, 1.0)  # error: invalid operands of type pointer<fp32> and fp32
    # hint: a pointer takes integers as offsets


@kernel("*fp32, i32")
def value_for_a_pointer(p, n):
    tl.store(p, tl.load(tl.load(p)))  # error: Unsupported ptr type fp32 in `tl.load`
    # hint: pointer + tl.arange(0, N)


@kernel("*fp32, i32")
def comma_behind_a_pointer(p, n):
    q = (p + n,)
    tl.store(p, tl.load(q))  # error: TypeError: tl.load takes a pointer, got tuple
    # hint: a comma after a value makes it a tuple


@kernel("*fp32, i32")
def block_to_one_address(p, n):
    tl.store(p, tl.arange(0, 8))  # error: Value argument cannot be block type
    # hint: the pointer needs offsets


class float32:
    """The type of another library."""


@kernel("*fp32, i32", D=float32)
def type_of_another_library(p, n, D: tl.constexpr):
    tl.store(p, tl.full((), n, D))  # error: dtype must be a dtype such as tl.float32
    # hint: pass tl.float32


@kernel("*fp32, i32")
def cdiv_of_python(p, n):
    tl.store(p, cdiv(n, 4))  # error: constexpr function cdiv got a int32 only known at run time
    # hint: tl.cdiv also takes run-time values


@kernel("*fp32, i32")
def block_as_condition(p, n):
    at = tl.arange(0, 8)
    if (
        at < n  # error: Boolean value of Tensor with more than one value is ambiguous
    ):
        tl.store(p, 1.0)


@SourceFunction
def deeper(n):
    return deeper(n - 1)  # error-of: endless_recursion: recursion is not supported: deeper calls itself


@kernel("*i32, i32")
def endless_recursion(p, n):
    tl.store(p, deeper(5))


@kernel("*i32, i32")
def fractional_atomic(p, n):
    tl.atomic_add(p, 1.5)  # error: atomic_add through a pointer to int32 takes integers of 32 bits, not 1.5


@kernel("*i32, i32")
def atomic_of_large_constant(p, n):
    tl.atomic_max(p, 1 << 40)  # error: atomic_max through a pointer to int32 takes integers of 32 bits


@kernel("*i32, fp32")
def atomic_of_floats(p, x):
    tl.atomic_xchg(p + tl.arange(0, 8), x + tl.zeros((8,), tl.float32))  # error: takes integers, not fp32
    # hint: value.to(tl.int32)


@kernel("*i32, fp32")
def compare_and_swap_of_floats(p, x):
    tl.atomic_cas(p, 0, x)  # error: atomic_cas through a pointer to int32 takes integers, not fp32


@kernel("*i32, fp32")
def atomic_store_of_floats(p, x):
    tl.atomic_store(p, x)  # error: atomic_store through a pointer to int32 takes integers, not fp32


@kernel("*fp32, i32")
def read_before_its_assignment(p, n):
    for i in range(n):
        tl.store(p, last)  # error: last is not defined here: it is assigned later
        last = i  # note: last is assigned here


@kernel("*fp32, i32")
def sum_without_a_start(p, n):
    total += n  # error: total is not defined here: this statement is its first assignment
    # hint: assign total before


@kernel("*fp32, i32", N=4)
def assigned_on_a_path_that_is_not_compiled(p, n, N: tl.constexpr):
    if N > 4:
        x = 1.0  # note: x is assigned here
    tl.store(p, x)  # error: x is not defined here: it is assigned on a path that is not compiled


@kernel("*fp32, i32")
def append_to_a_list(p, n):
    x = []
    x.append(n)  # error: tuple () has no attribute append
    # hint: lists are tuples in kernels


@kernel("*fp32, i32")
def function_by_a_run_time_condition(p, n):
    f = kernels.two if n > 2 else kernels.sized  # error: inconsistent types constexpr SourceFunction
    # hint: call each in a branch


@kernel("*fp32, i32")
def text_of_a_run_time_value(p, n):
    tl.device_print(f"{n}")  # error: Cannot evaluate f-string
    # hint: `tl.device_print("text", n)`
