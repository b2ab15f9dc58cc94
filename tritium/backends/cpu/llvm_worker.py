"""One compile in a process of its own: the optimized text's size, that text and the object are its answer."""

from __future__ import annotations

import sys
from typing import Any

from ..llvm import serve
from .llvm import compile_llvm
from .target import describe


def compile_request(request: dict[str, Any], text: str) -> bytes:
    """The answer to one request of `compile_isolated`."""
    target = describe(request["triple"], request["cpu"], request["features"])
    module = compile_llvm(text, target, request["level"], request["optimized"])
    llir = module.llir.encode()
    return b"%d\n%s%s" % (len(llir), llir, module.object)


if __name__ == "__main__":
    sys.exit(serve(compile_request))
