"""`runtime.jit_parts`: the parts of a launch that programs with launchers of their own take by Triton's names."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.runtime.autotuner import Config
from tritium.runtime.driver import driver
from tritium.runtime.jit import (
    GLUON_MODULE,
    TRITON_MODULE,
    DependenciesFinder,
    JitFunctionInfo,
    KernelParam,
    TensorWrapper,
    compute_cache_key,
    create_function_from_signature,
    get_def_col_number,
    get_def_line_number,
    serialize_specialization_data,
)

FACTOR = tl.constexpr(3)


@tritium.jit
def inner(x):
    return x * FACTOR


@tritium.jit(do_not_specialize=["n"])
def kernel(x, n, B: tl.constexpr = 4, *, more: tl.int64 = 16):
    tl.store(x + tl.arange(0, B), inner(n) + more)


def test_a_binder_gives_values_specializations_and_options() -> None:
    x = np.zeros(4, np.float32)
    bind = create_function_from_signature(inspect.signature(kernel.fn), kernel.params, None)
    params, specialization, options = bind(x, 1, num_warps=8)
    assert list(params) == ["x", "n", "B", "more"] and params["B"] == 4 and options == {"num_warps": 8}
    assert specialization[1:] == [("i32", None), ("constexpr", 4), ("i64", "D")] and specialization[0][0] == "*fp32"
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        bind(x)
    with pytest.raises(ValueError, match="4 parameters, 1 of a kernel"):
        create_function_from_signature(inspect.signature(kernel.fn), kernel.params[:1], None)


def test_a_cache_key_has_the_hash_of_functions() -> None:
    memory: dict = {}
    key = compute_cache_key(memory, [("*fp32", "D"), ("constexpr", inner)], {"num_warps": 4})
    assert inner.cache_key in key and key.endswith("{'num_warps': 4}")
    assert memory and compute_cache_key(memory, [("*fp32", "D"), ("constexpr", inner)], {"num_warps": 4}) is key
    assert compute_cache_key({}, [("*fp32", ""), ("constexpr", inner)], {"num_warps": 4}) != key


def test_parameters_are_made_of_those_of_inspect() -> None:
    parameters = list(inspect.signature(kernel.fn).parameters.values())
    made = KernelParam(2, parameters[2], False, True)
    assert (made.name, made.num, made.is_constexpr, made.default, made.has_default) == ("B", 2, True, 4, True)
    assert made.do_not_specialize_on_alignment and not KernelParam(0, parameters[0], False, False).has_default
    assert all(isinstance(p, KernelParam) for p in kernel.params) and not isinstance(parameters[0], KernelParam)


def test_specialization_data_can_be_preloaded() -> None:
    target = driver.active.get_current_target()
    options = tritium.compiler.make_backend(target).parse_options({})
    signature = {"x": "*fp32", "n": "i32", "B": "constexpr", "more": "i64"}
    name = f"{kernel.module}.kernel"
    text = serialize_specialization_data(name, signature, {(2,): 4}, {(0,): []}, options, "key", target)
    assert json.loads(text)["constant_keys"] == [[2]]
    compiled = kernel.preload(text)
    out = np.zeros(4, np.float32)
    assert compiled is not None and kernel[(1,)](out, 2) is not None and out.tolist() == [22.0] * 4


@pytest.mark.parametrize("with_target", [True, False])
def test_call_hook_calls_hooks_as_launches_do(with_target: bool) -> None:
    """Triton up to 3.8 calls it without the target."""
    target = driver.active.get_current_target()
    options = tritium.compiler.make_backend(target).parse_options({"num_warps": 2})
    given = ({"x": "*fp32", "n": "i32", "B": "constexpr", "more": "i64"}, *([target] if with_target else []), 0)
    calls = []

    def hook(**arguments):
        calls.append(arguments)
        return "cancelled"

    rest = ({(2,): 4}, options, [{(0,): [["tt.divisibility", 16]]}], False)
    assert kernel._call_hook(None, "key", *given, *rest) is None
    assert kernel._call_hook(hook, "key", *given, *rest) == "cancelled"
    (seen,) = calls
    assert seen["key"] == "key" and seen["fn"].name == "kernel" and not seen["already_compiled"]
    assert seen["compile"]["num_warps"] == 2 and seen["compile"]["constants"] == {(2,): 4}
    assert json.loads(seen["compile"]["specialization_data"])["target"]["backend"] == target.backend


def test_dependencies_are_hashed_and_listed() -> None:
    def find(fn, namespace):
        finder = DependenciesFinder(fn.fn_name, namespace, {}, fn.src)
        finder.visit(fn.parse())
        return finder

    found = find(inner, globals())
    assert {name for name, _ in found.used_global_vals} == {"FACTOR"}
    assert found.ret == find(inner, globals()).ret != find(inner, {**globals(), "FACTOR": tl.constexpr(4)}).ret
    assert {name for name, _ in find(kernel, globals()).used_global_vals} == {"FACTOR"}
    with pytest.raises(RuntimeError, match="Unsupported function referenced"):
        find(inner, {"FACTOR": find})


def test_dependencies_are_found_without_nonlocals() -> None:
    wanted = DependenciesFinder("inner", globals(), {}, inner.src)
    for finder in (
        DependenciesFinder("inner", globals(), inner.src),
        DependenciesFinder(name="inner", globals=globals(), src=inner.src),
    ):
        assert finder.nonlocals == {} and finder.ret == wanted.ret
    with pytest.raises(TypeError, match="source text"):
        DependenciesFinder("inner", globals(), {})


def test_configurations_list_the_members_of_triton_s() -> None:
    """Autotuners of other projects take what `dir` lists for options."""
    options = ["ir_override", "maxnreg", "num_ctas", "num_stages", "num_warps"]
    members = [name for name in dir(tritium.Config({})) if not name.startswith("__")]
    assert members == sorted([*options, "all_kwargs", "kwargs", "pre_hook"])


def test_lines_and_columns_of_definitions() -> None:
    lines, start = inspect.getsourcelines(kernel.fn)
    assert get_def_line_number(lines, start) == start + 1 == kernel.fn.__code__.co_firstlineno + 1
    assert get_def_col_number("".join(lines)) == 1 and get_def_col_number("\tdef f(x): pass") == 2
    with pytest.raises(ValueError, match="No function definition"):
        get_def_col_number("lambda x: x")


def test_names_of_modules_and_of_kernels() -> None:
    assert (TRITON_MODULE, GLUON_MODULE) == ("triton.language", "triton.experimental.gluon.language")
    assert JitFunctionInfo("m", "n", kernel).jit_function is kernel
    assert kernel.repr(None) == "kernel"
    named = tritium.jit(kernel.fn, repr=lambda s: f"special_{s}")
    assert named.repr(1) == "special_1"
    with pytest.raises(NotImplementedError, match="does not define run"):
        tritium.runtime.jit.KernelInterface().run(grid=(1,))


@pytest.mark.torch
def test_wrapped_tensors_keep_their_type_when_copied() -> None:
    torch = pytest.importorskip("torch")
    wrapped = tritium.reinterpret(torch.arange(6, dtype=torch.int8).reshape(2, 3), tl.float8e5)
    assert isinstance(wrapped, TensorWrapper)
    for made in (wrapped.clone(), wrapped.cpu(), wrapped.to("cpu"), wrapped.new_empty((2, 3))):
        assert isinstance(made, TensorWrapper) and made.dtype == tl.float8e5 and made.base.shape == (2, 3)
    made.copy_(wrapped)
    assert torch.equal(made.base, wrapped.base) and made.data_ptr() != wrapped.data_ptr()
    assert (wrapped.stride(), wrapped.stride(0), wrapped.element_size()) == ((3, 1), 3, 1)


def test_disk_cache_of_the_autotuner_is_read_by_key(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    configs = [Config({"B": 4}), Config({"B": 8})]

    def tuner():
        made = tritium.autotune(configs=configs, key=["n"], do_bench=lambda call, quantiles: (call(), 1.0)[1])(kernel)
        return made, lambda: made.configs_timings.update(zip(configs, ([2.0] * 3, [1.0] * 3)))

    first, bench = tuner()
    assert callable(first.do_bench)
    assert first.check_disk_cache((7, "fp32"), configs, bench) is False
    again, _ = tuner()
    assert again.check_disk_cache((7, "fp32"), configs, lambda: pytest.fail("measured again")) is True
    assert again.cache[7, "fp32"] is configs[1]


@pytest.mark.parametrize(
    "environment, requested, warns, enabled",
    [
        ({}, None, True, True),
        ({}, True, False, True),
        ({}, False, False, False),
        ({"TRITON_DEFAULT_FP_FUSION": "1"}, None, False, True),
        ({"TRITON_DEFAULT_FP_FUSION": "0"}, None, False, False),
        ({"TRITON_DEFAULT_FP_FUSION": "0"}, True, False, True),
        ({"TRITON_FORCE_DISABLE_FP_FUSION": "1"}, None, False, False),
        ({"TRITON_FORCE_DISABLE_FP_FUSION": "1"}, True, False, False),
    ],
)
@pytest.mark.parametrize("target", [("cuda", 90, 32), ("hip", "gfx942", 64)], ids=["cuda", "hip"])
def test_fusion_of_multiply_and_add_is_chosen_as_in_3_9(
    monkeypatch, recwarn, target, environment, requested, warns, enabled
) -> None:
    monkeypatch.delenv("TRITON_DEFAULT_FP_FUSION")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    tritium._utils.warn_once.cache_clear()
    backend = tritium.compiler.make_backend(tritium.backends.compiler.GPUTarget(*target))
    given = {} if requested is None else {"enable_fp_fusion": requested}
    assert [backend.parse_options(given).enable_fp_fusion for _ in range(2)] == [enabled] * 2
    assert [str(w.message).startswith("TRITON_DEFAULT_FP_FUSION is unset") for w in recwarn] == [True] * warns


def test_deprecated_options_of_shapes_warn_once(recwarn) -> None:
    tritium._utils.warn_once.cache_clear()

    @tritium.jit
    def reorders(x):
        v = tl.cat(tl.load(x + tl.arange(0, 4)), tl.load(x + tl.arange(0, 4)), can_reorder=True)
        tl.store(x + tl.arange(0, 8), tl.reshape(v, (8,), can_reorder=True))

    reorders[(1,)](np.zeros(8, np.float32))
    assert sorted(str(w.message).partition("(")[0] for w in recwarn) == ["tl.cat", "tl.reshape"]
    tritium._utils.warn_once.cache_clear()
    tritium._utils.prewarm_deprecation_warnings()
    tritium._utils.warn_once(tritium._utils.CAT_CAN_REORDER_WARNING)
    assert len(recwarn) == 2


def test_paths_into_nested_tuples_can_be_set() -> None:
    values = [1, tl.tuple([tl.constexpr(2), tl.constexpr(3)])]
    tritium._utils.set_iterable_path(values, (1, 0), tl.constexpr(7))
    assert values[1][0].value == 7
    with pytest.raises(TypeError, match="cannot be changed"):
        tritium._utils.set_iterable_path([(1, 2)], (0, 0), 3)


def test_what_kernels_say_of_themselves() -> None:
    assert kernel.type == tl.core.constexpr_type(kernel) and kernel.type != inner.type
    assert [p.annotation_type for p in kernel.params] == ["", "", "", "i64"]
    parameter = inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="*fp32")
    assert KernelParam(0, parameter, False, False).annotation_type == "*fp32"
    assert tl.bfloat16.codegen_name() == "bfloat16" and tl.float8e5.cache_key_part == "fp8e5"
    assert tl.core.tuple_type([tl.int32, tl.int8], ["a", "b"]).name == "[a:int32, b:int8]"


def test_gluon_is_refused_on_amd_gpus_without_code_generation() -> None:
    from tritium.backends.errors import BackendError

    backend = tritium.compiler.make_backend(tritium.backends.compiler.GPUTarget("hip", "gfx950", 64))
    with pytest.raises(BackendError, match="compiled for gfx942 and gfx1100 of AMD's GPUs, not for gfx950"):
        backend.add_stages({}, backend.parse_options({}), tritium.backends.compiler.Language.GLUON)
