"""Writes the pages of docs/ that come from the sources: a dialect, a pass, the settings (`make docs`)."""
