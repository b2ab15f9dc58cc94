"""Random scalar programs on the CPU: the kernel stores what the same text run as Python stores.

TRITIUM_PROGRAMS=1000 tries that many, from seed TRITIUM_TEST_SEED on.
"""

import importlib.util
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "frontend"))

from native import run_python  # noqa: E402
from programs import Generator  # noqa: E402

COUNT = int(os.environ.get("TRITIUM_PROGRAMS") or 0)
START = int(os.environ["TRITIUM_TEST_SEED"]) if COUNT else 1000


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", range(START, START + (COUNT or 8)))
def test_program(seed, tmp_path):
    text = Generator(seed).module()
    text = text.replace(
        "from tritium.frontend.callee import SourceFunction", "from tritium import jit as SourceFunction"
    )
    path = tmp_path / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"program_{seed}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    choose = random.Random(seed)
    for _ in range(3):
        a, b = choose.randint(0, 255), choose.randint(0, 9)
        out = np.zeros(5, np.int32)
        program.kernel[(1,)](out, a, b)
        assert out.tolist() == run_python(program.kernel, 5, a, b), f"a={a} b={b}\n{text}"
