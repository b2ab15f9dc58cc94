// RUN: optimize-accumulator-init
// Accumulators that dots initialize.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A select is a reset, too. The result is zero where the last iteration reset it.
  // CHECK-LABEL: @select_after
  // CHECK: %[[D:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[ADD:.*]] = %false)
  // CHECK: %[[R:.*]] = ttng.warp_group_dot %a, %b, %[[ACC]], %[[ADD]]
  // CHECK-NEXT: %[[MORE:.*]] = arith.select %p, %false, %true
  // CHECK-NEXT: scf.yield %[[R]], %[[MORE]]
  // CHECK: arith.select %[[D]]#1, %[[D]]#0, %{{.*}}
  tt.func public @select_after(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %next = arith.select %p, %zero, %r : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // It may be the other choice.
  // CHECK-LABEL: @otherwise
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: arith.select %p, %true, %false
  tt.func public @otherwise(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %next = arith.select %p, %r, %zero : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // What the loop begins with is added to, if it is not zero.
  // CHECK-LABEL: @from_elsewhere
  // CHECK: iter_args(%{{.*}} = %x, %{{.*}} = %true)
  tt.func public @from_elsewhere(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1, %x: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %next = arith.select %p, %zero, %r : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // A reset in front of the product is for this one; the flag is true behind it.
  // CHECK-LABEL: @before
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[ADD:.*]] = %false)
  // CHECK-NEXT: %[[NOW:.*]] = arith.select %p, %false, %[[ADD]]
  // CHECK-NEXT: %[[R:.*]] = ttng.warp_group_dot %a, %b, %[[ACC]], %[[NOW]]
  // CHECK-NEXT: scf.yield %[[R]], %true
  tt.func public @before(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %c = arith.select %p, %zero, %acc : tensor<64x64xf32, #mma>
      %r = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // Who reads the sum would see the old one.
  // CHECK-LABEL: @read
  // CHECK: ttng.warp_group_dot %a, %b, %acc :
  // CHECK: tt.return
  tt.func public @read(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      tt.print "sum" {hex = false, isSigned = array<i32: 0>} : %acc : tensor<64x64xf32, #mma>
      %next = arith.select %p, %zero, %r : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // Another value is no reset.
  // CHECK-LABEL: @no_zero
  // CHECK: ttng.warp_group_dot %a, %b, %acc :
  // CHECK: tt.return
  tt.func public @no_zero(%n: i32, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %p: i1, %x: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %next = arith.select %p, %x, %r : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
