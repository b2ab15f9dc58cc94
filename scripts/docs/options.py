"""The page of options: every option, annotation and keyword with its class and its effect on each target."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tritium.backends.amd import HIPOptions
from tritium.backends.cpu import CPUOptions
from tritium.backends.instrumentation import MODES
from tritium.backends.nvidia.options import CUDAOptions
from tritium.frontend.language.parameters import ANNOTATIONS, EVERYWHERE, PARAMETERS, Parameter
from tritium.runtime import parameters as launch_parameters
from tritium.support.dataclasses import fields
from tritium.support.option_classes import KINDS, declared

from .markdown import NOTE, escape, sections, table

_TARGETS = {"cpu": ("CPU", CPUOptions), "cuda": ("NVIDIA", CUDAOptions), "hip": ("AMD", HIPOptions)}
_CONTRACTS = {
    "semantic": "takes effect, or is an error",
    "instrumentation": "takes effect, or is refused by name",
    "hint": "may have no effect on a target, as the tables say; there is no warning",
}


def options_page() -> dict[str, str]:
    """The page by its path below docs/."""
    return {
        "options.md": sections(
            NOTE,
            "# Options, annotations and their classes",
            _introduction(),
            table(("class", "what you may rely on"), [(kind, _CONTRACTS[kind]) for kind in KINDS]),
            _errors(),
            "## Options of a compile",
            _options_introduction(),
            *(_options_table(kind) for kind in KINDS),
            "## Sanitizer modes",
            _modes(),
            "## `jit`, `autotune`, launches",
            *(_launch_table(name, rows) for name, rows in launch_parameters.PARAMETERS.items()),
            "## Parameters of the language",
            "A parameter means the same in every function that has it. Operands (pointers, values) are not listed.",
            _language_table("parameter", PARAMETERS),
            "## Annotations",
            _language_table("function", ANNOTATIONS, "tl."),
        )
    }


def _introduction() -> str:
    return inspect.cleandoc(
        """
        Whatever is given to a kernel beside its arguments belongs to one of three classes. No option is accepted and
        ignored without one of the tables below saying so.
        """
    )


def _errors() -> str:
    return inspect.cleandoc(
        """
        An option that does not exist, or that is misspelt, is an error that names the nearest one; a value of the wrong
        type is an error, too. The classes of settings (`tritium.knobs`) are on [their page](settings.md).
        """
    )


def _options_introduction() -> str:
    return inspect.cleandoc(
        """
        Keywords of a launch that are no parameters of the kernel, the `options` of `compile`, and `--option` of
        `tritium compile`. "none" says that the target ignores the option, and why; an empty cell that it does not have
        it: giving it is an error. For AMD GPUs other than gfx942 and gfx1100 stages end at `ttir`;
        options of later stages are checked and kept.
        """
    )


def _options_table(kind: str) -> str:
    declarations: dict[str, dict[str, Any]] = {}
    for target, (_, cls) in _TARGETS.items():
        for f in fields(cls):
            found = declared(f)
            if found is not None and found.kind == kind:
                declarations.setdefault(f.name, {})[target] = found
    rows = [(f"`{name}`", *(_effect(found.get(t)) for t in _TARGETS)) for name, found in sorted(declarations.items())]
    return sections(f"### {kind}", table((kind, *(head for head, _ in _TARGETS.values())), rows)).rstrip()


def _effect(declaration: Any) -> str:
    if declaration is None:
        return ""
    return f"none: {escape(declaration.effect)}" if declaration.ignored else escape(declaration.effect)


def _modes() -> str:
    rows = [(f"`{mode}`", *_mode(mode), escape(instead)) for mode, instead in MODES.items()]
    return sections(
        inspect.cleandoc(
            """
            `instrumentation_mode` (or `TRITON_INSTRUMENTATION_MODE`) takes the modes of Triton, with commas between.
            The emulator checks every launch for what consan reports and for accesses outside of arrays. On a GPU,
            `sanitize=True` and the settings `runtime.sanitize` and `compilation.enable_asan` are refused.
            """
        ),
        table(("mode", "CPU", "emulator", "NVIDIA GPU", "where it is refused"), rows),
    ).rstrip()


def _mode(mode: str) -> tuple[str, str, str]:
    on_emulator = {"consan": "checks every launch", "gsan": "checks launches that ask for it"}
    built = ["built" if mode in _built(target) else "refused" for target in ("cpu", "cuda")]
    return built[0], on_emulator.get(mode, built[1]), built[1]


def _built(target: str) -> tuple[str, ...]:
    module = inspect.getmodule(_TARGETS[target][1])
    return tuple(getattr(module, "BUILT", ()))


def _launch_table(name: str, rows: Mapping[str, tuple[str, str]]) -> str:
    body = [(f"`{parameter}`", kind, escape(effect)) for parameter, (kind, effect) in rows.items()]
    return table((f"`{name}`" if name != "launch" else "a launch", "class", "effect"), body)


def _language_table(head: str, parameters: Mapping[str, Parameter], prefix: str = "") -> str:
    rows = [
        (f"`{prefix}{name}`", p.kind, escape(p.effect), _ignored_on(p.ignored_on)) for name, p in parameters.items()
    ]
    return table((head, "class", "effect", "no effect on"), rows)


def _ignored_on(targets: tuple[str, ...]) -> str:
    return "any target" if targets == EVERYWHERE else ", ".join(_TARGETS[target][0] for target in targets)
