"""`python -m tritium`: see `tritium.tools.cli`."""

import sys

from .support.lazy import LazyModule

_cli = LazyModule(".tools.cli", __package__)
_explore = LazyModule(".explorer.cli", __package__)
_opt = LazyModule(".tools.opt", __package__)


def main() -> None:
    """Run the command line. `opt` parses its own arguments, as MLIR's tools do, and imports only what it needs."""
    if sys.argv[1:2] == ["opt"]:
        sys.exit(_opt.main(sys.argv[2:]))
    _explore.add_to(_cli.app)
    _cli.main()


if __name__ == "__main__":
    main()
