// RUN: amd-optimize-buffer-op-ptr, canonicalize
// The loop advances the base by 256 elements; all lanes keep their offsets.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @sum(%a: !tt.ptr<f32>) -> tensor<256xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<256xf32, #blocked>
    %step = arith.constant dense<256> : tensor<256xi32, #blocked>
    %first = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%o = %first, %s = %zero) -> (tensor<256xi32, #blocked>, tensor<256xf32, #blocked>) : i32 {
      %x = amdg.buffer_load %a[%o] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
      %t = arith.addf %s, %x : tensor<256xf32, #blocked>
      %next = arith.addi %o, %step : tensor<256xi32, #blocked>
      scf.yield %next, %t : tensor<256xi32, #blocked>, tensor<256xf32, #blocked>
    }
    tt.return %r#1 : tensor<256xf32, #blocked>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @sum(%a: !tt.ptr<f32>) -> tensor<256xf32, #blocked> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c16 = arith.constant 16 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<256xf32, #blocked>
//     %c256_i32 = arith.constant 256 : i32
//     %first = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
//     %0:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %zero, %arg3 = %a) -> (tensor<256xf32, #blocked>, !tt.ptr<f32>)  : i32 {
//       %x = amdg.buffer_load %arg3[%first] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
//       %t = arith.addf %s, %x : tensor<256xf32, #blocked>
//       %1 = tt.addptr %arg3, %c256_i32 : !tt.ptr<f32>, i32
//       scf.yield %t, %1 : tensor<256xf32, #blocked>, !tt.ptr<f32>
//     }
//     tt.return %0#0 : tensor<256xf32, #blocked>
//   }
// }
