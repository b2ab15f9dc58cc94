// RUN: assign-cga-layouts, remove-layout-conversions
#halves = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Rule axis: a scan along columns that were split over the CTAs. Load and store follow.
  tt.func public @scan(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #halves>
    %to = tt.splat %q : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #halves>
    %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #halves>
    %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<32x128xf32, #halves>) -> tensor<32x128xf32, #halves>
    tt.store %to, %s : tensor<32x128x!tt.ptr<f32>, #halves>
    tt.return
  }
  // Stays: each CTA has whole rows already.
  tt.func public @whole_rows(%p: !tt.ptr<f32>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #rows>
    %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #rows>
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
  // Stays: elementwise operations combine nothing along an axis.
  tt.func public @elementwise(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #halves>
    %to = tt.splat %q : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #halves>
    %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #halves>
    %y = arith.negf %x : tensor<32x128xf32, #halves>
    tt.store %to, %y : tensor<32x128x!tt.ptr<f32>, #halves>
    tt.return
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @scan(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
//     %0 = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     %x = tt.load %0 : tensor<32x128x!tt.ptr<f32>, #blocked>
//     %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.addf %a, %b : f32
//       tt.scan.return %c : f32
//     }) : (tensor<32x128xf32, #blocked>) -> tensor<32x128xf32, #blocked>
//     %1 = tt.splat %q : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     tt.store %1, %s : tensor<32x128x!tt.ptr<f32>, #blocked>
//     tt.return
//   }
//   tt.func public @whole_rows(%p: !tt.ptr<f32>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #blocked>
//     %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %c = arith.addf %a, %b : f32
//       tt.reduce.return %c : f32
//     }) : (tensor<32x128xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//     tt.return %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
//   }
//   tt.func public @elementwise(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked1>
//     %to = tt.splat %q : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked1>
//     %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #blocked1>
//     %y = arith.negf %x : tensor<32x128xf32, #blocked1>
//     tt.store %to, %y : tensor<32x128x!tt.ptr<f32>, #blocked1>
//     tt.return
//   }
// }
