"""A compiled kernel: its resources, and the text of each stage with the milliseconds it took."""

from __future__ import annotations

from html import escape

from ..compiler import CompiledKernel
from ..support.display import formats
from ..tools.resource_summary import resource_summary
from .html import code, folded, framed

__all__ = ["kernel_html"]

LIMIT = 200_000  # characters of a stage; what is longer is cut, and says so


@formats(CompiledKernel)
def kernel_html(kernel: CompiledKernel, is_open: str = "") -> str:
    """The kernel; the stage `is_open` is open."""
    target = kernel.values["target"]
    title = f"{kernel.name} for {target['backend']}:{target['arch']}"
    stages = [_stage(kernel, name, name == is_open) for name in kernel.asm]
    return framed(title, f'<div class="dim">{escape(resource_summary(kernel.values))}</div>', *stages)


def _stage(kernel: CompiledKernel, name: str, is_open: bool) -> str:
    found = kernel.asm[name]
    took = f", {kernel.times[name]:.1f} ms" if name in kernel.times else ""
    if isinstance(found, bytes):
        return folded(
            f"{name}: {len(found):,} bytes{took}", "<pre>machine code: kernel.listing() shows it</pre>", is_open
        )
    text = str(found)
    count = text.count("\n") + 1
    cut = "" if len(text) <= LIMIT else f'<div class="dim">the first {LIMIT:,} of {len(text):,} characters</div>'
    return folded(f"{name}: {count:,} line{'s' * (count != 1)}{took}", code(text[:LIMIT]) + cut, is_open)
