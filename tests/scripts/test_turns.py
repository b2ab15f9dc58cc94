"""`benchmarks/turns.py`, `public_kernels.py` and their worker: what needs no GPU."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch):
    """Import a script of benchmarks/ as its own directory does."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("turns", "public_kernels", "public_worker", "tuned_tutorials")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield load
    for name in names:
        sys.modules.pop(name, None)


def test_ratios_are_per_alternation_and_sorted(benchmark):
    figure = benchmark("turns").Figure("kernel", [10.0, 20.0, 10.0], [12.0, 18.0, 10.0])
    assert figure.ratios == [0.9, 1.0, 1.2]
    assert figure.ratio == 1.0


def test_kernel_counts_as_slower_only_if_no_alternation_reaches_the_bound(benchmark):
    turns, public = benchmark("turns"), benchmark("public_kernels")
    results = [
        turns.Measured("a.one", [turns.Figure("always", [10.0] * 3, [9.0] * 3)]),
        turns.Measured("b.two", [turns.Figure("once", [10.0] * 3, [9.0, 9.0, 9.8])], difference="output 0: 3 differ"),
        turns.Measured("b.three", error="triton: refused"),
    ]
    text = public.table(results)
    assert "| a.one `always` | 10.0 | 9.0 | 0.900 **slower** | 0.900 to 0.900 | agree |" in text
    assert "| b.two `once` | 10.0 | 9.0 | 0.900 | 0.900 to 0.980 | output 0: 3 differ |" in text
    assert "2 kernels of 2 repositories: geometric mean 0.900, 0 above 1.05, 1 slower" in text
    assert "not measured: b.three: triton: refused" in text


def test_every_driver_has_workloads_and_a_checkout(benchmark):
    public = benchmark("public_kernels")
    drivers = {path.stem for path in public.DRIVERS.glob("*.py")} - {"workloads", "checkouts"}
    assert drivers == set(public.modules())
    for name in drivers:
        assert benchmark("turns").names_in(public.DRIVERS / f"{name}.py"), name


def test_workloads_come_from_each_repository_in_turn(benchmark, tmp_path):
    for folder in ("attorch", "mamba", "tutorials"):
        (tmp_path / folder).mkdir()
    names = benchmark("public_kernels").chosen_workloads(tmp_path, "")
    assert [name.partition(".")[0] for name in names[:4]] == ["attorch", "mamba", "tutorials", "attorch"]
    assert not any(name.startswith("tuned_tutorials") for name in names)
    assert benchmark("public_kernels").chosen_workloads(tmp_path, "attorch.conv2d_f") == ["attorch.conv2d_float32"]


def test_tasks_of_an_imported_module_are_taken_first(benchmark):
    tasks = benchmark("turns")._Tasks([("a.x", 0, 1), ("b.y", 0, 1), ("a.z", 0, 1)])
    assert [tasks.take(module) for module in ("", "a", "a", "a")] == [
        ("a.x", 0, 1),
        ("a.z", 0, 1),
        ("b.y", 0, 1),
        None,
    ]


def test_outputs_agree_within_their_types_tolerance(benchmark):
    torch = pytest.importorskip("torch")
    difference = benchmark("public_worker").difference
    x = torch.linspace(-1, 1, 100)
    assert difference([x, x.half()], [x + 1e-3, x.half()]) == ""
    assert difference([x], [x + 1e-2]).startswith("output 0: 100 of 100 differ, by up to 0.01")
    poisoned = x.clone()
    poisoned[3] = float("nan")
    assert difference([poisoned], [x]).startswith("output 0: 1 of 100 differ, by up to inf")
    assert difference([poisoned], [poisoned]) == ""
    assert difference([x], []) == "1 outputs and 0"


def test_kernels_of_a_run_are_summed_and_runs_separated_by_a_marker(benchmark):
    pytest.importorskip("torch")
    worker = benchmark("public_worker")
    worker.KERNELS |= {"ours", "other"}
    mark, fill = "void at::native::lgamma_kernel(...)", "void fill(int)"
    events = [
        (0, "ours", 50.0),
        (1, fill, 3.0),
        (2, mark, 1.0),
        (3, "ours", 5.0),
        (5, "ours", 6.0),
        (4, "other_8", 1.0),
    ]
    runs = worker.runs_of([*events, (6, mark, 1.0), (7, "ours", 9.0), (8, "gemm", 4.0)])
    assert runs == [{"ours": 11.0, "other_8": 1.0}, {"ours": 9.0}]
    assert worker.medians_of(runs) == {"ours": 10.0, "other_8": 0.5}


def test_large_outputs_are_sampled(benchmark):
    torch = pytest.importorskip("torch")
    sampled = benchmark("public_worker").sampled
    x = torch.arange(1000).reshape(10, 100)
    assert sampled(x) is x
    assert sampled(x, 300).tolist() == list(range(0, 1000, 5))


def test_autotuners_try_a_limited_number_of_configurations(benchmark, monkeypatch):
    pytest.importorskip("torch")
    worker = benchmark("public_worker")

    class Tuner:
        def __init__(self) -> None:
            self.configs = list(range(10))

        def prune_configs(self, kwargs: dict) -> list[int]:
            return self.configs

    monkeypatch.setattr(worker.importlib, "import_module", lambda _: SimpleNamespace(Autotuner=Tuner))
    worker.limit_tuning(quick := object())
    tuner = Tuner()
    assert tuner._do_bench is quick
    worker.Tuning.most = 3
    assert tuner.prune_configs({}) == [0, 4, 8]
    worker.Tuning.part, worker.Tuning.parts = 1, 3
    assert tuner.prune_configs({}) == [4]
    worker.Tuning.part, worker.Tuning.parts = 5, 6
    assert tuner.prune_configs({}) == [0], "never none"
