// RUN: hoist-waits
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#wide = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!block = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!barrier = !ttg.memdesc<1xi64, #one, #smem, mutable>
!score = tensor<64x64xf32, #mma>
!weight = tensor<64x64xf16, #dot>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A wait whose phase is known late stays where it is.
  // CHECK-LABEL: @needed
  // CHECK: arith.fptosi
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @needed(%q: !block, %k: !block, %v: !block, %bar: !barrier, %c: !score, %o: !score) -> !score {
    %s = ttng.warp_group_dot %q, %k, %c {inputPrecision = 0 : i32, isAsync = true} : !block * !block -> !score
    %t = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : !score
    %r = "tt.reduce"(%t) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (!score) -> tensor<64xf32, #row>
    %all = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<64xf32, #row>) -> f32
    %phase = arith.fptosi %all : f32 to i32
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xf32, #row> -> tensor<64x1xf32, #mma>
    %b = tt.broadcast %e : tensor<64x1xf32, #mma> -> !score
    %p = arith.subf %t, %b : !score
    %w = arith.truncf %p : !score to tensor<64x64xf16, #mma>
    %a = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> !weight
    ttng.wait_barrier %bar, %phase : !barrier
    %d = ttng.warp_group_dot %a, %v, %o {inputPrecision = 0 : i32, isAsync = true} : !weight * !block -> !score
    %f = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : !score
    tt.return %f : !score
  }
  // Nothing moves over an arrival; nor over a load of what the wait is for, which is none of its business.
  // CHECK-LABEL: @effects
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: ttng.arrive_barrier
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @effects(%q: !block, %k: !block, %v: !block, %bar: !barrier, %phase: i32, %c: !score, %a: !weight, %o: !score) -> (!score, !score) {
    %s = ttng.warp_group_dot %q, %k, %c {inputPrecision = 0 : i32, isAsync = true} : !block * !block -> !score
    %t = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : !score
    ttng.arrive_barrier %bar, 1 : !barrier
    ttng.wait_barrier %bar, %phase : !barrier
    %d = ttng.warp_group_dot %a, %v, %o {inputPrecision = 0 : i32, isAsync = true} : !weight * !block -> !score
    %f = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : !score
    tt.return %t, %f : !score, !score
  }
  // A product that is waited for where it stands is no place to wait behind.
  // CHECK-LABEL: @at_once
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: ttng.wait_barrier
  tt.func public @at_once(%v: !block, %bar: !barrier, %phase: i32, %a: !weight, %o: !score) -> !score {
    %d = ttng.warp_group_dot %a, %v, %o {inputPrecision = 0 : i32} : !weight * !block -> !score
    %e = math.exp2 %d : !score
    ttng.wait_barrier %bar, %phase : !barrier
    %f = ttng.warp_group_dot %a, %v, %e {inputPrecision = 0 : i32} : !weight * !block -> !score
    tt.return %f : !score
  }
  // Two waits keep their order.
  // CHECK-LABEL: @two
  // CHECK: ttng.warp_group_dot %q
  // CHECK-NEXT: ttng.wait_barrier %bar, %phase
  // CHECK-NEXT: ttng.wait_barrier %other, %phase
  // CHECK-NEXT: ttng.warp_group_dot_wait
  tt.func public @two(%q: !block, %k: !block, %v: !block, %bar: !barrier, %other: !barrier, %phase: i32, %c: !score, %a: !weight) -> !score {
    %s = ttng.warp_group_dot %q, %k, %c {inputPrecision = 0 : i32, isAsync = true} : !block * !block -> !score
    %t = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : !score
    %e = math.exp2 %t : !score
    ttng.wait_barrier %bar, %phase : !barrier
    %f = arith.mulf %e, %e : !score
    ttng.wait_barrier %other, %phase : !barrier
    %d = ttng.warp_group_dot %a, %v, %f {inputPrecision = 0 : i32, isAsync = true} : !weight * !block -> !score
    %g = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : !score
    tt.return %g : !score
  }
  // Where the second product gives more than the first, tensor cores have more to do than threads.
  // CHECK-LABEL: @larger
  // CHECK: ttng.warp_group_dot_wait
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: ttng.wait_barrier
  tt.func public @larger(%q: !block, %k: !block, %v: !ttg.memdesc<64x128xf16, #shared, #smem, mutable>, %bar: !barrier, %phase: i32, %c: !score, %a: !weight, %o: tensor<64x128xf32, #wide>) -> (!score, tensor<64x128xf32, #wide>) {
    %s = ttng.warp_group_dot %q, %k, %c {inputPrecision = 0 : i32, isAsync = true} : !block * !block -> !score
    %t = ttng.warp_group_dot_wait %s {pendings = 0 : i32} : !score
    %e = math.exp2 %t : !score
    ttng.wait_barrier %bar, %phase : !barrier
    %d = ttng.warp_group_dot %a, %v, %o {inputPrecision = 0 : i32, isAsync = true} : !weight * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf32, #wide>
    %g = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x128xf32, #wide>
    tt.return %e, %g : !score, tensor<64x128xf32, #wide>
  }
}
