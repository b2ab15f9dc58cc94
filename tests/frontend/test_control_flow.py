"""Control flow: the compiled kernel stores what the kernel run as Python stores."""

import importlib.util
import random

import pytest
from native import check, compile_scalar, run_compiled
from programs import Generator

import tritium.language as tl
from tritium.dialects import arith, scf, tt
from tritium.frontend.callee import SourceFunction, constexpr_function
from tritium.frontend.errors import CompilationError

SIZES = tl.constexpr((2, 3, 4))
STEP = tl.constexpr(3)


@SourceFunction
def clamp(x, low=0, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


@SourceFunction
def first_above(x, limit):
    if x > limit:
        if x > 2 * limit:
            return 2
        else:
            return 1
    else:
        x = x + 1
    if x == limit:
        return 7
    return 0 * x


@SourceFunction
def pair(x, y):
    return x + y, (x - y, 3)


@SourceFunction
def store_twice(out, x):
    tl.store(out, x)
    if x > 5:
        return
    tl.store(out + 1, x + 1)


@SourceFunction
def total(first, *rest):
    result = first
    for value in rest:
        result += value
    return result


@SourceFunction
def apply(f, x):
    return f(x) + f(x + 1)


@constexpr_function
def power(base, exponent):
    return base**exponent


@SourceFunction
def k_branches(out, a, b):
    x = 1
    if a > b:
        x = a
        y = 2
    elif a == b:
        y = 3
    else:
        x = b
        y = 4
    tl.store(out, x)
    tl.store(out + 1, y)


@SourceFunction
def k_early_return(out, a, b):
    if a > 5:
        tl.store(out, 1)
        return
    if b > 5:
        if a > 2:
            tl.store(out, 2)
            return
        tl.store(out + 1, 3)
    tl.store(out + 2, a + b)


@SourceFunction
def k_both_return(out, a, b):
    if a > b:
        tl.store(out, a)
        return
    else:
        tl.store(out, b)
        return


@SourceFunction
def k_for(out, a, b):
    s = 0
    for i in range(a):
        s += i
        for j in range(i, b):
            s += j
    tl.store(out, s)
    down = 0
    for i in range(b, a, -2):
        down = down * 2 + i
    tl.store(out + 1, down)
    stepped = 0
    for i in range(0, b, STEP):
        stepped += i
    tl.store(out + 2, stepped)


@SourceFunction
def k_loop_carried(out, a, b):
    x = a
    y = b
    unchanged = 5
    for i in range(4):
        x, y = y, x + unchanged
        if i == 2:
            unchanged = unchanged
    tl.store(out, x)
    tl.store(out + 1, y)
    tl.store(out + 2, unchanged)


@SourceFunction
def k_while(out, a, b):
    n = a
    steps = 0
    while n > 0 and steps < 20:
        if n & 1 == 1:
            n = 3 * n + 1
        else:
            n = n // 2
        steps += 1
    tl.store(out, steps)
    while (m := n - 1) > 0:
        n = m - 1
    tl.store(out + 1, n + 10)


@SourceFunction
def k_static(out, a, b, N: tl.constexpr, FLAG: tl.constexpr):
    s = 0
    for i in tl.static_range(N):
        size: tl.constexpr = SIZES[i % 3]
        s += a * size
    if FLAG:
        s += 100
    else:
        s += undefined_but_never_looked_at  # noqa: F821
    tl.store(out, s)
    if N > 2 and a > 3:
        tl.store(out + 1, 1)
    if N > 100 and a > 3:
        tl.store(out + 2, undefined_but_never_looked_at)  # noqa: F821
    tl.store(out + 3, power(2, N) + len(SIZES))
    for x in (a, b, 3):
        s += x
    tl.store(out + 4, s)


@SourceFunction
def k_calls(out, a, b):
    tl.store(out, clamp(a) + clamp(b, high=3) + clamp(low=2, x=a))
    tl.store(out + 1, first_above(a, b) + 1)
    s, (d, three) = pair(a, b)
    tl.store(out + 2, s * 100 + d + three)
    store_twice(out + 3, a)
    tl.store(out + 5, total(a, b, 3))
    tl.store(out + 6, apply(clamp, a))
    tl.store(out + 7, total(*pair(a, b)[1]))


@SourceFunction
def k_expressions(out, a, b):
    """A docstring."""
    x = y = a + 1
    first, *middle, last = a, b, 3, 4
    tl.store(out, first + len(middle) * 10 + last + middle[1] + x + y)
    tl.store(out + 1, a if a > b else b)
    tl.store(out + 2, 0 < a < b and not a == 3)  # noqa: SIM201
    tl.store(out + 3, (a > 1) or (b > 1))
    tl.store(out + 4, -a + (~b) ** 2)
    squares = [i * i + a for i in range(4) if i != 2]
    tl.store(out + 5, squares[2] + len(squares))
    tl.store(out + 6, sum([1, 2, 3]) + max(1, 2, 3) + min(a, b, 4) + int("7") + abs(-3))
    none = None
    if none is None and a is not None:
        tl.store(out + 7, 1)
    pass  # noqa: PIE790
    "a string as a comment"
    for i, (p, q) in enumerate(zip((a, b), (1, 2))):
        tl.store(out + 8 + i, p * q)


PLAIN = [k_branches, k_early_return, k_both_return, k_for, k_loop_carried, k_while, k_calls, k_expressions]
INPUTS = [(0, 0), (1, 4), (4, 1), (7, 7), (3, 9), (12, 2), (9, 6)]


@pytest.mark.parametrize("fn", PLAIN, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("args", INPUTS, ids=str)
def test_kernel_means_what_python_means(fn, args):
    check(fn, 10, *args)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("flag", [True])
def test_static_control_flow(n, flag):
    assert run_compiled(k_static, 5, 4, 2, N=n, FLAG=flag)[0] == sum(4 * (2, 3, 4)[i % 3] for i in range(n)) + 100
    assert run_compiled(k_static, 5, 4, 2, N=n, FLAG=flag)[1:4] == [int(n > 2), 0, 2**n + 3]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(Generator(seed).module())
    spec = importlib.util.spec_from_file_location(f"random_program_{seed}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    choose = random.Random(seed)
    for _ in range(3):
        check(program.kernel, 5, choose.randint(0, 255), choose.randint(0, 9))


def ops(module, kind):
    return [op for op in module.walk() if isinstance(op, kind)]


@SourceFunction
def k_variable_behind(out, a, b, n):
    i = 7
    for i in range(a, b, 3):
        tl.store(out + 10, i)
    tl.store(out, i)
    i = 8
    for i in range(b, a, -2):
        if i == 4:
            continue
    tl.store(out + 1, i)
    k = 100
    for outer in range(n):
        tl.store(out + 2 + outer, k)  # what the loop below left in the step before
        for k in range(outer):
            tl.store(out + 10, k)
        for j in range(outer, 9):
            tl.store(out + 10, j)
        tl.store(out + 6, j)
    tl.store(out + 7, k)
    for q in range(20, 10, -1):
        if q == a:
            break
    tl.store(out + 8, q)
    for p in range(2):
        for p in range(n + 1):
            tl.store(out + 10, p)
        tl.store(out + 9, p)


@pytest.mark.parametrize("args", [(2, 10, 3), (3, 9, 0), (12, 13, 1), (13, 12, 2), (-7, 4, 3), (5, 5, 3)])
def test_loop_variable_after_the_loop_is_that_of_python(args):
    check(k_variable_behind, 11, *args)


def test_last_value_of_a_range_over_its_whole_type():
    @SourceFunction
    def kernel(out, least, greatest):
        for i in range(least, greatest, 2000000000):
            tl.store(out + 1, i)
        tl.store(out, i)

    assert run_compiled(kernel, 2, -(2**31), 2**31 - 1) == [-(2**31) + 2 * 2000000000] * 2


def test_loop_variable_needs_one_type_to_be_read_after_the_loop():
    @SourceFunction
    def kernel(out, n):
        i = 1.5
        for i in range(n):
            tl.store(out + 1, i)
        tl.store(out, i)

    with pytest.raises(CompilationError, match="it is fp32 before the loop and int32 inside it"):
        compile_scalar(kernel, 3)


def test_last_value_of_an_unread_loop_variable_is_not_computed():
    @SourceFunction
    def kernel(out, n):
        for i in range(n):
            tl.store(out + i, i)
        for i in range(3, n):
            tl.store(out + i, 2 * i)

    assert not ops(compile_scalar(kernel, 3), arith.Select)


def test_unchanged_values_are_not_loop_carried():
    @SourceFunction
    def kernel(out, n):
        constant = n + 1
        s = 0
        for i in range(n):
            if False:
                constant = 0
            s += constant
        tl.store(out, s)

    (loop,) = ops(compile_scalar(kernel, 3), scf.For)
    assert len(loop.results) == 1


def test_constant_not_assigned_in_a_loop_stays_constant():
    @SourceFunction
    def kernel(out, n, SIZE: tl.constexpr):
        for i in range(n):
            if False:
                SIZE = 2
            tl.static_assert(SIZE == 8)
            tl.store(out + i, SIZE)

    assert run_compiled(kernel, 4, 3, SIZE=8) == [8, 8, 8, 0]


def test_constexpr_declaration_keeps_later_assignments_constant():
    @SourceFunction
    def kernel(out, n):
        first: tl.constexpr
        last: int
        first, second = 4, 5
        tl.static_assert(first == 4)
        if (last := 7) != first:
            tl.store(out, first)
        tl.store(out + 1, second + last)
        first = first + 1
        tl.static_assert(first == 5)

    assert run_compiled(kernel, 2, 3) == [4, 12]

    @SourceFunction
    def of_an_argument(out, n):
        first: tl.constexpr
        first = n
        tl.store(out, first + 1)

    assert run_compiled(of_an_argument, 1, 3) == [4]


@pytest.mark.parametrize("other", [float("nan"), -0.0])
@pytest.mark.parametrize("fn", [min, max])
def test_min_and_max_of_nan_and_negative_zero_are_refused(fn, other):
    @SourceFunction
    def kernel(out, n, a: tl.constexpr, b: tl.constexpr):
        tl.store(out, fn(a, b))

    with pytest.raises(CompilationError, match="NaN or -0.0 depends on the order"):
        compile_scalar(kernel, 3, a=1.0, b=other)


def test_constant_assigned_in_a_loop_becomes_loop_carried():
    @SourceFunction
    def kernel(out, n, SIZE: tl.constexpr):
        for i in range(n):
            tl.store(out + i, SIZE)
            SIZE = SIZE // 2

    assert run_compiled(kernel, 4, 4, SIZE=8) == [8, 4, 2, 1]


def test_functions_are_compiled_once_per_specialization():
    @SourceFunction
    def kernel(out, a, b):
        tl.store(out, clamp(a) + clamp(b) + clamp(a, 0, 10) + clamp(a, 1))

    functions = ops(compile_scalar(kernel, 3, 4), tt.Func)
    assert len(functions) == 3
    assert [f.sym_visibility for f in functions] == ["public", "private", "private"]
    assert len({f.sym_name for f in functions}) == 3


def test_noinline_functions_are_marked():
    noinline = SourceFunction(clamp.fn, noinline=True)

    @SourceFunction
    def kernel(out, a):
        tl.store(out, noinline(a))

    _, function = ops(compile_scalar(kernel, 3), tt.Func)
    assert function.noinline


def test_loop_options_become_attributes():
    @SourceFunction
    def kernel(out, n):
        for i in tl.range(0, n, 1, num_stages=3, loop_unroll_factor=2, flatten=True):
            tl.store(out + i, i)

    (loop,) = ops(compile_scalar(kernel, 3), scf.For)
    attributes = {name: str(value) for name, value in loop.attributes.items()}
    assert attributes["tt.num_stages"] == "3 : i32"
    assert attributes["tt.loop_unroll_factor"] == "2 : i32"
    assert attributes["tt.flatten"] == "unit"


def test_values_carry_the_names_of_variables():
    @SourceFunction
    def kernel(out, n):
        total = n + 1
        for i in range(n):
            total += i
        tl.store(out, total)

    module = compile_scalar(kernel, 3)
    (loop,) = ops(module, scf.For)
    assert loop.results[0].hint == "total"
    assert [a.hint for a in loop.body.args] == ["i", "total"]
    assert str(loop.init_args[0].owner.loc).startswith('"total"(')


def test_every_operation_has_a_position():
    for op in compile_scalar(k_calls, 3, 4).walk():
        position = op.loc.file_position()
        assert position is not None and position.file == __file__ or op.name == "builtin.module"


def test_argument_attributes():
    @SourceFunction
    def kernel(out, n, flag):
        tl.store(out, n)

    from tritium.frontend.visitor import ast_to_ttir

    module = ast_to_ttir(
        kernel,
        {"out": "*i32", "n": "i32"},
        {"flag": True},
        {(0,): [["tt.divisibility", 16]], "n": [["tt.divisibility", 16]]},
    )
    (function,) = ops(module, tt.Func)
    assert [str(a) for a in function.arg_attrs.elements] == ["{tt.divisibility = 16 : i32}"] * 2
    assert function.sym_name == "kernel" and len(function.entry.args) == 2


def test_tuple_arguments_are_flattened():
    @SourceFunction
    def kernel(outs, values):
        tl.store(outs[0], values[0])
        tl.store(outs[1], values[1][0] + values[1][1])

    from tritium.frontend.visitor import ast_to_ttir

    signature = {"outs": ("*i32", "*i32"), "values": ("i32", ("i32", "constexpr"))}
    module = ast_to_ttir(kernel, signature, {(1, 1, 1): 5})
    (function,) = ops(module, tt.Func)
    assert [a.hint for a in function.entry.args] == ["outs_0", "outs_1", "values_0", "values_1_0"]


def test_error_names_the_missing_parameter():
    from tritium.frontend.errors import CompilationError
    from tritium.frontend.visitor import ast_to_ttir

    with pytest.raises(CompilationError, match="no value or type was given for the parameter b"):
        ast_to_ttir(k_branches, {"out": "*i32", "a": "i32"})
