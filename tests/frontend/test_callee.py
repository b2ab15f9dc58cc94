"""Source functions: how their text is found, what identifies them, what they read from outside."""

import importlib.util
import inspect
import shutil
import subprocess
import sys
import textwrap

import pytest

from tritium.frontend.callee import (
    BoundCallee,
    ConstexprFunction,
    SourceFunction,
    constexpr_function,
    language_function,
    unwrap_callee,
)

SCALE = 4
OTHER = 1


def decorate(*args, **kwargs):
    return SourceFunction


@SourceFunction
def callee(x):
    return x * SCALE


# fmt: off
@decorate(
    configs=[
        "one",
    ],
)
def decorated(
    a, b: "tl.constexpr" = 2,  # noqa: F821
    *,
c=3,
):
    """A docstring
with a line at the margin: def fake(x):
    """
    text = f"""
{a}
"""
    # a comment at the end of the body

    return text  # noqa: RET504
# fmt: on


# a comment behind the function
AFTER = 1


def nested():
    local = 7

    @SourceFunction
    def inner(x):
        return callee(x) + local + SCALE

    return inner


def test_source_stops_at_the_end_of_the_function():
    src = decorated.src
    assert src.startswith("def decorated(\n")
    assert src.endswith("    return text  # noqa: RET504\n")
    assert "AFTER" not in src and "decorate(" not in src


def test_nested_source_is_dedented_but_positions_are_those_of_the_file():
    inner = nested()
    assert inner.src.startswith("def inner(x):\n    return")
    lines = inspect.getsource(sys.modules[__name__]).splitlines()
    assert lines[inner.parse().lineno - 1].strip() == "def inner(x):"
    assert inner.parse().body[0].col_offset == 8


def test_parameters():
    a, b, c = decorated.params
    assert (a.name, b.default, c.kind) == ("a", 2, inspect.Parameter.KEYWORD_ONLY)
    assert [p.is_constexpr for p in (a, b, c)] == [False, True, False]
    assert not a.has_default and b.has_default


def test_globals_read_directly_and_through_callees():
    used = {name: value for (name, _), (value, _) in nested().used_global_vals.items()}
    assert used == {"local": 7, "SCALE": 4}


def test_lookup_prefers_enclosing_functions():
    inner = nested()
    assert inner.lookup("local") == 7
    assert inner.lookup("SCALE") == 4
    with pytest.raises(KeyError):
        inner.lookup("nowhere")


def module_of(text, tmp_path, name):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)  # bytecode knows the source by its size and second
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEMPLATE = """
from tritium.frontend.callee import SourceFunction, constexpr_function
N = {n}
UNUSED = {unused}

@constexpr_function
def host(x):
    return x + {host}

@SourceFunction
def helper(x):
    return x + N {helper}

@SourceFunction
def kernel(p):
    {body}
"""
DEFAULTS = {"n": 1, "unused": 1, "host": 1, "helper": "", "body": "helper(p) + host(2)"}


def key(tmp_path, **changes):
    return module_of(TEMPLATE.format(**{**DEFAULTS, **changes}), tmp_path, "keyed").kernel.cache_key


@pytest.mark.parametrize(
    "change, differs",
    [
        ({}, False),
        ({"unused": 2}, False),
        ({"n": 2}, True),
        ({"n": 1.0}, True),
        ({"host": 2}, True),
        ({"helper": "+ 1"}, True),
        ({"body": "helper(p) + host(3)"}, True),
    ],
)
def test_cache_key_changes_with_what_matters_only(tmp_path, change, differs):
    assert (key(tmp_path, **change) != key(tmp_path)) is differs


