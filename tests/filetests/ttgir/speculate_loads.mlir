// RUN: speculate-loads
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both branches; a barrier and a store elsewhere do not matter, nor do the operations that compute the sum.
  // CHECK-LABEL: @both
  // CHECK: tt.atomic_rmw
  // CHECK-NEXT: arith.cmpi
  // CHECK-NEXT: tt.load %p
  // CHECK-NEXT: tt.load %q, %mask
  // CHECK-NEXT: scf.if
  tt.func public @both(%count: !tt.ptr<i32>, %p: tensor<128x!tt.ptr<f32>>, %q: tensor<128x!tt.ptr<f32>>, %mask: tensor<128xi1>) {
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %n = tt.atomic_rmw add, relaxed, gpu, %count, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %first = arith.cmpi eq, %n, %zero : i32
    %s = scf.if %first -> (tensor<128xf32>) {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      scf.yield %x : tensor<128xf32>
    } else {
      %x = tt.load %q, %mask : tensor<128x!tt.ptr<f32>>
      %y = arith.addf %x, %x : tensor<128xf32>
      scf.yield %y : tensor<128xf32>
    }
    tt.store %q, %s, %mask : tensor<128x!tt.ptr<f32>>
    ttg.barrier all
    tt.store %p, %s : tensor<128x!tt.ptr<f32>>
    tt.return
  }
  // A condition that an atomic load gives depends on memory as well.
  // CHECK-LABEL: @after_an_atomic_load
  // CHECK: tt.atomic_load
  // CHECK-NEXT: tt.load %p
  // CHECK-NEXT: scf.if
  tt.func public @after_an_atomic_load(%flag: !tt.ptr<i1>, %p: tensor<128x!tt.ptr<f32>>, %v: tensor<128xf32>) {
    %set = tt.atomic_load acquire, gpu, %flag : (!tt.ptr<i1>) -> i1
    %s = scf.if %set -> (tensor<128xf32>) {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      scf.yield %x : tensor<128xf32>
    } else {
      scf.yield %v : tensor<128xf32>
    }
    tt.store %p, %s : tensor<128x!tt.ptr<f32>>
    tt.return
  }
  // Fewer elements are written than are read: the others might be out of bounds.
  // CHECK-LABEL: @other_mask
  // CHECK: scf.if
  // CHECK-NEXT: tt.load %p :
  tt.func public @other_mask(%count: !tt.ptr<i1>, %p: tensor<128x!tt.ptr<f32>>, %mask: tensor<128xi1>, %v: tensor<128xf32>) {
    %first = tt.load %count : !tt.ptr<i1>
    %s = scf.if %first -> (tensor<128xf32>) {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      scf.yield %x : tensor<128xf32>
    } else {
      scf.yield %v : tensor<128xf32>
    }
    tt.store %p, %s, %mask : tensor<128x!tt.ptr<f32>>
    tt.return
  }
  // A read after a write in the branch is kept; a condition known early gains nothing.
  // CHECK-LABEL: @written
  // CHECK: scf.if %first
  // CHECK-NEXT: tt.store %q
  // CHECK-NEXT: tt.load %p
  // CHECK: scf.if %known
  // CHECK-NEXT: tt.load %p
  tt.func public @written(%count: !tt.ptr<i1>, %known: i1, %p: tensor<128x!tt.ptr<f32>>, %q: tensor<128x!tt.ptr<f32>>, %v: tensor<128xf32>) {
    %first = tt.load %count : !tt.ptr<i1>
    %s = scf.if %first -> (tensor<128xf32>) {
      tt.store %q, %v : tensor<128x!tt.ptr<f32>>
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      scf.yield %x : tensor<128xf32>
    } else {
      scf.yield %v : tensor<128xf32>
    }
    tt.store %p, %s : tensor<128x!tt.ptr<f32>>
    %t = scf.if %known -> (tensor<128xf32>) {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      scf.yield %x : tensor<128xf32>
    } else {
      scf.yield %v : tensor<128xf32>
    }
    tt.store %p, %t : tensor<128x!tt.ptr<f32>>
    tt.return
  }
  // After an operation that may end the program there might be no store.
  // CHECK-LABEL: @asserted
  // CHECK: scf.if
  // CHECK-NEXT: tt.load %p
  tt.func public @asserted(%count: !tt.ptr<i1>, %p: tensor<128x!tt.ptr<f32>>, %fine: tensor<128xi1>, %v: tensor<128xf32>) {
    %first = tt.load %count : !tt.ptr<i1>
    %s = scf.if %first -> (tensor<128xf32>) {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      scf.yield %x : tensor<128xf32>
    } else {
      scf.yield %v : tensor<128xf32>
    }
    tt.assert %fine, "fine" : tensor<128xi1>
    tt.store %p, %s : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
