// RUN: keep-rows, canonicalize, cse
#a = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!ps = tensor<1024x!tt.ptr<f16>, #a>
!xs = tensor<1024xf16, #a>
!is = tensor<1024xi32, #a>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Stores to a row and to an element: no iteration is kept where these could be in the row, except that the row itself
  // may be written in place. Elements that a load masks off have the value that it states.
  // CHECK-LABEL: @stores
  // CHECK-DAG: tt.ptr_to_int %x
  // CHECK-DAG: tt.ptr_to_int %y
  // CHECK-DAG: tt.ptr_to_int %s
  // CHECK: %[[START:[0-9a-z_]+]] = arith.select %[[APART:[0-9a-z_]+]], %c6144_i32, %c0
  // CHECK-NEXT: %[[END:[0-9a-z_]+]] = arith.select %[[APART]], %{{[0-9a-z_]+}}, %c0
  // CHECK: ttg.local_alloc
  // CHECK: scf.for %[[I:[0-9a-z_]+]] = %c0 to %[[END]]
  // CHECK-NOT: tt.load
  // CHECK: arith.divui
  // CHECK-NEXT: ttg.memdesc_index
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK: ttg.async_commit_group
  // CHECK-NEXT: ttg.async_wait
  // CHECK: scf.for %i = %c0 to %[[END]]
  // CHECK-NOT: tt.load
  // CHECK: ttg.local_load
  // CHECK: scf.for %i = %[[START]] to %n
  // CHECK: tt.load
  // CHECK: tt.store %s
  // CHECK: scf.for %i = %c0 to %[[END]]
  // CHECK-NOT: tt.load
  // CHECK: %[[K:[0-9a-z_]+]] = ttg.local_load
  // CHECK: arith.select %{{.*}}, %[[K]], %ones
  // CHECK: tt.store
  // CHECK: scf.for %i = %[[START]] to %n
  // CHECK: tt.load
  // CHECK: tt.store
  // CHECK: ttg.local_dealloc
  tt.func public @stores(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16>, %s: !tt.ptr<f16>, %n: i32 {tt.divisibility = 16 : i32}, %value: f16) {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %ones = arith.constant dense<1.000000e+00> : !xs
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : !is
    %bound = tt.splat %n : i32 -> !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %py = tt.splat %y : !tt.ptr<f16> -> !ps
    %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %mask = arith.cmpi slt, %cols, %bound : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p, %mask, %zeros : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    tt.store %s, %value : !tt.ptr<f16>
    scf.for %i = %c0 to %n step %c1024 : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %mask = arith.cmpi slt, %cols, %bound : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p, %mask, %ones : !ps
      %w = arith.subf %v, %sum : !xs
      %q = tt.addptr %py, %cols : !ps, !is
      tt.store %q, %w, %mask : !ps
    }
    tt.return
  }
  // Not what the iteration before computes: the addresses are not known before the loop.
  // CHECK-LABEL: @carried
  // CHECK-NOT: ttg.local_alloc
  tt.func public @carried(%px: !ps, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %by = arith.constant dense<1024> : !is
    %sum:2 = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %zeros, %p = %px) -> (!xs, !ps) : i32 {
      %v = tt.load %p : !ps
      %t = arith.addf %a, %v : !xs
      %next = tt.addptr %p, %by : !ps, !is
      scf.yield %t, %next : !xs, !ps
    }
    %all:2 = scf.for %i = %c0 to %n step %c1024 iter_args(%p = %px, %a = %zeros) -> (!ps, !xs) : i32 {
      %v = tt.load %p : !ps
      %w = arith.subf %v, %sum#0 : !xs
      %t = arith.addf %a, %w : !xs
      %next = tt.addptr %p, %by : !ps, !is
      scf.yield %next, %t : !ps, !xs
    }
    tt.return %all#1 : !xs
  }
  // Not a volatile load, nor with an atomic operation between the loads, or a store by unknown addresses.
  // CHECK-LABEL: @volatile
  // CHECK-NOT: ttg.local_alloc
  tt.func public @volatile(%px: !ps, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %zeros) -> (!xs) : i32 {
      %v = tt.load %px : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    %all = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %sum) -> (!xs) : i32 {
      %v = tt.load %px {isVolatile = true} : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %all : !xs
  }
  // CHECK-LABEL: @atomic
  // CHECK-NOT: ttg.local_alloc
  tt.func public @atomic(%px: !ps, %s: !tt.ptr<i32>, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %true = arith.constant true
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %zeros) -> (!xs) : i32 {
      %v = tt.load %px : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    %old = tt.atomic_rmw add, acq_rel, gpu, %s, %n, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %all = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %sum) -> (!xs) : i32 {
      %v = tt.load %px : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %all : !xs
  }
  // CHECK-LABEL: @scattered
  // CHECK-NOT: ttg.local_alloc
  tt.func public @scattered(%px: !ps, %py: !ps, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %sum = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %zeros) -> (!xs) : i32 {
      %v = tt.load %px : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    tt.store %py, %sum : !ps
    %all = scf.for %i = %c0 to %n step %c1024 iter_args(%a = %sum) -> (!xs) : i32 {
      %v = tt.load %px : !ps
      %t = arith.addf %a, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %all : !xs
  }
}
