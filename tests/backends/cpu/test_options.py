import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.cpu import CPUOptions
from tritium.backends.errors import OutOfResources
from tritium.backends.nvidia.options import CUDAOptions
from tritium.backends.nvidia.target import CUDATarget
from tritium.compiler import GPUTarget
from tritium.support import OptionError


@tritium.jit
def nothing():
    pass


def test_defaults_are_tritons():
    options = CPUOptions.parse({})
    assert (options.num_warps, options.num_stages, options.num_ctas) == (4, 3, 1)
    assert options.num_threads == 0 and options.enable_fp_fusion and options.maxnreg is None


def test_parse_and_equality():
    one = CPUOptions.parse({"num_warps": 8, "extern_libs": {"libdevice": "1"}, "cluster_dims": [1, 1, 1]})
    two = CPUOptions.parse({"extern_libs": [("libdevice", "1")], "num_warps": 8, "maxnreg": None})
    assert one == two and hash(one) == hash(two) and one.key == two.key
    assert one.key != CPUOptions().key
    assert CPUOptions(num_threads=2).key == CPUOptions().key  # the code is the same


def test_unknown_option_is_named():
    """Where a user states it; `parse` itself takes the names it knows, as Triton's does."""
    assert CPUOptions.parse({"num_wraps": 4}) == CPUOptions()
    source = tritium.ASTSource(nothing, {}, {})
    with pytest.raises(KeyError, match="num_wraps"):
        tritium.compile(source, target=GPUTarget("cpu", "", 1), options={"num_wraps": 4})


@pytest.mark.parametrize(
    "bad",
    [
        {"num_warps": 3},
        {"num_warps": 0},
        {"num_warps": "four"},
        {"num_ctas": 32},
        {"maxnreg": 0},
        {"num_threads": -1},
        {"num_threads": 1.5},
        {"opt_level": 9},
        {"num_stages": -1},
        {"sanitize": "yes"},
        {"backend_name": 3},
        {"vec_lib": "svml"},
    ],
)
def test_bad_values(bad):
    with pytest.raises(OptionError, match=next(iter(bad))):
        CPUOptions.parse(bad)


@pytest.mark.parametrize(
    "values",
    [{"num_warps": 64}, {"num_ctas": 32}, {"maxnreg": 0}],
    ids=lambda values: next(iter(values)),
)
def test_what_no_gpu_takes_is_refused_in_the_same_words(values):
    said = []
    for parse in (CPUOptions.parse, lambda values: CUDAOptions.parse(values, CUDATarget(90))):
        with pytest.raises((OptionError, OutOfResources)) as caught:
            parse(values)
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


# scripts ask whether the target is "cuda", and have AMD's options where it is not
_AMD = {"waves_per_eu": 2, "matrix_instr_nonkdim": 16, "kpack": 2, "schedule_hint": "none", "allow_flush_denorm": True}


@pytest.mark.parametrize("values", [{"num_warps": 32}, {"num_ctas": 16}, {"maxnreg": 256}, {"maxnreg": None}, _AMD])
def test_what_some_gpu_takes_is_taken(values):
    CPUOptions.parse(values)


def test_a_configuration_that_no_gpu_takes_is_not_chosen():
    @tritium.autotune([tritium.Config({}, num_warps=64), tritium.Config({}, num_warps=4)], key=["n"])
    @tritium.jit
    def fill(out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, 3, mask=at < n)

    out = np.zeros(100, np.int32)
    fill[(1,)](out, 100, BLOCK=128)
    assert (out == 3).all() and fill.best_config.num_warps == 4


@pytest.mark.parametrize("library", ["libsleef", "libmvec", None])
def test_the_option_of_triton_cpu_is_taken(library):
    assert CPUOptions.parse({"vec_lib": library}).vec_lib == library
