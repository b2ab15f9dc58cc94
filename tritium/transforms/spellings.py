"""Names of passes in MLIR and Triton: the class in dumps, then names on command lines."""

from __future__ import annotations

from ..ir.passes.registry import Spelling

__all__ = ["SPELLINGS"]

SPELLINGS = [
    Spelling("canonicalize", "CanonicalizerPass"),
    Spelling("combine", "TritonCombineOps", ("triton-combine",)),
    Spelling("cse", "CSEPass"),
    Spelling("dce", "DeadCodeEliminationPass", ("trivial-dce", "triton-dce")),
    Spelling("infer-coalesced-encodings", "GluonInferCoalescedEncodingsPass", ("gluon-infer-coalesced-encodings",)),
    Spelling("inliner", "InlinerPass", ("inline",)),
    Spelling("licm", "TritonLoopInvariantCodeMotion", ("triton-licm", "loop-invariant-code-motion")),
    Spelling("loop-aware-cse", "TritonLoopAwareCSE", ("triton-loop-aware-cse",)),
    Spelling("loop-unroll", "TritonLoopUnroll", ("triton-loop-unroll",)),
    Spelling("reorder-broadcast", "TritonReorderBroadcast", ("triton-reorder-broadcast",)),
    Spelling(
        "rewrite-tensor-descriptor-to-pointer",
        "TritonRewriteTensorDescriptorToPointer",
        ("triton-rewrite-tensor-descriptor-to-pointer",),
    ),
    Spelling("resolve-auto-encodings", "GluonResolveAutoEncodingsPass", ("gluon-resolve-auto-encodings",)),
    Spelling("rewrite-tensor-pointer", "TritonRewriteTensorPointer", ("triton-rewrite-tensor-pointer",)),
    Spelling("sccp", "SCCPPass"),
    Spelling("symbol-dce", "SymbolDCEPass"),
]
