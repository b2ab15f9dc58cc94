// RUN: cluster-loads
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #a}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The second load goes above the copy of the first, with the address that was computed in between.
  // CHECK-LABEL: @two_tiles
  // CHECK: tt.load %p
  // CHECK-NEXT: %q1 = tt.addptr
  // CHECK-NEXT: tt.load %q1
  // CHECK-NEXT: ttg.local_alloc %x
  // CHECK-NEXT: ttg.local_alloc %y
  tt.func public @two_tiles(%p: tensor<64x32x!tt.ptr<f16>, #a>, %q: tensor<64x32x!tt.ptr<f16>, #a>, %o: tensor<64x32xi32, #a>) {
    %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %m = ttg.local_alloc %x : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %q1 = tt.addptr %q, %o : tensor<64x32x!tt.ptr<f16>, #a>, tensor<64x32xi32, #a>
    %y = tt.load %q1 : tensor<64x32x!tt.ptr<f16>, #a>
    %n = ttg.local_alloc %y : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    tt.return
  }
  // A third tile as well; what does not belong to a load stays where it is.
  // CHECK-LABEL: @three_tiles
  // CHECK: tt.load %p
  // CHECK-NEXT: tt.load %p
  // CHECK-NEXT: tt.load %p
  // CHECK-NEXT: ttg.local_alloc %x
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: ttg.local_alloc %y
  // CHECK-NEXT: ttg.local_alloc %z
  tt.func public @three_tiles(%p: tensor<64x32x!tt.ptr<f16>, #a>, %v: tensor<64x32xf16, #a>) -> tensor<64x32xf16, #a> {
    %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %m = ttg.local_alloc %x : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %w = arith.addf %v, %v : tensor<64x32xf16, #a>
    %y = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %n = ttg.local_alloc %y : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %z = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %k = ttg.local_alloc %z : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    tt.return %w : tensor<64x32xf16, #a>
  }
  // Not above a write to global memory, a barrier of the program or another load's use.
  // CHECK-LABEL: @stays
  // CHECK: ttg.local_alloc %x
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.local_alloc %y
  // CHECK-NEXT: ttg.barrier
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @stays(%p: tensor<64x32x!tt.ptr<f16>, #a>, %v: tensor<64x32xf16, #a>) {
    %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %m = ttg.local_alloc %x : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    tt.store %p, %v : tensor<64x32x!tt.ptr<f16>, #a>
    %y = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %n = ttg.local_alloc %y : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    ttg.barrier local
    %z = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %k = ttg.local_alloc %z : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    tt.return
  }
  // Volatile loads and tiles of more than 32 registers per thread stay.
  // CHECK-LABEL: @volatile_or_large
  // CHECK: ttg.local_alloc %x
  // CHECK-NEXT: tt.load %p {isVolatile = true}
  // CHECK-NEXT: ttg.local_alloc %y
  // CHECK-NEXT: tt.load %q
  tt.func public @volatile_or_large(%p: tensor<64x32x!tt.ptr<f16>, #a>, %q: tensor<256x64x!tt.ptr<f16>, #a>) {
    %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #a>
    %m = ttg.local_alloc %x : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %y = tt.load %p {isVolatile = true} : tensor<64x32x!tt.ptr<f16>, #a>
    %n = ttg.local_alloc %y : (tensor<64x32xf16, #a>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %z = tt.load %q : tensor<256x64x!tt.ptr<f16>, #a>
    %k = ttg.local_alloc %z : (tensor<256x64xf16, #a>) -> !ttg.memdesc<256x64xf16, #shared, #smem>
    tt.return
  }
}
