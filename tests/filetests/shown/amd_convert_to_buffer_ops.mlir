// RUN: amd-convert-to-buffer-ops, canonicalize
// The array of %a is known to be below 2 GB, that of %b is not. The loop carries offsets, not pointers.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @copy(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %b: !tt.ptr<f32>, %n: i32, %mask: tensor<256xi1, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<256> : tensor<256xi32, #blocked>
    %at = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %first = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %to = tt.addptr %bs, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first) -> (tensor<256x!tt.ptr<f32>, #blocked>) : i32 {
      %x = tt.load %p, %mask : tensor<256x!tt.ptr<f32>, #blocked>
      tt.store %to, %x : tensor<256x!tt.ptr<f32>, #blocked>
      %next = tt.addptr %p, %step : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
      scf.yield %next : tensor<256x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @copy(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %b: !tt.ptr<f32>, %n: i32, %mask: tensor<256xi1, #blocked>) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %step = arith.constant dense<256> : tensor<256xi32, #blocked>
//     %at = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
//     %0 = scf.for %i = %c0 to %n step %c1 iter_args(%arg5 = %at) -> (tensor<256xi32, #blocked>)  : i32 {
//       %x = amdg.buffer_load %a[%arg5], %mask : !tt.ptr<f32> -> tensor<256xf32, #blocked>
//       amdg.buffer_store %x, %b[%at] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
//       %1 = arith.addi %arg5, %step : tensor<256xi32, #blocked>
//       scf.yield %1 : tensor<256xi32, #blocked>
//     }
//     tt.return
//   }
// }
