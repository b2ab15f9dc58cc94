"""Kernels that cannot be compiled. `# error:` stands on the line at fault and holds a part of the message; `# hint:`
on any line of the function holds a part of the hint, `# note:` a part of the note at that line."""

# ruff: noqa: I001, F401, F841, F821, SIM105, PIE808
import math

import tritium.language as tl
from tritium.frontend.callee import SourceFunction, constexpr_function

KERNELS = []
NUMBER = 5
LIST = [1, 2]


def kernel(signature, cases=KERNELS, **constants):
    """Register a kernel with the types of its run-time parameters in order and its constants by name."""

    def register(fn):
        fn = SourceFunction(fn)
        names = [n for n in fn.arg_names if n not in constants]
        cases.append((fn, dict(zip(names, signature.split(", "))), constants))
        return fn

    return register


def plain(x):
    return x


@constexpr_function
def host(x):
    return x + 1


@constexpr_function
def failing(x):
    raise ValueError(f"no value for {x}")


@SourceFunction
def two(a, b):
    return a + b


@SourceFunction
def sized(N: tl.constexpr):
    return tl.arange(0, N)  # error-of: run_time_for_constexpr: arange's arguments must be of type tl.constexpr


# -- names --------------------------------------------------------------------------------------------------------


@kernel("*i32, i32")
def undefined_name(p, n):
    tl.store(p, m)  # noqa: F821  # error: NameError: m is not defined


@kernel("*i32, i32")
def misspelt_name(p, count):
    tl.store(p, cuont)  # noqa: F821  # error: cuont is not defined
    # hint: did you mean count?


@kernel("*i32")
def global_number(p):
    tl.store(p, NUMBER)  # error: Cannot access global variable NUMBER from within @jit'ed function
    # hint: NUMBER = tl.constexpr(...)


@kernel("*i32")
def global_list(p):
    tl.store(p, LIST[0])  # error: Cannot access global variable LIST


@kernel("*i32, i32")
def defined_in_one_branch(p, n):
    if n > 2:
        x = 1  # note: x is assigned here
    tl.store(p, x)  # error: x is not defined here: it is assigned in the if branch only
    # hint: assign x before the `if`


@kernel("*i32, i32")
def defined_in_else_only(p, n):
    if n > 2:
        pass
    else:
        x = 1
    tl.store(p, x)  # error: assigned in the else branch only


@kernel("*i32, i32")
def loop_variable_assigned_in_the_loop(p, n):
    for i in range(n):
        i += 1
        tl.store(p + i, i)
    tl.store(p, i)  # error: i is not defined here: it is the loop variable, which the loop assigns


@kernel("*i32, i32")
def defined_inside_a_loop(p, n):
    for i in range(n):
        x = i
    tl.store(p, x)  # error: x is not defined here: it is assigned inside a loop only
    # hint: assign x before the loop


@kernel("*i32, i32")
def unknown_function(p, n):
    tl.store(p, tl.nonsense(n))  # error: AttributeError: module tritium


@kernel("*i32, i32")
def unknown_method(p, n):
    tl.store(p, n.astype(tl.float32))  # error: has no attribute astype
    # hint: x.to(dtype)


# -- types that do not agree --------------------------------------------------------------------------------------


@kernel("*i32, i32")
def loop_carried_type(p, n):
    x = 1.0  # note: x has type fp32 before the loop
    for i in range(n):
        x = n  # error: Loop-carried variable x has initial type fp32 but is re-assigned to int32
    tl.store(p, x)


@kernel("*i32, i32")
def loop_carried_none(p, n):
    x = None  # note: x is None before the loop
    for i in range(n):
        x = n  # error: Loop-carried variable x is None before the loop and changes inside it
    tl.store(p, x)


@kernel("*i32, i32")
def branch_types(p, n):
    x = 1  # note: x has type int32 here
    if n > 2:
        x = 1.0  # error: Mismatched type for x between then block (fp32) and else block (int32)
    tl.store(p, x)


@kernel("*i32, i32")
def branch_types_of_a_new_name(p, n):
    if n > 2:
        x = 1.0  # note: x has type fp32 here
    else:
        x = 1  # error: Mismatched type for x
    tl.store(p, x)  # note: x is read here


