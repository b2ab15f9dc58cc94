"""A sample of the random programs in Gluon."""

import pytest

from tests.fuzz.gluon_programs import check, check_triton
from tests.triton_oracle import ABSENT, find_interpreter


@pytest.mark.parametrize("seed", range(12))
def test_programs_agree_on_all_machines(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_programs_for_amd_gpus_agree_with_numpy(arch, seed):
    check(seed, arch=arch)


def test_the_emulator_executes_what_triton_compiles():
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    assert check_triton([0, 1, 3, 7], interpreter) == []
