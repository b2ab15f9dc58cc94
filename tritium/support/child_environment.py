"""The environment of child processes that import this package."""

from __future__ import annotations

import os

__all__ = ["child_environment"]


def child_environment(**more: str) -> dict[str, str]:
    """This process's environment and `more`, with the folder of this package first on PYTHONPATH.

    A program may have found the package by `sys.path` alone, which its children do not inherit.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders)), **more}
