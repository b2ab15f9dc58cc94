"""Passes of the `ttgir` stage, in packages by subject, one pass a file; `pipelines` has their order."""

from ...ir.passes.registry import Spelling

__all__ = ["PACKAGES", "SPELLINGS"]

PACKAGES = ("async_wait", "layout", "memory", "mma", "pipeline", "tma", "warp_specialize")
"""The packages here that have passes."""

SPELLINGS = [
    Spelling(
        "assign-cga-layouts",
        "TritonNvidiaGPUAssignCGALayoutsPass",
        ("triton-nvidia-gpu-assign-cga-layouts", "triton-nvidia-gpu-plan-cta", "plan-cta"),
    ),
    Spelling("nvgpu-warp-specialization", "NVGPUWarpSpecialization"),
    Spelling("fuse-nested-loops", "TritonGPUFuseNestedLoops", ("tritongpu-fuse-nested-loops",)),
    Spelling("coalesce-async-copy", "TritonGPUCoalesceAsyncCopy", ("tritongpu-coalesce-async-copy",)),
    Spelling("assign-latencies", "TritonGPUAssignLatencies", ("tritongpu-assign-latencies",)),
    Spelling("schedule-loops", "TritonGPUScheduleLoops", ("tritongpu-schedule-loops",)),
    Spelling("pipeline", "TritonGPUPipeline", ("tritongpu-pipeline",)),
    Spelling("fence-insertion", "TritonGPUFenceInsertion", ("triton-nvidia-gpu-fence-insertion",)),
    Spelling("optimize-accumulator-init", "TritonGPUOptimizeAccumulatorInit", ("tritongpu-optimize-accumulator-init",)),
    Spelling("prefetch", "TritonGPUPrefetch", ("tritongpu-prefetch",)),
    Spelling("amd-accelerate-matmul", "TritonAMDGPUAccelerateMatmul", ("tritonamdgpu-accelerate-matmul",)),
    Spelling("amd-optimize-epilogue", "TritonAMDGPUOptimizeEpilogue", ("tritonamdgpu-optimize-epilogue",)),
    Spelling("amd-pipeline", "TritonAMDGPUPipeline", ("tritonamdgpu-pipeline",)),
    Spelling("amd-in-thread-transpose", "TritonAMDGPUInThreadTranspose", ("tritonamdgpu-in-thread-transpose",)),
    Spelling("amd-optimize-buffer-op-ptr", "TritonAMDGPUOptimizeBufferOpPtr", ("tritonamdgpu-optimize-buffer-op-ptr",)),
    Spelling("amd-fold-true-cmpi", "TritonAMDFoldTrueCmpI", ("tritonamdgpu-fold-true-cmpi",)),
    Spelling("amd-prepare-if-combining", "TritonAMDGPUPrepareIfCombining", ("tritonamdgpu-prepare-if-combining",)),
    Spelling("amd-block-pingpong", "TritonAMDGPUBlockPingpong", ("tritonamdgpu-block-pingpong",)),
    Spelling("amd-move-up-prologue-loads", "TritonAMDGPUMoveUpPrologueLoads", ("tritonamdgpu-move-up-prologue-loads",)),
    Spelling(
        "amd-hoist-layout-conversions", "TritonAMDGPUHoistLayoutConversions", ("tritonamdgpu-hoist-layout-conversions",)
    ),
    Spelling(
        "amd-sink-layout-conversions", "TritonAMDGPUSinkLayoutConversions", ("tritonamdgpu-sink-layout-conversions",)
    ),
    Spelling("amd-schedule-loops", "TritonAMDGPUScheduleLoops", ("tritonamdgpu-schedule-loops",)),
    Spelling("amd-canonicalize-pointers", "TritonAMDGPUCanonicalizePointers", ("tritonamdgpu-canonicalize-pointers",)),
    Spelling(
        "amd-update-async-wait-count", "TritonAMDGPUUpdateAsyncWaitCount", ("tritonamdgpu-update-async-wait-count",)
    ),
    Spelling("amd-coalesce-async-copy", "TritonAMDGPUCoalesceAsyncCopy", ("tritonamdgpu-coalesce-async-copy",)),
    Spelling("amd-convert-to-buffer-ops", "TritonAMDGPUConvertToBufferOps", ("tritonamdgpu-convert-buffer-ops",)),
    Spelling("accelerate-matmul", "TritonGPUAccelerateMatmul", ("tritongpu-accelerate-matmul",)),
    Spelling(
        "allocate-global-scratch",
        "TritonGPUGlobalScratchAllocationPass",
        ("tritongpu-global-scratch-memory-allocation",),
    ),
    Spelling(
        "allocate-shared-memory",
        "AllocateSharedMemoryNv",
        ("allocate-shared-memory-nv", "allocate-amdgpu-shared-memory"),
    ),
    Spelling("allocate-warp-groups", "TritonGPUAllocateWarpGroups", ("tritongpu-allocate-warp-groups",)),
    Spelling(
        "insert-barriers",
        "TritonNvidiaGPUMembar",
        ("triton-nvidia-gpu-membar", "test-print-membar", "test-tritonamdgpu-membar"),
    ),
    Spelling("coalesce", "TritonGPUCoalesce", ("tritongpu-coalesce",)),
    Spelling("f32-dot-tc", "TritonGPUF32DotTC", ("tritongpu-F32DotTC",)),
    Spelling("optimize-dot-operands", "TritonGPUOptimizeDotOperands", ("tritongpu-optimize-dot-operands",)),
    Spelling("remove-layout-conversions", "TritonGPURemoveLayoutConversions", ("tritongpu-remove-layout-conversions",)),
    Spelling(
        "combine-tensor-select-and-if", "TritonGPUCombineTensorSelectAndIf", ("tritongpu-combine-tensor-select-and-if",)
    ),
    Spelling("reduce-data-duplication", "TritonGPUReduceDataDuplication", ("tritongpu-reduce-data-duplication",)),
    Spelling(
        "optimize-descriptor-encoding",
        "TritonNvidiaGPUOptimizeDescriptorEncodingPass",
        ("triton-nvidia-optimize-descriptor-encoding",),
    ),
    Spelling("proxy-fence-insertion", "TritonGPUProxyFenceInsertion", ("triton-nvidia-gpu-proxy-fence-insertion",)),
    Spelling("tma-lowering", "TritonNvidiaGPUTMALoweringPass", ("triton-nvidia-tma-lowering",)),
    Spelling("reorder-instructions", "TritonGPUReorderInstructions", ("tritongpu-reorder-instructions",)),
    Spelling("optimize-thread-locality", "TritonGPUOptimizeThreadLocality", ("tritongpu-optimize-thread-locality",)),
    Spelling(
        "optimize-cta-locality", "TritonNvidiaGPUOptimizeCTALocalityPass", ("triton-nvidia-gpu-optimize-cta-locality",)
    ),
    Spelling("hoist-waits", "HoistWaitsPass", former=("early-waits",)),
    Spelling("speculate-loads", "SpeculateLoadsPass", former=("early-loads",)),
    Spelling("cluster-loads", "ClusterLoadsPass"),
    Spelling("rematerialize-after-loops", "RematerializeAfterLoopsPass", former=("recompute-behind-loops",)),
    Spelling("store-mma-rows-per-warp", "StoreMmaRowsPerWarpPass", former=("store-own-rows",)),
    Spelling("store-in-own-cta", "StoreInOwnCtaPass", former=("store-in-own-block",)),
]
"""Names in MLIR dumps and on Triton's command lines, by pass."""
