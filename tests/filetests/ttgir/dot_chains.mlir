// RUN: assign-latencies, schedule-loops, pipeline, canonicalize
// Attention: the first dot of an iteration is issued before the second one of the previous iteration.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#dot_a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The prologue has the first iteration's first product, if there is an iteration.
  // CHECK-LABEL: @attention
  // CHECK: scf.if
  // CHECK: ttng.warp_group_dot
  // CHECK: arith.subi %n, %{{.*}} : i32
  // CHECK: scf.for
  // CHECK: %[[BEFORE:.*]] = ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: %[[S:.*]] = ttng.warp_group_dot %q, {{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK: arith.mulf %[[BEFORE]]
  // CHECK: arith.truncf
  // CHECK: ttng.warp_group_dot {{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK: ttng.warp_group_dot_wait %[[S]], {{.*}} {pendings = 1 : i32}
  // CHECK: math.exp2
  // CHECK-NOT: scf.if
  // CHECK: scf.yield
  // Behind the loop, the last iteration's second product, if there was one.
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: scf.if
  // CHECK: ttng.warp_group_dot
  tt.func public @attention(%n: i32, %q: !ttg.memdesc<128x64xf16, #shared, #smem>, %k: !tt.tensordesc<128x64xf16, #shared>, %v: !tt.tensordesc<128x64xf16, #shared>, %zero: tensor<128x64xf32, #mma>, %low: tensor<128xf32, #row>) -> (tensor<128x64xf32, #mma>, tensor<128xf32, #row>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %m = %low) -> (tensor<128x64xf32, #mma>, tensor<128xf32, #row>) : i32 {
      %k0 = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %k1 = ttg.local_alloc %k0 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %k2 = ttg.memdesc_trans %k1 {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<64x128xf16, #shared1, #smem>
      %s = ttng.warp_group_dot %q, %k2, %none {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem> -> tensor<128x128xf32, #mma>
      %peak = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32, #row>
      %m1 = arith.maxnumf %m, %peak : tensor<128xf32, #row>
      %column = tt.expand_dims %m1 {axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #mma>
      %wide = tt.broadcast %column : tensor<128x1xf32, #mma> -> tensor<128x128xf32, #mma>
      %t = arith.subf %s, %wide : tensor<128x128xf32, #mma>
      %e = math.exp2 %t : tensor<128x128xf32, #mma>
      %d = arith.subf %m, %m1 : tensor<128xf32, #row>
      %alpha = math.exp2 %d : tensor<128xf32, #row>
      %alpha1 = tt.expand_dims %alpha {axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #mma>
      %alpha2 = tt.broadcast %alpha1 : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
      %scaled = arith.mulf %acc, %alpha2 : tensor<128x64xf32, #mma>
      %v0 = tt.descriptor_load %v[%i, %c0] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %v1 = ttg.local_alloc %v0 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %h = arith.truncf %e : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      %p = ttg.convert_layout %h : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #dot_a>
      %o = ttng.warp_group_dot %p, %v1, %scaled {inputPrecision = 0 : i32} : tensor<128x128xf16, #dot_a> * !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o, %m1 : tensor<128x64xf32, #mma>, tensor<128xf32, #row>
    }
    tt.return %r#0, %r#1 : tensor<128x64xf32, #mma>, tensor<128xf32, #row>
  }
}
