"""From one dialect to another, and to LLVM text: `tt_to_ttc` makes loops of tiles for CPUs, `ttc_to_llvm` writes them;
`convert_triton_to_tritongpu` gives tiles their layouts on GPUs. Files at this level are passes, named as they are.
"""

from ..ir.passes.registry import PASSES, Spelling

PASSES.add_package(__name__, [Spelling("convert-triton-to-tritongpu", "ConvertTritonToTritonGPU")])
