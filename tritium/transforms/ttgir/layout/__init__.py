"""The distribution of tensors over threads: layouts of accesses, and the removal of layout conversions."""
