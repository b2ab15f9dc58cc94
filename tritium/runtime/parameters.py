"""Classes of the parameters of `jit`, `autotune`, `Config` and launches, besides arguments and compile options.

Documentation and tests read the table; nothing else imports this file.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..support.option_classes import HINT, INSTRUMENTATION, SEMANTIC

__all__ = ["PARAMETERS"]

PARAMETERS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "jit": {
        "version": (HINT, "no effect: kept as an attribute"),
        "repr": (SEMANTIC, "a function that names the compiled kernel"),
        "launch_metadata": (SEMANTIC, "a function that adds to what launch hooks are given"),
        "do_not_specialize": (SEMANTIC, "parameters whose values do not cause new compiles"),
        "do_not_specialize_on_alignment": (SEMANTIC, "parameters whose divisibility does not cause new compiles"),
        "debug": (SEMANTIC, "the option `debug` of launches that do not name it"),
        "noinline": (HINT, "the function is called rather than inlined, where the target can"),
    },
    "autotune": {
        "configs": (SEMANTIC, "configurations to choose from"),
        "key": (SEMANTIC, "arguments whose values cause new tuning"),
        "prune_configs_by": (SEMANTIC, "functions that leave out configurations"),
        "reset_to_zero": (SEMANTIC, "arrays that are zeroed before each timed run"),
        "restore_value": (SEMANTIC, "arrays that are restored after each timed run"),
        "pre_hook": (SEMANTIC, "called before each timed run"),
        "post_hook": (SEMANTIC, "called after each timed run"),
        "warmup": (SEMANTIC, "milliseconds of running before timing"),
        "rep": (SEMANTIC, "milliseconds of timing"),
        "use_cuda_graph": (HINT, "times replays of a CUDA graph; no effect on the CPU"),
        "do_bench": (SEMANTIC, "a function that times"),
        "cache_results": (SEMANTIC, "keeps timings on disk"),
    },
    "Config": {
        "kwargs": (SEMANTIC, "values of meta-parameters"),
        "num_warps": (HINT, "the option of this name"),
        "num_stages": (HINT, "the option of this name"),
        "num_ctas": (HINT, "the option of this name"),
        "maxnreg": (HINT, "the option of this name"),
        "pre_hook": (SEMANTIC, "called before each launch with this configuration"),
        "ir_override": (SEMANTIC, "the option of this name"),
    },
    "launch": {
        "grid": (SEMANTIC, "number of programs, or a function of the arguments"),
        "stream": (SEMANTIC, "the stream of the GPU; on the CPU launches end before they return"),
        "warmup": (SEMANTIC, "compiles, and does not launch"),
        "sanitize": (
            INSTRUMENTATION,
            "checks every access against the bounds of its array; refused on GPUs",
        ),
    },
}
"""(class, effect) of each parameter."""
