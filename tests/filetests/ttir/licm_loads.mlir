// RUN: licm
// Loads leave a loop that may not run under the condition that it does; each mask is kept, what follows comes along.
tt.func public @guarded(%p: tensor<8x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %lb: i32, %ub: i32, %m: tensor<8xi1>, %o: tensor<8xf32>) {
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %lb to %ub step %c1 iter_args(%a = %o) -> (tensor<8xf32>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %w = tt.load %p, %m, %o cacheModifier = ca : tensor<8x!tt.ptr<f32>>
    %s = tt.load %q : !tt.ptr<f32>
    %t = tt.splat %s : f32 -> tensor<8xf32>
    %x = arith.addf %v, %w : tensor<8xf32>
    %y = arith.addf %x, %t : tensor<8xf32>
    %z = arith.addf %a, %y : tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  tt.store %p, %r : tensor<8x!tt.ptr<f32>>
  tt.return
}
// The first region of a while always runs, the second may not.
tt.func public @while(%q: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %w = scf.while (%a = %c0) : (i32) -> i32 {
    %limit = tt.load %q : !tt.ptr<i32>
    %d = arith.divsi %n, %limit : i32
    %go = arith.cmpi slt, %a, %d : i32
    scf.condition(%go) %a : i32
  } do {
  ^bb0(%b: i32):
    %v = tt.load %q : !tt.ptr<i32>
    %e = arith.addi %v, %b : i32
    scf.yield %e : i32
  }
  tt.store %q, %w : !tt.ptr<i32>
  tt.return
}
// A branch moves as a whole if nothing in it traps.
tt.func public @branch(%q: !tt.ptr<i32>, %c: i1, %n: i32, %ub: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    %x = scf.if %c -> (i32) {
      %y = arith.muli %n, %n : i32
      scf.yield %y : i32
    } else {
      scf.yield %n : i32
    }
    %d = scf.if %c -> (i32) {
      %y = arith.divsi %c1, %n : i32
      scf.yield %y : i32
    } else {
      scf.yield %n : i32
    }
    %e = arith.addi %x, %d : i32
    %f = arith.addi %e, %i : i32
    tt.store %q, %f : !tt.ptr<i32>
  }
  tt.return
}
// Nothing passes a store, an atomic, a print or an assertion; a volatile load does not move; nor one under a branch.
tt.func public @stays(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %ub: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %ub step %c1 : i32 {
    %v = tt.load %q : !tt.ptr<i32>
    tt.store %p, %v : !tt.ptr<i32>
  }
  %r:3 = scf.for %i = %c0 to %ub step %c1 iter_args(%a = %c0, %b = %c0, %d = %c0) -> (i32, i32, i32) : i32 {
    %v = tt.load %q {isVolatile = true} : !tt.ptr<i32>
    %w = scf.if %c -> (i32) {
      %x = tt.load %q : !tt.ptr<i32>
      scf.yield %x : i32
    } else {
      scf.yield %c0 : i32
    }
    scf.yield %v, %w, %a : i32, i32, i32
  }
  scf.for %i = %c0 to %ub step %c1 : i32 {
    %v = tt.load %q : !tt.ptr<i32>
    tt.print " v: " {hex = false, isSigned = array<i32: 1>} : %v : i32
  }
  scf.for %i = %c0 to %ub step %c1 : i32 {
    tt.assert %c, "c" : i1
    %v = tt.load %q : !tt.ptr<i32>
    %w = arith.addi %v, %i : i32
  }
  tt.store %q, %r#0 : !tt.ptr<i32>
  tt.store %q, %r#1 : !tt.ptr<i32>
  tt.store %q, %r#2 : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @guarded(%p: tensor<8x!tt.ptr<f32>>, %q: !tt.ptr<f32>, %lb: i32, %ub: i32, %m: tensor<8xi1>, %o: tensor<8xf32>) {
//     %c1 = arith.constant 1 : i32
//     %0 = arith.cmpi slt, %lb, %ub : i32
//     %1 = tt.splat %0 : i1 -> tensor<8xi1>
//     %v = tt.load %p, %1 : tensor<8x!tt.ptr<f32>>
//     %2 = arith.cmpi slt, %lb, %ub : i32
//     %3 = tt.splat %2 : i1 -> tensor<8xi1>
//     %4 = arith.andi %3, %m : tensor<8xi1>
//     %w = tt.load %p, %4, %o {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
//     %5 = arith.cmpi slt, %lb, %ub : i32
//     %s = tt.load %q, %5 : !tt.ptr<f32>
//     %t = tt.splat %s : f32 -> tensor<8xf32>
//     %x = arith.addf %v, %w : tensor<8xf32>
//     %y = arith.addf %x, %t : tensor<8xf32>
//     %r = scf.for %i = %lb to %ub step %c1 iter_args(%a = %o) -> (tensor<8xf32>)  : i32 {
//       %z = arith.addf %a, %y : tensor<8xf32>
//       scf.yield %z : tensor<8xf32>
//     }
//     tt.store %p, %r : tensor<8x!tt.ptr<f32>>
//     tt.return
//   }
//   tt.func public @while(%q: !tt.ptr<i32>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %limit = tt.load %q : !tt.ptr<i32>
//     %d = arith.divsi %n, %limit : i32
//     %w = scf.while (%a = %c0) : (i32) -> i32 {
//       %go = arith.cmpi slt, %a, %d : i32
//       scf.condition(%go) %a : i32
//     } do {
//     ^bb0(%b: i32):
//       %v = tt.load %q : !tt.ptr<i32>
//       %e = arith.addi %v, %b : i32
//       scf.yield %e : i32
//     }
//     tt.store %q, %w : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @branch(%q: !tt.ptr<i32>, %c: i1, %n: i32, %ub: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %x = scf.if %c -> (i32) {
//       %y = arith.muli %n, %n : i32
//       scf.yield %y : i32
//     } else {
//       scf.yield %n : i32
//     }
//     scf.for %i = %c0 to %ub step %c1  : i32 {
//       %d = scf.if %c -> (i32) {
//         %y = arith.divsi %c1, %n : i32
//         scf.yield %y : i32
//       } else {
//         scf.yield %n : i32
//       }
//       %e = arith.addi %x, %d : i32
//       %f = arith.addi %e, %i : i32
//       tt.store %q, %f : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func public @stays(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %ub: i32, %c: i1) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     scf.for %i = %c0 to %ub step %c1  : i32 {
//       %v = tt.load %q : !tt.ptr<i32>
//       tt.store %p, %v : !tt.ptr<i32>
//     }
//     %r:3 = scf.for %i = %c0 to %ub step %c1 iter_args(%a = %c0, %b = %c0, %d = %c0) -> (i32, i32, i32)  : i32 {
//       %v = tt.load %q {isVolatile = true} : !tt.ptr<i32>
//       %w = scf.if %c -> (i32) {
//         %x = tt.load %q : !tt.ptr<i32>
//         scf.yield %x : i32
//       } else {
//         scf.yield %c0 : i32
//       }
//       scf.yield %v, %w, %a : i32, i32, i32
//     }
//     scf.for %i = %c0 to %ub step %c1  : i32 {
//       %v = tt.load %q : !tt.ptr<i32>
//       tt.print " v: " {hex = false, isSigned = array<i32: 1>} : %v : i32
//     }
//     scf.for %i = %c0 to %ub step %c1  : i32 {
//       tt.assert %c, "c" : i1
//       %v = tt.load %q : !tt.ptr<i32>
//       %w = arith.addi %v, %i : i32
//     }
//     tt.store %q, %r#0 : !tt.ptr<i32>
//     tt.store %q, %r#1 : !tt.ptr<i32>
//     tt.store %q, %r#2 : !tt.ptr<i32>
//     tt.return
//   }
// }
