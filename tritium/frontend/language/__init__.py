"""The functions of the language: what kernels call as `tl.…`."""
