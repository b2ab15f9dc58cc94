"""Gluon's language: tensors with explicit layouts, shared memory, barriers and the instructions of NVIDIA GPUs.

`layouts` are the layouts as kernels write them, `types` and `descriptors` the types that have them, `semantic` the
typing rules that infer the layouts of results, and `library` the functions of the language.
"""