@kernel("*i32, i32")
def ternary_types(p, n):
    tl.store(p, 1.0 if n > 2 else n)  # error: Ternary expression with dynamic condition has inconsistent types


@SourceFunction
def returns_two_types(n):
    if n > 2:
        return 1.0
    return n  # error-of: mismatched_returns: Return type mismatch


@kernel("*i32, i32")
def mismatched_returns(p, n):
    tl.store(p, returns_two_types(n))


@kernel("*i32, i32")
def float_bounds(p, n):
    for i in range(0, 4.0):  # error: For loop bounds and step must all be ints
        tl.store(p, i)


@kernel("*i32, i32")
def zero_step(p, n):
    for i in range(0, n, 0):  # error: the step of a range must not be zero
        tl.store(p, i)


@kernel("*i32, i32")
def run_time_static_range(p, n):
    for i in tl.static_range(n):  # error: compile time
        tl.store(p, i)


@kernel("*i32, i32")
def unpack_too_many(p, n):
    a, b = 1, 2, 3  # error: 3 values cannot be unpacked into 2 names


@kernel("*i32, i32")
def unpack_a_block(p, n):
    a, b = tl.arange(0, 2)  # error: cannot be unpacked


@kernel("*i32, i32")
def run_time_tuple_index(p, n):
    t = (1, 2)
    tl.store(p, t[n])  # error: the index of a tuple must be known at compile time


@kernel("*i32, i32")
def tuple_index_out_of_range(p, n):
    t = (1, 2)
    tl.store(p, t[2])  # error: index 2 is out of range for a tuple of 2


@kernel("*i32, i32")
def none_in_arithmetic(p, n):
    x = None
    tl.store(p, n + x)  # error: TypeError: unsupported operand type(s) for +: int32 and None


@kernel("*i32, i32")
def constexpr_of_run_time(p, n):
    x: tl.constexpr = n + 1
    tl.store(p + tl.arange(0, x), 1)  # error: arange's arguments must be of type tl.constexpr


@kernel("*i32, i32")
def constexpr_twice(p, n):
    x: tl.constexpr = 1
    x: tl.constexpr = 2  # error: x is already defined. constexpr cannot be reassigned.


@kernel("*i32, i32")
def run_time_shape(p, n):
    tl.store(p + tl.arange(0, n), 1)  # error: arange


@kernel("*i32, i32")
def contains_run_time(p, n):
    if n in (1, 2):  # error: `in` needs compile-time values
        tl.store(p, n)


# -- calls --------------------------------------------------------------------------------------------------------


@kernel("*i32, i32")
def call_of_plain_python(p, n):
    tl.store(p, plain(n))  # error: plain is a plain Python function and cannot be called from a kernel
    # hint: decorate it with @triton.jit


@kernel("*i32, i32")
def too_many_arguments(p, n):
    tl.store(p, two(n, 1, 2))  # error: two() takes 2 arguments, got 3
    # hint: it takes (a, b)


@kernel("*i32, i32")
def missing_argument(p, n):
    tl.store(p, two(n))  # error: two() missing argument 'b'


@kernel("*i32, i32")
def unknown_keyword(p, n):
    tl.store(p, two(n, 1, c=2))  # error: two() got an unexpected keyword argument 'c'


@kernel("*i32, i32")
def argument_twice(p, n):
    tl.store(p, two(n, a=2))  # error: two() got multiple values for argument 'a'


@kernel("*i32, i32")
def run_time_for_constexpr(p, n):
    tl.store(p + sized(n), n)


@kernel("*i32, i32")
def run_time_for_constexpr_function(p, n):
    tl.store(p, host(n))  # error: constexpr function host got a int32 only known at run time


@kernel("*i32, i32")
def constexpr_function_raises(p, n):
    tl.store(p, failing(3))  # error: ValueError: no value for 3


@kernel("*i32, i32")
def python_math_of_run_time(p, n):
    tl.store(p, math.sqrt(n))  # error: sqrt() needs compile-time values


@kernel("*i32, i32")
def int_of_run_time(p, n):
    tl.store(p, int(n))  # error: int() needs compile-time values
    # hint: x.to(tl.int32)


@kernel("*i32, i32")
def call_of_a_value(p, n):
    tl.store(p, n(3))  # error: cannot be called from a kernel


