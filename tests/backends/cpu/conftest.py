import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def texts():
    """The LLVM modules of `benchmarks/llvm_texts.py`."""
    path = Path(__file__).parents[3] / "benchmarks" / "llvm_texts.py"
    spec = importlib.util.spec_from_file_location("llvm_texts", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def records(tmp_path, monkeypatch):
    """An empty folder for stored records."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    return tmp_path / "native"
