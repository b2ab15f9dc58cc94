"""`tritium.testing`: timing, comparing, tables."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tritium import testing
from tritium.runtime import benchmark


@pytest.mark.shows("testing.do_bench")
def test_do_bench() -> None:
    calls = []

    def work() -> None:
        calls.append(1)
        time.sleep(0.002)

    ms = testing.do_bench(work, warmup=4, rep=20)
    assert 2 <= ms < 50
    assert 8 <= len(calls) <= 30
    times = testing.do_bench(lambda: None, 0, 0.01, return_mode="all")
    assert isinstance(times, list) and len(times) >= 1
    low, high = testing.do_bench(lambda: None, 0, 1, quantiles=[0.0, 1.0])
    assert low <= high
    assert testing.do_bench(lambda: None, 0, 0, quantiles=[0.5]) >= 0
    with pytest.raises(ValueError, match="return_mode"):
        testing.do_bench(work, return_mode="fastest")


def test_quantiles_are_those_of_numpy() -> None:
    values = [5.0, 1.0, 4.0, 9.0]
    quantiles = [0, 0.1, 0.5, 0.77, 1]
    assert benchmark._quantile(values, quantiles) == pytest.approx(list(np.quantile(values, quantiles)))


def test_statistics_are_summarized_by_the_private_name_that_autotuners_import() -> None:
    summarize = testing._summarize_statistics
    assert summarize([3.0, 1.0, 2.0], [0.5], "mean") == 2.0
    assert summarize([3.0, 1.0], [0.0, 1.0], "mean") == [1.0, 3.0]
    assert [summarize([4.0, 1.0, 1.0], None, mode) for mode in ("min", "max", "mean", "median")] == [1, 4, 2, 1]
    assert summarize([4.0, 1.0], None, "all") == [4.0, 1.0]
    assert testing._quantile is benchmark._quantile


@pytest.mark.shows("testing.assert_close")
def test_assert_close() -> None:
    testing.assert_close(np.array([1.0, np.nan]), np.array([1.005, np.nan]))
    testing.assert_close(np.array([100.0]), 101.0, rtol=0.02, atol=0)
    with pytest.raises(AssertionError, match="the sum"):
        testing.assert_close(np.array([1.0]), np.array([1.1]), err_msg="the sum")


@pytest.mark.torch
def test_assert_close_accepts_tensors() -> None:
    import torch

    testing.assert_close(torch.ones(3, dtype=torch.bfloat16), np.ones(3))
    with pytest.raises(AssertionError):
        testing.assert_close(torch.ones(3, dtype=torch.bfloat16), torch.zeros(3))


@pytest.mark.shows("testing.perf_report", "testing.Benchmark", "testing.Mark")
def test_perf_report(tmp_path, capsys) -> None:
    bench = testing.Benchmark(
        x_names=["M", "N"],
        x_vals=[1, 2, (3, 4)],
        line_arg="provider",
        line_vals=["a", "b"],
        line_names=["A", "B"],
        plot_name="products",
        args={"scale": 10},
        ylabel="GB/s",
    )

    @testing.perf_report(bench)
    def measure(M, N, provider, scale):
        return (M * N * scale, 0, 0) if provider == "a" else 0.5

    measure.run(print_data=True, save_path=str(tmp_path))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "products:"
    assert lines[1].split() == ["M", "N", "A", "(GB/s)", "B", "(GB/s)"]
    assert lines[4].split() == ["3", "4", "120", "0.5"]
    assert (tmp_path / "products.csv").read_text().splitlines()[1] == "1,1,10,0.5"


@pytest.mark.shows("testing.get_dram_gbps", "testing.get_max_simd_tflops")
def test_peaks() -> None:
    assert 0.1 < testing.get_dram_gbps() < 10_000
    assert 0.001 < testing.get_max_simd_tflops() < 1000