@SourceFunction
def recursive(n):
    return recursive(n)  # error-of: recursion: recursion is not supported: recursive calls itself


@kernel("*i32, i32")
def recursion(p, n):
    tl.store(p, recursive(n))


@SourceFunction
def inner_error(x):
    return x + missing  # noqa: F821  # error-of: nested_error: missing is not defined


@SourceFunction
def middle(x):
    return inner_error(x) * 2


@kernel("*i32, i32")
def nested_error(p, n):
    tl.store(p, middle(n))


@kernel("*i32, i32")
def library_error(p, n):
    x = tl.arange(0, 16)
    tl.store(p, tl.sum(x, axis=3))  # error: axis


# -- assertions ---------------------------------------------------------------------------------------------------


@kernel("*i32, i32", N=3)
def static_assertion(p, n, N: tl.constexpr):
    tl.static_assert(N == 4, f"N is {N:>3}")  # error: static assertion failed: N is   3


@kernel("*i32, i32")
def static_assertion_at_run_time(p, n):
    tl.static_assert(n == 4)  # error: static_assert needs a condition known at compile time
    # hint: tl.device_assert


@kernel("*i32, i32")
def f_string_of_run_time(p, n):
    tl.static_print(f"{n}")  # error: Cannot evaluate f-string containing non-constexpr conversion values


# -- syntax -------------------------------------------------------------------------------------------------------


@kernel("*i32, i32")
def changes_type_before_break(p, n):
    x = 0  # note: x has type int32 here
    for i in range(n):
        if i > 3:
            break
        x = x + 1.5  # error: Mismatched type for x: int32 before this assignment, fp32 after it
    # hint: give x type fp32: `x = 0.0`, or give it type int32: `x = (x + 1.5).to(tl.int32)`
    tl.store(p, x)


@SourceFunction
def returns_from_a_loop(n):
    for i in range(n):
        if i > 3:
            return i
        if i > 5:
            return 1.5  # error-of: returns_other_types: Mismatched type for what is returned
    return 0


@kernel("*i32, i32")
def returns_other_types(p, n):
    tl.store(p, returns_from_a_loop(n))


@kernel("*i32, i32")
def never_ends(p, n):
    while True:  # error: the condition of this loop is always true: it never ends
        tl.store(p, n)
        continue
    # hint: `break` or `return`


@kernel("*i32, i32")
def endless(p, n):
    while True:  # error: the condition of this loop is always true
        n += 1


@kernel("*i32, i32")
def uses_try(p, n):
    try:  # error: Try
        tl.store(p, n)
    except ValueError:
        pass


@kernel("*i32, i32")
def uses_lambda(p, n):
    f = lambda x: x + 1  # error: Lambda


@kernel("*i32, i32")
def uses_dict(p, n):
    d = {1: 2}  # error: Dict


@kernel("*i32, i32")
def nested_function(p, n):
    def g(x):  # error: nested function definition is not supported
        return x


@kernel("*i32, i32")
def imports(p, n):
    import os  # error: Import


@kernel("*i32, i32")
def uses_raise(p, n):
    raise ValueError("no")  # error: Raise


@kernel("*i32, i32")
def element_assignment(p, n):
    p[0] = n  # error: assignment to an element of a scalar
    # hint: tl.store


@kernel("*i32, i32")
def element_of_pointer(p, n):
    x = p[n]  # error: too many indices for a scalar
    # hint: tl.load


@kernel("*i32, i32")
def element_of_element(p, n):
    x = tl.zeros([4, 4], tl.int32)
    x[0][n] = 1  # error: assignment to an element of this is not supported
    # hint: x[i, j] = v


@kernel("*i32, i32")
def element_of_tuple(p, n):
    x = (1, n)
    x[0] = n  # error: assignment to an element of a tuple
    # hint: make a new tuple


@kernel("*i32, i32")
def mask_as_index(p, n):
    x = tl.arange(0, 16)
    y = x[x > n]  # error: unsupported tensor index: a value of type <[16], int1>
    # hint: tl.where


@kernel("*i32, i32")
def run_time_bound(p, n):
    y = tl.arange(0, 16)[:n]  # error: the bounds of a slice must be known at compile time
    # hint: tl.constexpr


