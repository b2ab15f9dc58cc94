// RUN: optimize-thread-locality, canonicalize
// Each thread adds up its own four elements of a row; the cross-lane reduction is done once, after the loop.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#sums = #ttg.slice<{dim = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%p: tensor<32x128x!tt.ptr<f32>, #rows>, %n: i32, %step: tensor<32x128xi32, #rows>) -> tensor<32xf32, #sums> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32xf32, #sums>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %p) -> (tensor<32xf32, #sums>, tensor<32x128x!tt.ptr<f32>, #rows>) : i32 {
      %x = tt.load %at : tensor<32x128x!tt.ptr<f32>, #rows>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #sums>
      %sum = arith.addf %acc, %s : tensor<32xf32, #sums>
      %next = tt.addptr %at, %step : tensor<32x128x!tt.ptr<f32>, #rows>, tensor<32x128xi32, #rows>
      scf.yield %sum, %next : tensor<32xf32, #sums>, tensor<32x128x!tt.ptr<f32>, #rows>
    }
    tt.return %r#0 : tensor<32xf32, #sums>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @sums(%p: tensor<32x128x!tt.ptr<f32>, #blocked>, %n: i32, %step: tensor<32x128xi32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     %cst = arith.constant dense<-0.000000e+00> : tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//     %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %cst, %at = %p) -> (tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>, tensor<32x128x!tt.ptr<f32>, #blocked>)  : i32 {
//       %x = tt.load %at : tensor<32x128x!tt.ptr<f32>, #blocked>
//       %2 = tt.reshape %x : tensor<32x128xf32, #blocked> -> tensor<32x32x4xf32, #blocked1>
//       %s_0 = "tt.reduce"(%2) <{axis = 2 : i32}> ({
//       ^bb0(%a: f32, %b: f32):
//         %c = arith.addf %a, %b : f32
//         tt.reduce.return %c : f32
//       }) : (tensor<32x32x4xf32, #blocked1>) -> tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//       %sum = arith.addf %acc, %s_0 : tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//       %next = tt.addptr %at, %step : tensor<32x128x!tt.ptr<f32>, #blocked>, tensor<32x128xi32, #blocked>
//       scf.yield %sum, %next : tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>, tensor<32x128x!tt.ptr<f32>, #blocked>
//     }
//     %s = "tt.reduce"(%r#0) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.addf %a, %b : f32
//       tt.reduce.return %c : f32
//     }) : (tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
//     %0 = ttg.convert_layout %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     %1 = arith.addf %0, %zero : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     tt.return %1 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//   }
// }
