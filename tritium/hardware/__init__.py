"""Machine models: what a GPU has, as frozen values.

| file | owns |
|---|---|
| `nvidia` | `NvidiaGPU`: limits of an SM and of a CTA by compute capability, and which instructions it has |
| `nvidia_features` | the instructions, each with its first and last capability and its source |
| `amd` | `AmdGPU`: limits of a SIMD and of a workgroup by architecture, versions of matrix instructions |
| `occupancy`, `amd_occupancy` | resident CTAs of a kernel per SM (workgroups per compute unit), and what limits them |

Passes and lowerings ask these values; none of them compares a compute capability with a number.
"""
