"""The page "what works": every name of the language, and the test that shows it on each target."""

from __future__ import annotations

import inspect

from scripts.works.evidence import Evidence, read
from scripts.works.gaps import KINDS
from scripts.works.names import HOST, NOTES, REASONS, Topic, topics

from .markdown import NOTE, sections, table

_HEADS = {"cpu": "CPU", "interpreter": "interpreter", "nvidia": "NVIDIA", "amd": "AMD", HOST: "shown by"}
_HOW = {"hardware": " (GPU)", "emulated": "", "compiled": " (compiled)", "gfx1100": " (gfx1100)"}


def works_page() -> dict[str, str]:
    """The page by its path below docs/."""
    evidence = read()
    return {"supported-features.md": sections(NOTE, _introduction(evidence), *(_topic(t, evidence) for t in topics()))}


def _introduction(evidence: Evidence) -> str:
    asked = [(name, target) for topic in topics() for name in topic.names for target in topic.targets]
    refused = sum(pair in REASONS for pair in asked)
    return inspect.cleandoc(
        f"""
        # Supported features

        Every name of `triton` and `triton.language`, with a test that shows it on each target: {len(asked)} entries, of
        which {refused} say why there is none. A test counts for a name if a kernel in it uses the name, is compiled (or
        interpreted) to its end, and the test passes with all that it compares: these are recorded while the tests run
        (`python -m scripts.works`), not written by hand. A test under `tests/e2e/cpu` runs as it stands in the
        interpreter (`tests/interpreter`) and on GPUs (`tests/gpu`).

        For NVIDIA, "GPU" says that the test was recorded on a GPU; without a word the GPU was the
        [emulated](emulator.md) one, which executes the same PTX; "compiled" says that the kernel became machine code
        (a CUBIN), but was not run. For AMD, the test ran on the [emulated](amd-gpus.md) gfx942, or where it says so on
        the emulated gfx1100; nothing has run on AMD hardware.

        Names are given as tests: `expressions::test_casts` is `test_casts` in `test_expressions.py`.
        """
    )


def _topic(topic: Topic, evidence: Evidence) -> str:
    head = ("name", *(_HEADS[target] for target in topic.targets))
    rows = [(_spoken(name), *(_cell(name, target, evidence) for target in topic.targets)) for name in topic.names]
    return sections(f"## {topic.title}", NOTES.get(topic.title, ""), table(head, rows)).rstrip()


def _spoken(name: str) -> str:
    return f"`{name.removeprefix('ast.').removeprefix('builtins.')}`"


def _cell(name: str, target: str, evidence: Evidence) -> str:
    if (name, target) in REASONS:
        return f"no: {REASONS[name, target]}"
    shown = evidence.get(name, {})
    for kind in KINDS[target]:
        if kind in shown:
            return _test(shown[kind]) + _HOW.get(kind, "")
    return "no test"


def _test(test: str) -> str:
    file, _, function = test.partition("::")
    name = file.rpartition("/")[2].removeprefix("test_").removesuffix(".py")
    return f"[{name}::{function.removeprefix('test_')}](../{file})"
