"""Command lines: ``python -m tritium`` and its commands. They use ``compiler`` and ``runtime`` only."""
