"""Programs that import Gluon load; what is not supported is refused by name where a kernel uses it."""

import importlib

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.frontend.errors import CompilationError, LanguageError

ROOT = "tritium.experimental.gluon.language"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("nvidia.blackwell", "TensorMemoryLayout allocate_tensor_memory tcgen05_mma tcgen05_commit tma mbarrier clc"),
        ("nvidia.blackwell.tma", "async_gather async_scatter async_load make_tensor_descriptor"),
        ("nvidia.rubin", "fma4 mbarrier tma"),
        ("nvidia.hopper.tma", "async_load_im2col tensor_descriptor_im2col"),
        ("amd", "AMDMFMALayout AMDWMMALayout cdna3 cdna4 cdna5 rdna3 rdna4 gfx1250"),
        ("amd.cdna3", "mfma buffer_load buffer_store"),
        ("amd.cdna4.async_copy", "buffer_load_to_shared global_load_to_shared wait_group"),
        ("amd.cdna5", "PartitionedSharedLayout async_copy cluster mbarrier tdm wmma"),
        ("extra", "libdevice"),
        ("fpsan", "embed unembed"),
        ("nvidia.ampere", "CachePolicy FractionalEvictionPolicy"),
    ],
)
def test_names_that_packages_import_are_there(module, names):
    found = importlib.import_module(f"{ROOT}.{module}")
    assert [name for name in names.split() if not hasattr(found, name)] == []


@gluon.jit
def uses_tensor_memory(x):
    from_blackwell.allocate_tensor_memory(x)


from_blackwell = importlib.import_module(f"{ROOT}.nvidia.blackwell")


@pytest.mark.usefixtures("hopper")
def test_instructions_of_blackwell_are_refused_at_their_line():
    with pytest.raises(CompilationError, match=r"test_imports.py:\d+:5: .*allocate_tensor_memory needs tensor memory"):
        uses_tensor_memory[(1,)](np.zeros(4, np.float32))


def test_values_of_tensor_memory_are_refused_when_they_are_made():
    with pytest.raises(LanguageError, match="tensor_memory_descriptor needs tensor memory"):
        from_blackwell.tensor_memory_descriptor()


def test_layouts_of_tensor_memory_are_checked_values():
    layout = from_blackwell.TensorMemoryLayout((128, 64), col_stride=1)
    assert layout == from_blackwell.TensorMemoryLayout([128, 64], 1)
    assert str(layout.attribute()) == "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>"
    with pytest.raises(LanguageError, match="col_stride is 3, not a power of two"):
        from_blackwell.TensorMemoryLayout((128, 64), 3)
