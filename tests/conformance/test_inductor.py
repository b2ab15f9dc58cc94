"""`torch.compile` on the CPU with this compiler as its Triton; every case: `python -m tests.conformance.inductor`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUICK = (
    "dynamic_shapes",
    "user_kernels",
    "user_kernels_write_into_what_is_used_later",
    "user_kernel_with_an_option_for_a_parameter",
    "user_operators",
    "what_kernels_write",
)
SLOW = (
    "elementwise_and_sums",
    "softmax_and_norms",
    "multilayer_perceptron",
    "training_step",
    "scans_sorts_and_indices",
    "integers_and_narrow_floats",
    "mathematics",
    "random_numbers",
    "compiled_by_workers",
)


@pytest.mark.parametrize("cases", [QUICK, pytest.param(SLOW, marks=pytest.mark.slow)], ids=["quick", "slow"])
def test_models_and_kernels_of_users(cases: tuple[str, ...], tmp_path: Path) -> None:
    if not hasattr(pytest.importorskip("torch._inductor.config"), "cpu_backend"):
        pytest.skip("this torch cannot write Triton for CPUs")
    environment = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
        "TRITIUM_CACHE_DIR": str(tmp_path / "kernels"),
    }
    command = [sys.executable, "-W", "ignore", "-m", "tests.conformance.inductor", *cases]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    rows = [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("END ")]
    assert [row["case"] for row in rows] == list(cases), done.stderr[-3000:]
    wrong = [f"{row['case']}: {row['error']}\n{row['where']}" for row in rows if not row["ok"]]
    assert not wrong, "\n".join(wrong)