def test_cache_key_is_the_same_in_every_process(tmp_path):
    path = tmp_path / "stable.py"
    path.write_text(TEMPLATE.format(**{**DEFAULTS, "n": "('a', frozenset([1]), None)"}) + "\nprint(kernel.cache_key)\n")
    runs = {
        subprocess.run(
            [sys.executable, str(path)], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."}, capture_output=True, text=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(runs) == 1 and runs.pop().strip()


def test_mutual_recursion_has_a_key(tmp_path):
    module = module_of(
        """
        from tritium.frontend.callee import SourceFunction
        @SourceFunction
        def a(x):
            return b(x)
        @SourceFunction
        def b(x):
            return a(x)
        """,
        tmp_path,
        "mutual",
    )
    assert module.a.cache_key != module.b.cache_key


RECURSIVE = """
from tritium.frontend.callee import SourceFunction, constexpr_function
@constexpr_function
def even(n):
    return n == {base} or odd(n - 1)
@constexpr_function
def odd(n):
    return n != 0 and even(n - 1)
class Tree:
    @constexpr_function
    def depth(self, n):
        return 1 + Tree().depth(n - {step}) if n > 0 else 0
@SourceFunction
def kernel(x):
    return even(x) + Tree().depth(x)
"""


def test_recursive_constexpr_functions_have_keys(tmp_path):
    """Python that calls itself, or is called by what it calls: a change anywhere in the circle changes all of it."""

    def keys(base=0, step=1):
        module = module_of(RECURSIVE.format(base=base, step=step), tmp_path, "circle")
        return [f.cache_key for f in (module.kernel, module.even, module.odd, module.Tree.depth)]

    plain = keys()
    assert keys() == plain and len(set(plain)) == 4
    assert [new != old for new, old in zip(keys(base=2), plain)] == [True, True, True, False]
    assert [new != old for new, old in zip(keys(step=2), plain)] == [True, False, False, True]


def test_editing_the_file_does_not_change_loaded_functions(tmp_path):
    module = module_of(
        "from tritium.frontend.callee import SourceFunction\n@SourceFunction\ndef f(x):\n    return x\n", tmp_path, "m"
    )
    (tmp_path / "m.py").write_text("\n\ndef f(x):\n    return x + 1\n")
    assert module.f.src == "def f(x):\n    return x\n"
    again = module_of(
        "from tritium.frontend.callee import SourceFunction\n@SourceFunction\ndef f(x):\n    return 22\n", tmp_path, "m"
    )
    assert again.f.src == "def f(x):\n    return 22\n"


def test_function_without_a_source_file_is_refused():
    scope = {"SourceFunction": SourceFunction}
    exec("@SourceFunction\ndef f(x):\n    return x\n", scope)
    with pytest.raises(OSError, match="define kernels in a file"):
        scope["f"].parse()


def test_only_python_functions_are_accepted():
    with pytest.raises(TypeError, match="expected a Python function"):
        SourceFunction(len)


def test_constexpr_functions_run_in_python_and_bind_as_methods():
    @constexpr_function
    def double(x):
        return 2 * x

    class Box:
        @constexpr_function
        def size(self, n):
            return (self.__class__.__name__, n)

    assert double(4) == 8
    assert Box().size(3) == ("Box", 3)
    assert isinstance(Box.size, ConstexprFunction)
    assert double.cache_key != Box.size.cache_key


def test_library_functions_bind_as_methods_and_refuse_to_run_in_python():
    @language_function
    def twice(x):
        return x + x

    class Value:
        method = twice

        def _flatten_ir(self, out):
            pass

    class Holder:
        kernel = twice

    value = Value()
    assert Holder().kernel is twice
    bound = value.method
    assert isinstance(bound, BoundCallee) and bound.fn is twice and bound.instance is value
    assert Value.method is twice
    with pytest.raises(RuntimeError, match="inside a kernel"):
        twice(3)


def test_identity_unwraps_launch_wrappers():
    class Wrapper:
        def __init__(self, fn):
            self.fn = fn

    assert unwrap_callee(Wrapper(Wrapper(callee))) is callee
    assert unwrap_callee(3) == 3
    assert unwrap_callee(callee) is callee
