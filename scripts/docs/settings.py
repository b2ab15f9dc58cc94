"""The page of settings: every knob, its environment variables, its default."""

from __future__ import annotations

import inspect
from typing import Any

from tritium.support.setting import (
    ClassName,
    Flag,
    Folder,
    Integer,
    OptionalFlag,
    Text,
    UnsupportedFlag,
    UnsupportedText,
)
from tritium.support.settings import GROUPS

from .markdown import NOTE, doc_of, escape, sections, table

_KINDS = {
    Flag: "flag",
    OptionalFlag: "flag",
    UnsupportedFlag: "flag, not supported",
    UnsupportedText: "text, not supported",
    Integer: "integer",
    Text: "text",
    Folder: "folder",
    ClassName: "`module:Class`",
}


def settings_page() -> dict[str, str]:
    """The page by its path below docs/."""
    parts = []
    for name, group in GROUPS.items():
        rows = [_row(key, setting) for key, setting in group.settings().items()]
        parts += [
            f"## {name}",
            escape(doc_of(type(group))),
            table(("knob", "environment", "class", "value, default", "what it does"), rows),
        ]
    return {
        "settings.md": sections(
            NOTE,
            "# Settings",
            inspect.cleandoc(
                """
                Every setting is an attribute of a group of `tritium.knobs`, as in
                `tritium.knobs.compilation.always_compile = True`, and most can be set by an environment variable. What
                a script assigns counts more than the environment; of several variables the first that is set counts.
                The variables that Triton and MLIR have keep their names and meaning.

                A flag is on when its variable is `1`, `true`, `on`, `yes` or `y`, in any case. Settings marked * are
                part of the cache's keys: changing one compiles anew. [Hooks and knobs](hooks-and-knobs.md) says what
                assigning does to the environment, and how to undo it. The classes are those of [options](options.md).
                """
            ),
            *parts,
        )
    }


def _row(key: str, setting: Any) -> tuple[str, str, str, str, str]:
    variables = ", ".join(f"`{v}`" for v in setting.env)
    kind = next((word for cls, word in _KINDS.items() if type(setting) is cls), "")
    has_default = setting.default is not None or isinstance(setting, Folder)
    default = _shown(setting) if has_default and setting.env else ""
    what = escape(setting.__doc__ or "")
    return (
        f"`{key}`{' *' if setting.invalidates else ''}",
        variables,
        setting.kind,
        ", ".join(text for text in (kind, default) if text),
        what,
    )


def _shown(setting: Any) -> str:
    if isinstance(setting, Folder):
        return setting.shown
    if setting.default is False:
        return "off"
    if setting.default is True:
        return "on"
    return f"`{setting.default}`" if setting.default != "" else ""
