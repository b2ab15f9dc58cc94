"""What `pad-shapes` does with each kind of operation: memory, reductions, other shapes, matrix products."""
