// RUN: async-dots
// WGMMAs that stay in flight across iterations, and where each is waited for.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 1, parent = #mma}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two products that add to one sum: none waits for the other.
  // CHECK-LABEL: @chained
  // CHECK: scf.for
  // CHECK: %[[R:.*]] = ttng.warp_group_dot %{{.*}} {isAsync = true}
  // CHECK-NEXT: %[[S:.*]] = ttng.warp_group_dot %{{.*}}, %[[R]] {isAsync = true}
  // CHECK-NEXT: %[[W:.*]]:3 = ttng.warp_group_dot_wait %[[S]], {{.*}} {pendings = 2 : i32}
  // CHECK-NEXT: scf.yield %[[W]]#0
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  tt.func public @chained(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %s = ttng.warp_group_dot %b, %a, %r : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %s : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
  // The second product needs the first: that is waited for where it is read, and with it the second one of the iteration before.
  // CHECK-LABEL: @attention
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = 
  // CHECK: %[[Q:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]]:4 = ttng.warp_group_dot_wait %[[Q]], %[[ACC]], {{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: math.exp2 %[[W]]#0
  // CHECK-NEXT: arith.mulf %[[W]]#1
  // CHECK: %[[R:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: scf.yield %[[R]]
  // CHECK: ttng.warp_group_dot_wait
  tt.func public @attention(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %q = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %e = math.exp2 %q : tensor<64x64xf32, #mma>
      %scaled = arith.mulf %acc, %scale : tensor<64x64xf32, #mma>
      %h = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %p1 = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %r = ttng.warp_group_dot %p1, %b, %scaled : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
  // The product of the next iteration is begun before the one of this: only the first is waited for by its reader, the other goes on under that.
  // CHECK-LABEL: @ahead
  // CHECK: %[[Q:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[R:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]]:3 = ttng.warp_group_dot_wait %[[Q]], {{.*}} {pendings = 1 : i32}
  // CHECK-NEXT: math.exp2 %[[W]]#0
  // CHECK-NEXT: %[[V:.*]]:2 = ttng.warp_group_dot_wait %[[R]], {{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: arith.mulf %[[V]]#0
  // CHECK-NOT: ttng.warp_group_dot_wait
  tt.func public @ahead(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>, %h: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x, %probs = %h) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %q = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %r = ttng.warp_group_dot %probs, %b, %acc : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %e = math.exp2 %q : tensor<64x64xf32, #mma>
      %scaled = arith.mulf %r, %e : tensor<64x64xf32, #mma>
      %h1 = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %p1 = ttg.convert_layout %h1 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      scf.yield %scaled, %p1 : tensor<64x64xf32, #mma>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    }
    tt.return %d#0, %d#1 : tensor<64x64xf32, #mma>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  }
  // What the next iteration reads before it makes it anew flies until then.
  // CHECK-LABEL: @read_next
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = 
  // CHECK-NEXT: %[[W:.*]] = ttng.warp_group_dot_wait %[[ACC]] {pendings = 0 : i32}
  // CHECK-NEXT: arith.mulf %[[W]]
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: scf.yield
  // CHECK: ttng.warp_group_dot_wait
  tt.func public @read_next(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %half = arith.mulf %acc, %scale : tensor<64x64xf32, #mma>
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %half : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
  // Sums that change places would be copied: both are waited for in the iteration.
  // CHECK-LABEL: @swapped
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: scf.yield
  // CHECK-NOT: ttng.warp_group_dot_wait
  tt.func public @swapped(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %u : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %s = ttng.warp_group_dot %b, %a, %v : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %s, %r : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %d#0, %d#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }
  // So would one that is carried twice.
  // CHECK-LABEL: @twice
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: scf.yield
  // CHECK-NOT: ttng.warp_group_dot_wait
  tt.func public @twice(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %u : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %r, %r : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %d#0, %d#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }
  // A branch that may read it waits, and so does nobody if it is not taken.
  // CHECK-LABEL: @in_branch
  // CHECK: %[[R:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]]:3 = ttng.warp_group_dot_wait %[[R]], {{.*}} {pendings = 1 : i32}
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: %[[V:.*]]:3 = ttng.warp_group_dot_wait %[[W]]#0, {{.*}} {pendings = 0 : i32, warpGroupLocal}
  // CHECK-NEXT: math.exp2 %[[V]]#0
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[W]]#0
  tt.func public @in_branch(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %t = scf.if %p -> (tensor<64x64xf32, #mma>) {
        %e = math.exp2 %r : tensor<64x64xf32, #mma>
        scf.yield %e : tensor<64x64xf32, #mma>
      } else {
        scf.yield %r : tensor<64x64xf32, #mma>
      }
      scf.yield %t : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
  // What is needed behind such a branch, the branch hands on: from the registers in which it waited for it.
  // CHECK-LABEL: @behind_branch
  // CHECK: %[[R:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]]:3 = ttng.warp_group_dot_wait %[[R]], {{.*}} {pendings = 1 : i32}
  // CHECK-NEXT: %[[T:.*]] = scf.if %p -> (tensor<64x64xf32, #mma>) {
  // CHECK-NEXT: %[[V:.*]]:3 = ttng.warp_group_dot_wait %[[W]]#0, {{.*}} {pendings = 0 : i32, warpGroupLocal}
  // CHECK-NEXT: tt.print{{.*}}%[[V]]#0
  // CHECK-NEXT: scf.yield %[[V]]#0
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[W]]#0
  // CHECK: scf.yield %[[T]]
  tt.func public @behind_branch(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %p: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.if %p {
        tt.print "sum" {hex = false, isSigned = array<i32: 0>} : %r : tensor<64x64xf32, #mma>
      }
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // A branch that makes another value would write its registers: everyone waits in front.
  // CHECK-LABEL: @other_branch
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: scf.if
  tt.func public @other_branch(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %r = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %t = scf.if %p -> (tensor<64x64xf32, #mma>) {
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %r : tensor<64x64xf32, #mma>
      }
      scf.yield %t : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
  // Memory that the loop writes elsewhere is waited for before that.
  // CHECK-LABEL: @one_buffer
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_store
  tt.func public @one_buffer(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>, %h: tensor<64x64xf16, #mma>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      ttg.local_store %h, %m : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
  // Operands in registers are made anew behind the wait.
  // CHECK-LABEL: @registers
  // CHECK: ttg.local_load
  // CHECK-NEXT: %[[ACC:.*]] = ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[ACC]] {
  // CHECK-NEXT: scf.yield
  tt.func public @registers(%n: i32, %as: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %bs: !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf32, #mma>, %y: tensor<64x64xf32, #mma>, %p: i1, %scale: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d:1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = ttg.memdesc_index %as[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %b = ttg.memdesc_index %bs[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %l = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %l2 = arith.addf %l, %l : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %r = ttng.warp_group_dot %l2, %b, %acc : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }
}
