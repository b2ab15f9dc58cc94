"""The page of Triton's names: how many of each module are here, with which signature, and which are refused."""

from __future__ import annotations

import inspect
from collections import Counter

from tests.dropin.compare_names import NAMES, all_standing
from tritium.dropin.names import LEFT_OUT
from tritium.dropin.refused_names import REFUSED

from .markdown import NOTE, sections, table

#: parts of how Triton's own tests are run, and modules for other tools
_APART = ("triton._compile_warmup", "triton._filecheck", "triton._internal_testing", "triton._test_runner")
_COLUMNS = ("same", "wider", "other", "refused", "missing")


def names_page() -> dict[str, str]:
    """The page by its path below docs/."""
    counts = {m: _count(m, names) for m, names in all_standing().items() if not m.startswith(_APART)}
    total = sum(counts.values(), Counter())
    core = sum((found for m, found in counts.items() if not m.startswith("triton.profiler")), Counter())
    here = core["same"] + core["wider"] + core["other"]
    number = sum(core.values())
    rows = [_row(f"`{module}`", found) for module, found in counts.items()]
    refused = [(f"`{module}.{name}`", why) for module in counts for name, why in REFUSED.get(module, {}).items()]
    modules = [(f"`{module}`", why) for module, why in LEFT_OUT.items()]
    return {
        "triton-names.md": sections(
            NOTE,
            "# Triton's names",
            inspect.cleandoc(
                f"""
                The public names of Triton 3.9's modules, and what `import triton` has for each when Tritium answers
                for it: **{here} of {number}** without the profiler's, that is {100 * here / number:.1f} %. The names
                and their parameters are recorded from Triton's wheel (`tests/dropin/triton_3_9_names.json`). Parameters
                are compared by name, order and whether a call may leave them out; those that a compiler fills in
                (`_semantic`) do not count.

                - *same*: the same parameters, or a value;
                - *wider*: takes every call that Triton's takes, and others;
                - *other*: there, with parameters that differ;
                - *refused*: the error says what to use;
                - *missing*: nothing says why.
                """
            ),
            table(("module", *_COLUMNS), [*rows, _row("all", total)]),
            "## Refused names",
            table(("name", "why, and what to use"), refused),
            "## Refused modules",
            table(("module", "why, and what to use"), modules),
        )
    }


def _count(module: str, names: dict[str, str]) -> Counter[str]:
    """How many names stand how."""
    refused = NAMES[module] if module in LEFT_OUT else REFUSED.get(module, {})
    return Counter("refused" if how == "missing" and name in refused else how for name, how in names.items())


def _row(label: str, found: Counter[str]) -> tuple[str, ...]:
    return (label, *(str(found[column] or "") for column in _COLUMNS))
