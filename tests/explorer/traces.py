"""Large traces, written in the compiler's form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _line(**record: Any) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


def write_trace(path: Path, kernels: int, passes: int, text: Callable[[int, int], str]) -> None:
    """Write a trace of `kernels`, each of `passes`; `text(k, n)` is the IR of kernel k before its pass n."""
    with path.open("w") as file:
        header = {"version": 1, "process": "p", "tritium": "0", "python": "3", "platform": "x", "started": "now"}
        file.write(_line(kind="trace", **header))
        for k in range(kernels):
            id = f"p-{k}"
            digests = [f"{k * (passes + 1) + n:016x}" for n in range(passes + 1)]
            file.write(_line(kind="compile", id=id, started="now", kernel=f"k{k}", target="cuda:90", first="source"))
            for n, (before, after) in enumerate(zip(digests, digests[1:])):
                body = text(k, n)
                file.write(_line(kind="ir", hash=before, language="mlir", text=body))
                row = {"index": n, "name": f"pass-{n}", "options": "", "on": f"@k{k}", "skipped": False, "us": 1.0}
                row.update(before=before, after=after, changed=True, counts={}, rewrites=0)
                row["operations"] = body.count("\n")
                file.write(_line(kind="pass", compile=id, stage="ttgir", at=1.0, **row))
            file.write(_line(kind="ir", hash=digests[-1], language="mlir", text=text(k, passes)))
            file.write(_line(kind="end", compile=id, us=9.0, imports=0, store=0, cache="off", fine=True))
