// RUN: optimize-thread-locality
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#single = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#sums = #ttg.slice<{dim = 1, parent = #rows}>
#sums1 = #ttg.slice<{dim = 1, parent = #single}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Rule loop: partial results of a maximum start with NaN, which maxnumf ignores.
  tt.func public @maximum(%x: tensor<32x128xf32, #rows>, %n: i32, %first: tensor<32xf32, #sums>) -> tensor<32xf32, #sums> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<32xf32, #sums>) : i32 {
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.maxnumf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #sums>
      %m = arith.maxnumf %acc, %s : tensor<32xf32, #sums>
      scf.yield %m : tensor<32xf32, #sums>
    }
    tt.return %r : tensor<32xf32, #sums>
  }
  // Rule gather: a warp gets whole columns.
  tt.func public @gather(%x: tensor<32x128xf32, #rows>, %i: tensor<32x128xi32, #rows>) -> tensor<32x128xf32, #rows> {
    %y = tt.gather %x[%i] {axis = 0 : i32} : (tensor<32x128xf32, #rows>, tensor<32x128xi32, #rows>) -> tensor<32x128xf32, #rows>
    tt.return %y : tensor<32x128xf32, #rows>
  }
  // Stays: the loop accumulates sums of maxima.
  tt.func public @other_operation(%x: tensor<32x128xf32, #rows>, %n: i32, %first: tensor<32xf32, #sums>) -> tensor<32xf32, #sums> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<32xf32, #sums>) : i32 {
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.maxnumf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #sums>
      %m = arith.addf %acc, %s : tensor<32xf32, #sums>
      scf.yield %m : tensor<32xf32, #sums>
    }
    tt.return %r : tensor<32xf32, #sums>
  }
  // Stays: each iteration uses the accumulator, so it must be complete.
  tt.func public @running_sum(%x: tensor<32x128xf32, #rows>, %n: i32, %first: tensor<32xf32, #sums>, %p: tensor<32x!tt.ptr<f32>, #sums>) -> tensor<32xf32, #sums> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<32xf32, #sums>) : i32 {
      tt.store %p, %acc : tensor<32x!tt.ptr<f32>, #sums>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #sums>
      %m = arith.addf %acc, %s : tensor<32xf32, #sums>
      scf.yield %m : tensor<32xf32, #sums>
    }
    tt.return %r : tensor<32xf32, #sums>
  }
  // A thread has one element of a row: the loop adds elements, and rows are reduced once, after it.
  tt.func public @one_element(%x: tensor<32x32xf32, #single>, %n: i32, %first: tensor<32xf32, #sums1>) -> tensor<32xf32, #sums1> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<32xf32, #sums1>) : i32 {
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<32x32xf32, #single>) -> tensor<32xf32, #sums1>
      %m = arith.addf %acc, %s : tensor<32xf32, #sums1>
      scf.yield %m : tensor<32xf32, #sums1>
    }
    tt.return %r : tensor<32xf32, #sums1>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
// #blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @maximum(%x: tensor<32x128xf32, #blocked>, %n: i32, %first: tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %cst = arith.constant dense<0x7FC00000> : tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %cst) -> (tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>)  : i32 {
//       %2 = tt.reshape %x : tensor<32x128xf32, #blocked> -> tensor<32x32x4xf32, #blocked1>
//       %s_0 = "tt.reduce"(%2) <{axis = 2 : i32}> ({
//       ^bb0(%a: f32, %b: f32):
//         %c = arith.maxnumf %a, %b : f32
//         tt.reduce.return %c : f32
//       }) : (tensor<32x32x4xf32, #blocked1>) -> tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//       %m = arith.maxnumf %acc, %s_0 : tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//       scf.yield %m : tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>
//     }
//     %s = "tt.reduce"(%r) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.maxnumf %a, %b : f32
//       tt.reduce.return %c : f32
//     }) : (tensor<32x32xf32, #ttg.slice<{dim = 2, parent = #blocked1}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
//     %0 = ttg.convert_layout %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     %1 = arith.maxnumf %0, %first : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     tt.return %1 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//   }
//   tt.func public @gather(%x: tensor<32x128xf32, #blocked>, %i: tensor<32x128xi32, #blocked>) -> tensor<32x128xf32, #blocked> {
//     %0 = ttg.convert_layout %x : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #blocked2>
//     %1 = ttg.convert_layout %i : tensor<32x128xi32, #blocked> -> tensor<32x128xi32, #blocked2>
//     %y = tt.gather %0[%1] {axis = 0 : i32, efficient_layout} : (tensor<32x128xf32, #blocked2>, tensor<32x128xi32, #blocked2>) -> tensor<32x128xf32, #blocked2>
//     %2 = ttg.convert_layout %y : tensor<32x128xf32, #blocked2> -> tensor<32x128xf32, #blocked>
//     tt.return %2 : tensor<32x128xf32, #blocked>
//   }
//   tt.func public @other_operation(%x: tensor<32x128xf32, #blocked>, %n: i32, %first: tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>)  : i32 {
//       %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
//       ^bb0(%a: f32, %b: f32):
//         %c = arith.maxnumf %a, %b : f32
//         tt.reduce.return %c : f32
//       }) : (tensor<32x128xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//       %m = arith.addf %acc, %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//       scf.yield %m : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     }
//     tt.return %r : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//   }
//   tt.func public @running_sum(%x: tensor<32x128xf32, #blocked>, %n: i32, %first: tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, %p: tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #blocked}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>)  : i32 {
//       tt.store %p, %acc : tensor<32x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #blocked}>>
//       %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
//       ^bb0(%a: f32, %b: f32):
//         %c = arith.addf %a, %b : f32
//         tt.reduce.return %c : f32
//       }) : (tensor<32x128xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//       %m = arith.addf %acc, %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//       scf.yield %m : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     }
//     tt.return %r : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//   }
//   tt.func public @one_element(%x: tensor<32x32xf32, #blocked3>, %n: i32, %first: tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %cst = arith.constant dense<-0.000000e+00> : tensor<32x32xf32, #blocked3>
//     %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %cst) -> (tensor<32x32xf32, #blocked3>)  : i32 {
//       %m = arith.addf %acc, %x : tensor<32x32xf32, #blocked3>
//       scf.yield %m : tensor<32x32xf32, #blocked3>
//     }
//     %s = "tt.reduce"(%r) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.addf %a, %b : f32
//       tt.reduce.return %c : f32
//     }) : (tensor<32x32xf32, #blocked3>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>
//     %0 = ttg.convert_layout %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>
//     %1 = arith.addf %0, %first : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>
//     tt.return %1 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>
//   }
// }
