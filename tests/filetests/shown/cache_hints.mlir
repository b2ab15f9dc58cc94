// RUN: cache-hints
// The second loop adds the sum of a row to it, and reads the row for the last time.
#a = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @center(%x: !tt.ptr<f16>, %n: i32) -> tensor<4096xf16, #a> {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : tensor<4096xf16, #a>
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #a>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>, #a>
    %sum = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (tensor<4096xf16, #a>) : i32 {
      %start = tt.splat %i : i32 -> tensor<4096xi32, #a>
      %cols = arith.addi %start, %range : tensor<4096xi32, #a>
      %p = tt.addptr %xs, %cols : tensor<4096x!tt.ptr<f16>, #a>, tensor<4096xi32, #a>
      %v = tt.load %p : tensor<4096x!tt.ptr<f16>, #a>
      %t = arith.addf %s, %v : tensor<4096xf16, #a>
      scf.yield %t : tensor<4096xf16, #a>
    }
    %all = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %sum) -> (tensor<4096xf16, #a>) : i32 {
      %start = tt.splat %i : i32 -> tensor<4096xi32, #a>
      %cols = arith.addi %start, %range : tensor<4096xi32, #a>
      %p = tt.addptr %xs, %cols : tensor<4096x!tt.ptr<f16>, #a>, tensor<4096xi32, #a>
      %v = tt.load %p : tensor<4096x!tt.ptr<f16>, #a>
      %t = arith.addf %s, %v : tensor<4096xf16, #a>
      scf.yield %t : tensor<4096xf16, #a>
    }
    tt.return %all : tensor<4096xf16, #a>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @center(%x: !tt.ptr<f16>, %n: i32) -> tensor<4096xf16, #blocked> {
//     %c0 = arith.constant 0 : i32
//     %c4096 = arith.constant 4096 : i32
//     %zeros = arith.constant dense<0.000000e+00> : tensor<4096xf16, #blocked>
//     %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #blocked>
//     %xs = tt.splat %x : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>, #blocked>
//     %sum = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (tensor<4096xf16, #blocked>)  : i32 {
//       %start = tt.splat %i : i32 -> tensor<4096xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<4096xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<4096x!tt.ptr<f16>, #blocked>, tensor<4096xi32, #blocked>
//       %v = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : tensor<4096x!tt.ptr<f16>, #blocked>
//       %t = arith.addf %s, %v : tensor<4096xf16, #blocked>
//       scf.yield %t : tensor<4096xf16, #blocked>
//     }
//     %all = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %sum) -> (tensor<4096xf16, #blocked>)  : i32 {
//       %start = tt.splat %i : i32 -> tensor<4096xi32, #blocked>
//       %cols = arith.addi %start, %range : tensor<4096xi32, #blocked>
//       %p = tt.addptr %xs, %cols : tensor<4096x!tt.ptr<f16>, #blocked>, tensor<4096xi32, #blocked>
//       %v = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<4096x!tt.ptr<f16>, #blocked>
//       %t = arith.addf %s, %v : tensor<4096xf16, #blocked>
//       scf.yield %t : tensor<4096xf16, #blocked>
//     }
//     tt.return %all : tensor<4096xf16, #blocked>
//   }
// }
