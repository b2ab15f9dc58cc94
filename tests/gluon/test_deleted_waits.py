"""A wait or fence that a kernel forgets is reported with the line of the access that came too early."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.conformance.deleted_waits import kind_of, outcome_of, sites_of, without

KERNELS = Path(__file__).parent / "kernels_that_wait.py"
EXPECTED = {
    "run_copy_ahead": {
        "copy_ahead commit_group 0": "reported y + i * N + at, buffers.index(i % 2).load(layout)",
        "copy_ahead commit_group 1": "reported y + i * N + at, buffers.index(i % 2).load(layout)",
        "copy_ahead wait_group 0": "reported y + i * N + at, buffers.index(i % 2).load(layout)",
    },
    "run_matmul": {
        "matmul mbarrier.wait 0": "reported acc = warpgroup_mma(",
        "matmul warpgroup_mma_wait 0": "reported tma.async_load(a,",
        "matmul warpgroup_mma_wait 1": "refused result.to(gl.float16)",
        "matmul fence_async_shared 0": "inserted",
        "matmul store_wait 0": "reported tma.async_store(c",
    },
    "run_specialized": {
        "produce mbarrier.wait 0": "reported tma.async_load(x,",
        "consume mbarrier.wait 0": "reported tma.async_load(x,",
        "consume store_wait 0": "reported out.store(values * 2)",
        "consume fence_async_shared 0": "inserted",
        "consume store_wait 1": "reported tma.async_store(y",
    },
}
"""For each call that is deleted what that leads to, and the line that the error names."""
UNUSED = {"copy_ahead wait_group 1"}  # the last group is empty


def run(path: Path, name: str) -> None:
    """Call a function of a file."""
    spec = importlib.util.spec_from_file_location("kernels_without", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    getattr(module, name)()


@pytest.mark.parametrize("name", EXPECTED)
def test_each_wait_and_fence_that_is_deleted_is_reported(name: str, tmp_path: Path) -> None:
    source = KERNELS.read_text()
    path = tmp_path / "kernels.py"
    path.write_text(source)
    before = outcome_of(lambda: run(path, name))
    assert before.error is None
    found = {}
    for site in sites_of(source):
        if (path.name, site.line) not in before.lines:
            continue
        path.write_text(without(source, site))
        after = outcome_of(lambda: run(path, name))
        key = f"{site.function} {site.name} {site.ordinal}"
        found[key] = f"{kind_of(before, after)} {after.error or ''}"
    assert found.keys() - UNUSED == EXPECTED[name].keys()
    for key, expected in EXPECTED[name].items():
        kind, _, line = expected.partition(" ")
        assert found[key].startswith(kind), f"{key}: {found[key]}"
        assert line in found[key], f"{key}: {found[key]}"
