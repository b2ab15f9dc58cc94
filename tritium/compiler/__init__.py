"""From a source and a target to a compiled kernel.

Runs a backend's stage table, keeps each stage's text or bytes, writes and reads the cache on disk (JSON and raw
bytes, checksummed, written by atomic rename), and collects metadata and timings.
"""
