// RUN: amd-canonicalize-pointers{enable-large-tensor-ptr-canon=true}, canonicalize
// The array of %a is below 2 GB: its base stays, with offsets of 32 bits. The pointer to %b advances by what all elements share.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @copy(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %b: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c256 : i32
    %firsts = tt.splat %first : i32 -> tensor<256xi32, #blocked>
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %at = arith.addi %firsts, %range : tensor<256xi32, #blocked>
    %step = arith.constant dense<256> : tensor<256xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %p0 = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %q0 = tt.addptr %bs, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (tensor<256x!tt.ptr<f32>, #blocked>, tensor<256x!tt.ptr<f32>, #blocked>) : i32 {
      %x = tt.load %p : tensor<256x!tt.ptr<f32>, #blocked>
      tt.store %q, %x : tensor<256x!tt.ptr<f32>, #blocked>
      %p1 = tt.addptr %p, %step : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
      %q1 = tt.addptr %q, %step : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
      scf.yield %p1, %q1 : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
//   tt.func public @copy(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %b: !tt.ptr<f32>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c256 = arith.constant 256 : i32
//     %step = arith.constant dense<256> : tensor<256xi32, #blocked>
//     %pid = tt.get_program_id x : i32
//     %first = arith.muli %pid, %c256 : i32
//     %firsts = tt.splat %first : i32 -> tensor<256xi32, #blocked>
//     %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
//     %at = arith.addi %firsts, %range : tensor<256xi32, #blocked>
//     %0 = tt.addptr %b, %first : !tt.ptr<f32>, i32
//     %1 = arith.extsi %range : tensor<256xi32, #blocked> to tensor<256xi64, #blocked>
//     %2:2 = scf.for %i = %c0 to %n step %c1 iter_args(%arg4 = %at, %arg5 = %0) -> (tensor<256xi32, #blocked>, !tt.ptr<f32>)  : i32 {
//       %3 = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
//       %4 = tt.addptr %3, %arg4 : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
//       %x = tt.load %4 : tensor<256x!tt.ptr<f32>, #blocked>
//       %5 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
//       %6 = tt.addptr %5, %1 : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi64, #blocked>
//       tt.store %6, %x : tensor<256x!tt.ptr<f32>, #blocked>
//       %7 = arith.addi %arg4, %step : tensor<256xi32, #blocked>
//       %8 = tt.addptr %arg5, %c256 : !tt.ptr<f32>, i32
//       scf.yield %7, %8 : tensor<256xi32, #blocked>, !tt.ptr<f32>
//     }
//     tt.return
//   }
// }
