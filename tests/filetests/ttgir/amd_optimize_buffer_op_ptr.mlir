// RUN: amd-optimize-buffer-op-ptr
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Offsets that begin below zero would leave the buffer: the loop stays.
  // CHECK-LABEL: @negative
  // CHECK: amdg.buffer_store %x, %a{{\[}}%o]
  tt.func public @negative(%a: !tt.ptr<f32>, %x: tensor<256xf32, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %first = arith.constant dense<-64> : tensor<256xi32, #blocked>
    %step = arith.constant dense<64> : tensor<256xi32, #blocked>
    %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%o = %first) -> (tensor<256xi32, #blocked>) : i32 {
      amdg.buffer_store %x, %a[%o] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
      %next = arith.addi %o, %step : tensor<256xi32, #blocked>
      scf.yield %next : tensor<256xi32, #blocked>
    }
    tt.return
  }
  // An access of the sum uses the base of the next iteration.
  // CHECK-LABEL: @sum
  // CHECK: scf.for {{.*}} iter_args({{.*}}, [[B:%[a-z0-9_]+]] = %a)
  // CHECK-NEXT: [[N:%[a-z0-9_]+]] = tt.addptr [[B]],
  // CHECK: amdg.buffer_store %x, [[N]]{{\[}}%first]
  // CHECK: scf.yield {{.*}}, [[N]]
  tt.func public @sum(%a: !tt.ptr<f32>, %x: tensor<256xf32, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %first = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %step = arith.constant dense<64> : tensor<256xi32, #blocked>
    %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%o = %first) -> (tensor<256xi32, #blocked>) : i32 {
      %next = arith.addi %o, %step : tensor<256xi32, #blocked>
      amdg.buffer_store %x, %a[%next] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
      scf.yield %next : tensor<256xi32, #blocked>
    }
    tt.return
  }
  // Steps that are not the same for all elements, or not known before the loop, stay.
  // CHECK-LABEL: @different
  // CHECK: amdg.buffer_store %x, %a{{\[}}%o]
  tt.func public @different(%a: !tt.ptr<f32>, %x: tensor<256xf32, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %first = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%o = %first) -> (tensor<256xi32, #blocked>) : i32 {
      amdg.buffer_store %x, %a[%o] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
      %next = arith.addi %o, %first : tensor<256xi32, #blocked>
      scf.yield %next : tensor<256xi32, #blocked>
    }
    tt.return
  }
}
