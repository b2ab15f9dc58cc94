// RUN: assign-latencies{num-stages=4}, schedule-loops, amd-pipeline, canonicalize, cse
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Four stages: three buffers, used in turn; three loads are in flight.
  // CHECK-LABEL: @stages
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf16
  // CHECK-COUNT-3: tt.load
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK: ttg.local_load
  // CHECK: tt.dot
  // CHECK: ttg.local_store
  // CHECK: scf.yield
  // CHECK: scf.if
  // CHECK: tt.dot
  tt.func public @stages(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x32xf16, #b>, %z: tensor<32x32xf32, #mma>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<32> : tensor<32x32xi32, #blocked>
    %row = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rows = tt.expand_dims %row {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %at = tt.broadcast %rows : tensor<1x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %ptrs = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %first = tt.addptr %ptrs, %at : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %acc, %last = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z, %q = %first) -> (tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>) : i32 {
      %v = tt.load %q : tensor<32x32x!tt.ptr<f16>, #blocked>
      %x = ttg.convert_layout %v : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
      %d = tt.dot %x, %y, %c : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %r = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %d, %r : tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %acc : tensor<32x32xf32, #mma>
  }
}
