"""Padding of each kind of operation for `pad-shapes`: memory accesses, reductions, reshapes, dots."""
