// RUN: amd-convert-to-buffer-ops, canonicalize, cse
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Two pointers that change places in each iteration have different bases: they stay.
  // CHECK-LABEL: @swapped
  // CHECK-NOT: buffer_load
  // CHECK: tt.load
  // CHECK-LABEL: @same_base
  tt.func public @swapped(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %b: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %n: i32) -> tensor<256xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<256xf32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %as, %q = %bs, %s = %z) -> (tensor<256x!tt.ptr<f32>, #blocked>, tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>) : i32 {
      %x = tt.load %p : tensor<256x!tt.ptr<f32>, #blocked>
      %t = arith.addf %s, %x : tensor<256xf32, #blocked>
      scf.yield %q, %p, %t : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>
    }
    tt.return %r#2 : tensor<256xf32, #blocked>
  }
  // Of one base, they become offsets that change places.
  // CHECK: scf.for {{.*}} iter_args({{.*}}, [[P:%[a-z0-9_]+]] = %cst, [[Q:%[a-z0-9_]+]] = %{{[0-9]+}})
  // CHECK: amdg.buffer_load %a{{\[}}[[P]]] : !tt.ptr<f32>
  // CHECK: scf.yield {{.*}}, [[Q]], [[P]] :
  tt.func public @same_base(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %at: tensor<256xi64, #blocked>, %n: i32) -> tensor<256xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<256xf32, #blocked>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %bs = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi64, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %as, %q = %bs, %s = %z) -> (tensor<256x!tt.ptr<f32>, #blocked>, tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>) : i32 {
      %x = tt.load %p : tensor<256x!tt.ptr<f32>, #blocked>
      %t = arith.addf %s, %x : tensor<256xf32, #blocked>
      scf.yield %q, %p, %t : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>
    }
    tt.return %r#2 : tensor<256xf32, #blocked>
  }
  // The offset of a scalar pointer is one of all elements.
  // CHECK-LABEL: @scalar
  // CHECK: [[AT:%[a-z0-9_]+]] = tt.splat %o : i32
  // CHECK: amdg.buffer_store %x, %a{{\[}}[[AT]]], %m : !tt.ptr<f32>
  tt.func public @scalar(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %o: i32, %x: tensor<256xf32, #blocked>, %m: tensor<256xi1, #blocked>) {
    %p = tt.addptr %a, %o : !tt.ptr<f32>, i32
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    tt.store %ps, %x, %m : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // Volatile accesses, and those with a cache policy, stay.
  // CHECK-LABEL: @volatile
  // CHECK: tt.load
  // CHECK: tt.store
  tt.func public @volatile(%a: !tt.ptr<f32> {tt.pointer_range = 32 : i32}) {
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %x = tt.load %as {isVolatile = true} : tensor<256x!tt.ptr<f32>, #blocked>
    tt.store %as, %x cacheModifier = cs : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
