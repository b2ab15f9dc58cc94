import pytest

from tritium.backends.cpu import CPUOptions
from tritium.support import OptionError


def test_defaults_are_tritons():
    options = CPUOptions.parse({})
    assert (options.num_warps, options.num_stages, options.num_ctas) == (4, 3, 1)
    assert options.num_threads == 0 and options.enable_fp_fusion and options.maxnreg is None


def test_parse_and_equality():
    one = CPUOptions.parse({"num_warps": 8, "extern_libs": {"b": "2", "a": "1"}, "cluster_dims": [1, 1, 1]})
    two = CPUOptions.parse({"extern_libs": {"a": "1", "b": "2"}, "num_warps": 8})
    assert one == two and hash(one) == hash(two) and one.key == two.key
    assert one.key != CPUOptions().key
    assert CPUOptions(num_threads=2).key == CPUOptions().key  # the code is the same


def test_unknown_option_is_named():
    with pytest.raises(KeyError, match="num_wraps"):
        CPUOptions.parse({"num_wraps": 4})


@pytest.mark.parametrize(
    "bad",
    [
        {"num_warps": 3},
        {"num_warps": 0},
        {"num_warps": "four"},
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


@pytest.mark.parametrize("library", ["libsleef", "libmvec", None])
def test_the_option_of_triton_cpu_is_taken(library):
    assert CPUOptions.parse({"vec_lib": library}).vec_lib == library
