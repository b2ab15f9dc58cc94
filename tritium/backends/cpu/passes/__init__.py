"""Passes that need to know a CPU, one a file, named as they are."""
