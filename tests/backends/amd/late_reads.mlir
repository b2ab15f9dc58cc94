#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Sum over tiles x of x + x @ x^T; the second read of the buffer is a stage later than the first.
  tt.func public @gram(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %step = arith.constant dense<1024> : tensor<32x32xi32, #blocked>
    %width = arith.constant dense<32> : tensor<32x1xi32, #blocked>
    %row = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32x1xi32, #blocked>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %down = arith.muli %rows, %width : tensor<32x1xi32, #blocked>
    %wide = tt.broadcast %down : tensor<32x1xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %along = tt.broadcast %columns : tensor<1x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %at = arith.addi %wide, %along : tensor<32x32xi32, #blocked>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %first = tt.addptr %base, %at : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %acc:2, %last = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %d = %zero, %q = %first) -> (tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>) : i32 {
      %v = tt.load %q {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %buffer = ttg.local_alloc %v {loop.stage = 1 : i32, loop.cluster = 0 : i32} : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
      %turned = ttg.memdesc_trans %buffer {order = array<i32: 1, 0>, loop.stage = 1 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<32x32xf16, #shared, #smem> -> !ttg.memdesc<32x32xf16, #shared1, #smem>
      %x = ttg.local_load %buffer {loop.stage = 1 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #mma>
      %w = arith.extf %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<32x32xf16, #mma> to tensor<32x32xf32, #mma>
      %c2 = arith.addf %c, %w {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<32x32xf32, #mma>
      %y = ttg.local_load %buffer {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
      %z = ttg.local_load %turned {loop.stage = 2 : i32, loop.cluster = 0 : i32} : !ttg.memdesc<32x32xf16, #shared1, #smem> -> tensor<32x32xf16, #b>
      %d2 = tt.dot %y, %z, %d {loop.stage = 2 : i32, loop.cluster = 0 : i32} : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %r = tt.addptr %q, %step {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %c2, %d2, %r : tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>, tensor<32x32x!tt.ptr<f16>, #blocked>
    } {tt.scheduled_max_stage = 2 : i32}
    %sum = arith.addf %acc#0, %acc#1 : tensor<32x32xf32, #mma>
    %result = ttg.convert_layout %sum : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
    %to = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #blocked>
    %target = tt.addptr %to, %at : tensor<32x32x!tt.ptr<f32>, #blocked>, tensor<32x32xi32, #blocked>
    tt.store %target, %result : tensor<32x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
