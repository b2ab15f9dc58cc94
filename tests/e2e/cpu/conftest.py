"""Kernels that these tests compile for the CPU are compiled to a CUBIN, too, and must get through all stages and past
ptxas: by their hash one in four, for sm_80 or sm_90; all of them for both with `--slow` or `--all`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests import sampling
from tests.backends.nvidia.texts import missing
from tritium import CompilationError
from tritium.backends.errors import PerformanceWarning
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import settings

CAPABILITIES = (80, 90)
OPTIONS = ("num_warps", "num_stages", "debug")

_done: set[str] = set()


def refusal(source: ASTSource, options: dict[str, Any], capability: int) -> str | None:
    """Why a kernel does not become machine code; None where it does, or the language forbids it on GPUs."""
    try:
        kernel = compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    except CompilationError:  # products of blocks smaller than an instruction
        return None
    except Exception as error:
        return f"{source.name} for sm_{capability}: {type(error).__name__}: {error}"
    return None if kernel.kernel[:4] == b"\x7fELF" else f"{source.name} for sm_{capability}: no machine code"


def capabilities_of(key: str) -> tuple[int, ...]:
    """What a kernel is compiled for in a sample; another one for each seed."""
    number = crc32(f"{sampling.chosen_seed()} {key}".encode())
    return CAPABILITIES[number % 2 :][:1] if number // 2 % 4 == 0 else ()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a quarter of the cases of tests without another share."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.sample(4))


@pytest.fixture(autouse=True)
def kernels_for_gpus(request: pytest.FixtureRequest) -> Iterator[None]:
    """Note what the test compiles, and compile it for a GPU behind the test."""
    if missing("ptxas"):
        yield
        return
    everything = request.config.getoption("--slow") or sampling.runs_everything(request.config)
    seen: dict[str, tuple[ASTSource, dict[str, Any]]] = {}
    theirs = settings.compilation.listener

    def note(src: Any = None, metadata: Any = None, **others: Any) -> None:
        if type(src) is ASTSource and metadata["target"].backend == "cpu":
            seen.setdefault(src.hash(), (src, {name: metadata[name] for name in OPTIONS}))
        if theirs is not None:
            theirs(src=src, metadata=metadata, **others)

    settings.compilation.listener = note
    yield
    settings.compilation.listener = theirs
    wrong = []
    with settings.cache.scope(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        settings.cache.disable = True
        for key, (source, options) in seen.items():
            if key not in _done:
                _done.add(key)
                chosen = CAPABILITIES if everything else capabilities_of(key)
                wrong += [text for c in chosen if (text := refusal(source, options, c))]
    assert not wrong, "\n".join(wrong)
