"""Whole kernels need the language; without it there is nothing to collect."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("tritium.language") else ["*.py"]