@kernel("*i32, i32")
def run_time_length(p, n):
    y = tl.arange(0, 16)[n : n + n]  # error: the length of a slice must be known at compile time


@kernel("*i32, i32")
def slice_without_length(p, n):
    y = tl.arange(0, 16)[n:]  # error: a slice with a run-time start needs a constant length
    # hint: x[s : s + N]


@kernel("*i32, i32")
def slice_too_long(p, n):
    y = tl.arange(0, 16)[n : n + 32]  # error: a slice of 32 elements does not fit in dimension 0 with size 16


@kernel("*i32, i32")
def value_of_other_shape(p, n):
    x = tl.zeros([4, 8], tl.int32)
    x[0] = tl.arange(0, 4)  # error: could not broadcast a block of shape [4] into shape [8]


@kernel("*i32, i32")
def value_out_of_range(p, n):
    x = tl.zeros([4], tl.int8)
    x[0] = 128  # error: 128 is out of range for elements of int8


@kernel("*i32, i32")
def pointer_as_element(p, n):
    x = tl.zeros([4], tl.int64)
    x[0] = p  # error: cannot become elements of int64


@kernel("*i32, i32")
def scatter(p, n):
    x = tl.arange(0, 4)
    x[x] = 1  # error: assignment to elements at a block of integers
    # hint: tl.store


@kernel("*i32, i32")
def format_of_block(p, n):
    print(f"{tl.arange(0, 4):.2f}")  # error: a block has no format '.2f'


@kernel("*i32, i32")
def format_of_number(p, n):
    print(f"{n:.2q}")  # error: for a value of type int32


@kernel("*i32, i32")
def option_of_print(p, n):
    print("x", n, file=n)  # error: file


@kernel("*i32, i32")
def attribute_assignment(p, n):
    p.x = n  # error: assignment to an attribute


@kernel("*i32, i32")
def double_star(p, n):
    two(**n)  # error: `**` in a call


@kernel("*i32, i32")
def matrix_operator(p, n):
    tl.store(p, n @ n)  # error: the operator @
    # hint: tl.dot


@kernel("*fp16")
def dot_with_a_quoted_dtype(p):
    x = tl.zeros((16, 16), tl.float16)
    y = tl.dot(x, x, out_dtype="float32")  # error: out_dtype must be a dtype, got 'float32'
    # hint: tl.float32


@kernel("*fp16")
def dot_of_other_batches(p):
    x, y = tl.zeros((2, 16, 16), tl.float16), tl.zeros((4, 16, 16), tl.float16)
    z = tl.dot(x, y)  # error: the batches [2] and [4] must be equal


@kernel("*fp16")
def dot_of_whole_numbers(p):
    x = tl.zeros((16, 16), tl.int16)
    y = tl.dot(x, x)  # error: Unsupported lhs dtype int16
    # hint: to int8, fp16, bf16, fp32, fp64 or an fp8


@kernel("*fp16")
def dot_with_fewer_than_no_imprecise_sums(p):
    x = tl.zeros((32, 32), tl.float8e5)
    y = tl.dot(x, x, max_num_imprecise_acc=-1)  # error: max_num_imprecise_acc must be an integer of 0 or more
    # hint: 32 is usual


@kernel("*fp16")
def dot_with_half_an_imprecise_sum(p):
    x = tl.zeros((32, 32), tl.float8e5)
    y = tl.dot(x, x, max_num_imprecise_acc="2")  # error: known at compile time, got '2'


@kernel("*i32, i32")
def loop_with_fewer_than_no_stages(p, n):
    for i in tl.range(n, num_stages=-2):  # error: num_stages must be 0 to 128, got -2
        tl.store(p + i, i)
    # hint: 1 disables pipelining


@kernel("*i32, i32")
def loop_with_endless_stages(p, n):
    for i in tl.range(n, num_stages=1 << 40):  # error: num_stages must be 0 to 128, got 1099511627776
        tl.store(p + i, i)


@kernel("*i32, i32")
def uses_global(p, n):
    global NUMBER  # error: Global


@kernel("*i32, i32")
def generator_expression(p, n):
    t = (i for i in (1, 2))  # error: GeneratorExp


@kernel("*i32, i32")
def returns_a_value(p, n):
    tl.store(p, n)
    return n  # error: a kernel returns no value
