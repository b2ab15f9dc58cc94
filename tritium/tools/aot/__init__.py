"""Kernels for programs without Python: a compiled kernel as C source or as an object file, with a header.

| module | what it does |
|---|---|
| `interface` | what C sees of a kernel: names, parameters, the hash of its signature |
| `grid` | expressions for the size of a launch |
| `cuda`, `cuda_text` | the source of a loader and a launcher around a cubin |
| `cpu`, `cpu_text` | an object file with a launcher of its own |
| `link` | one function over several kernels, which chooses by the hints of their signatures |
| `output` | files, all or none |
"""
