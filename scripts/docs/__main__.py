"""python -m scripts.docs: write the generated pages; with `--check`, say which are stale and exit with status 1."""

from __future__ import annotations

import argparse
import sys

from .pages import ROOT, stale, write


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, say what is stale")
    options = parser.parse_args()
    changed = stale() if options.check else write()
    for path in changed:
        print(f"{'stale' if options.check else 'written'}: {path.relative_to(ROOT)}")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
