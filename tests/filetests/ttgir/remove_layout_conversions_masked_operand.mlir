// RUN: remove-layout-conversions
// The loaded tensor is converted, not a value computed from it, also where a mask depends on ranges.
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#operand = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @masked
  // CHECK: %[[LOADED:.*]] = tt.load %p
  // CHECK-NEXT: %[[X:.*]] = ttg.convert_layout %[[LOADED]] {{.*}} -> tensor<64x64xi8, #ttg.dot_op
  // CHECK-NOT: ttg.convert_layout
  // CHECK: arith.select {{.*}}, %[[X]], {{.*}} tensor<64x64xi8, #ttg.dot_op
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttng.warp_group_dot
  tt.func @masked(%p: tensor<64x64x!tt.ptr<i8>, #blocked>, %y: !ttg.memdesc<64x64xf16, #shared, #smem>, %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %x = tt.load %p : tensor<64x64x!tt.ptr<i8>, #blocked>
    %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %limit = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %inside = arith.cmpi slt, %at, %limit : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %row = tt.expand_dims %inside {axis = 0 : i32} : tensor<64xi1, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi1, #blocked>
    %mask = tt.broadcast %row : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked>
    %zero = arith.constant dense<0> : tensor<64x64xi8, #blocked>
    %kept = arith.select %mask, %x, %zero : tensor<64x64xi1, #blocked>, tensor<64x64xi8, #blocked>
    %wide = arith.sitofp %kept : tensor<64x64xi8, #blocked> to tensor<64x64xf16, #blocked>
    %a = ttg.convert_layout %wide : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #operand>
    %d = ttng.warp_group_dot %a, %y, %c : tensor<64x64xf16, #operand> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
