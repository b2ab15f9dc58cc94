// RUN: optimize-cta-locality
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#rows1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The load is repeated: its other use keeps the old layout.
  tt.func public @two_uses(%p: !tt.ptr<f32>, %q: tensor<32x128x!tt.ptr<f32>, #rows>) -> tensor<32x128xf32, #columns> {
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #rows>
    %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #rows>
    tt.store %q, %x : tensor<32x128x!tt.ptr<f32>, #rows>
    %y = ttg.convert_layout %x : tensor<32x128xf32, #rows> -> tensor<32x128xf32, #columns>
    tt.return %y : tensor<32x128xf32, #columns>
  }
  // Stays: elements change threads, but not CTAs.
  tt.func public @within_a_cta(%p: !tt.ptr<f32>) -> tensor<32x128xf32, #rows1> {
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #rows>
    %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #rows>
    %y = ttg.convert_layout %x : tensor<32x128xf32, #rows> -> tensor<32x128xf32, #rows1>
    tt.return %y : tensor<32x128xf32, #rows1>
  }
  // Stays: an atomic must not be done twice.
  tt.func public @atomic(%p: tensor<32x128x!tt.ptr<f32>, #rows>, %v: tensor<32x128xf32, #rows>) -> tensor<32x128xf32, #columns> {
    %x = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (tensor<32x128x!tt.ptr<f32>, #rows>, tensor<32x128xf32, #rows>) -> tensor<32x128xf32, #rows>
    %y = ttg.convert_layout %x : tensor<32x128xf32, #rows> -> tensor<32x128xf32, #columns>
    tt.return %y : tensor<32x128xf32, #columns>
  }
  // Stays: there is nothing to recompute an argument from.
  tt.func public @argument(%x: tensor<32x128xf32, #rows>) -> tensor<32x128xf32, #columns> {
    %y = ttg.convert_layout %x : tensor<32x128xf32, #rows> -> tensor<32x128xf32, #columns>
    tt.return %y : tensor<32x128xf32, #columns>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[1, 0]]}>
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @two_uses(%p: !tt.ptr<f32>, %q: tensor<32x128x!tt.ptr<f32>, #blocked>) -> tensor<32x128xf32, #blocked1> {
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked1>
//     %base_0 = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #blocked1>
//     %x_1 = tt.load %base_0 : tensor<32x128x!tt.ptr<f32>, #blocked>
//     tt.store %q, %x_1 : tensor<32x128x!tt.ptr<f32>, #blocked>
//     tt.return %x : tensor<32x128xf32, #blocked1>
//   }
//   tt.func public @within_a_cta(%p: !tt.ptr<f32>) -> tensor<32x128xf32, #blocked2> {
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>, #blocked>
//     %x = tt.load %base : tensor<32x128x!tt.ptr<f32>, #blocked>
//     %y = ttg.convert_layout %x : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #blocked2>
//     tt.return %y : tensor<32x128xf32, #blocked2>
//   }
//   tt.func public @atomic(%p: tensor<32x128x!tt.ptr<f32>, #blocked>, %v: tensor<32x128xf32, #blocked>) -> tensor<32x128xf32, #blocked1> {
//     %x = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (tensor<32x128x!tt.ptr<f32>, #blocked>, tensor<32x128xf32, #blocked>) -> tensor<32x128xf32, #blocked>
//     %y = ttg.convert_layout %x : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #blocked1>
//     tt.return %y : tensor<32x128xf32, #blocked1>
//   }
//   tt.func public @argument(%x: tensor<32x128xf32, #blocked>) -> tensor<32x128xf32, #blocked1> {
//     %y = ttg.convert_layout %x : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #blocked1>
//     tt.return %y : tensor<32x128xf32, #blocked1>
//   }
// }
