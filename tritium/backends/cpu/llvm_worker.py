"""One compile in a process of its own.

A JSON line and LLVM text on stdin; the optimized text's size, that text and the object on stdout.
"""

from __future__ import annotations

import json
import sys

from .errors import BackendError
from .llvm import compile_llvm
from .target import describe


def main() -> int:
    """Serve one request; the exit status is 1 with the message on stderr if LLVM refuses the text."""
    header, _, text = sys.stdin.buffer.read().decode().partition("\n")
    request = json.loads(header)
    try:
        target = describe(request["triple"], request["cpu"], request["features"])
        module = compile_llvm(text, target, request["level"], request["optimized"])
    except BackendError as error:
        print(error, file=sys.stderr)
        return 1
    llir = module.llir.encode()
    sys.stdout.buffer.write(b"%d\n%s%s" % (len(llir), llir, module.object))
    return 0


if __name__ == "__main__":
    sys.exit(main())
