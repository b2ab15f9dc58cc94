"""Collect the fragments in changes/ into a section of CHANGELOG.md.

    python -m scripts.changelog                    print the section that the fragments make
    python -m scripts.changelog --release 0.2.0    insert it, dated today, and delete the fragments

A fragment is `changes/<name>.<kind>.md`: one change, one entry. Sections have the order of Keep a Changelog.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "added": "Added",
    "changed": "Changed",
    "deprecated": "Deprecated",
    "removed": "Removed",
    "fixed": "Fixed",
    "security": "Security",
    "speed": "Performance",
}
"""Kind of a fragment -> title of its section, in this order."""


def fragments(folder: Path) -> dict[str, list[Path]]:
    """The fragments of each kind, by name; ValueError for a file that is none."""
    out: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        kind = path.name.removesuffix(".md").rpartition(".")[2]
        if kind not in KINDS or not path.read_text(encoding="utf-8").strip():
            raise ValueError(f"{path}: a fragment is <name>.<kind>.md with text, the kind one of {', '.join(KINDS)}")
        out[kind].append(path)
    return out


def section(found: dict[str, list[Path]]) -> str:
    """The entries of all fragments under their titles."""
    parts = []
    for kind, paths in found.items():
        if paths:
            entries = (" ".join(path.read_text(encoding="utf-8").split()) for path in paths)
            lines = (
                textwrap.fill(entry, 118, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
                for entry in entries
            )
            parts.append(f"### {KINDS[kind]}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def release(changelog: str, version: str, day: datetime.date, entries: str) -> str:
    """The text of CHANGELOG.md with a section before all others; ValueError if there is one of that version."""
    if f"\n## [{version}]" in changelog:
        raise ValueError(f"CHANGELOG.md has a section of version {version}")
    head = re.search(r"^## ", changelog, re.MULTILINE)
    at = head.start() if head else len(changelog)
    return f"{changelog[:at]}## [{version}] - {day.isoformat()}\n\n{entries}\n{changelog[at:]}"


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """The command line; 1 where a fragment or the version is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", metavar="VERSION", help="insert the section, and delete the fragments")
    chosen = parser.parse_args(arguments)
    file = root / "CHANGELOG.md"
    try:
        found = fragments(root / "changes")
        entries = section(found)
        if chosen.release:
            text = release(file.read_text(encoding="utf-8"), chosen.release, datetime.date.today(), entries)
            file.write_text(text, encoding="utf-8")
            for path in (path for paths in found.values() for path in paths):
                path.unlink()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(entries if not chosen.release else f"CHANGELOG.md has a section of version {chosen.release}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
