// RUN: canonicalize
tt.func public @branches(%o: !tt.ptr<i32>, %p: i1, %q: i1, %x: i32, %y: i32) {
  %true = arith.constant true
  // A known branch is taken.
  %a = scf.if %true -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  tt.store %o, %a : !tt.ptr<i32>
  // The condition is known inside; one result is a select, one is the same on both sides, one is dead.
  %b:3 = scf.if %p -> (i32, i32, i32) {
    %c = arith.select %p, %x, %y : i32
    scf.yield %x, %y, %c : i32, i32, i32
  } else {
    scf.yield %y, %y, %x : i32, i32, i32
  }
  tt.store %o, %b#0 : !tt.ptr<i32>
  tt.store %o, %b#1 : !tt.ptr<i32>
  // Two conditions are merged; an empty else is removed.
  scf.if %p {
    scf.if %q {
      tt.store %o, %x : !tt.ptr<i32>
    }
  } else {
  }
  tt.return
}
tt.func public @loops(%o: !tt.ptr<i32>, %n: i32, %x: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // Carried values: unchanged, dead, equal to the next, live.
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %c1, %c = %c0, %d = %c0) -> (i32, i32, i32, i32) : i32 {
    %b2 = arith.muli %b, %i : i32
    %s = arith.addi %c, %a : i32
    scf.yield %a, %b2, %s, %s : i32, i32, i32, i32
  }
  tt.store %o, %r#0 : !tt.ptr<i32>
  tt.store %o, %r#2 : !tt.ptr<i32>
  tt.store %o, %r#3 : !tt.ptr<i32>
  // No iteration, and one.
  %e = scf.for %i = %n to %n step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %f = arith.addi %a, %i : i32
    scf.yield %f : i32
  }
  tt.store %o, %e : !tt.ptr<i32>
  %g = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %f = arith.subi %a, %n : i32
    scf.yield %f : i32
  }
  tt.store %o, %g : !tt.ptr<i32>
  // This one is dead.
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %f = arith.muli %a, %i : i32
    scf.yield %f : i32
  }
  tt.return
}
tt.func public @blocks(%o: !tt.ptr<i32>, %x: i32) {
  %false = arith.constant false
  cf.cond_br %false, ^bb1, ^bb2(%x : i32)
^bb1:
  tt.store %o, %x : !tt.ptr<i32>
  tt.return
^bb2(%y: i32):
  %z = arith.addi %y, %y : i32
  tt.store %o, %z : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @branches(%o: !tt.ptr<i32>, %p: i1, %q: i1, %x: i32, %y: i32) {
//     tt.store %o, %x : !tt.ptr<i32>
//     %b = arith.select %p, %x, %y : i32
//     tt.store %o, %b : !tt.ptr<i32>
//     tt.store %o, %y : !tt.ptr<i32>
//     %0 = arith.andi %p, %q : i1
//     scf.if %0 {
//       tt.store %o, %x : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func public @loops(%o: !tt.ptr<i32>, %n: i32, %x: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %0 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %c0) -> (i32)  : i32 {
//       %s = arith.addi %c, %x : i32
//       scf.yield %s : i32
//     }
//     tt.store %o, %x : !tt.ptr<i32>
//     tt.store %o, %0 : !tt.ptr<i32>
//     tt.store %o, %0 : !tt.ptr<i32>
//     tt.store %o, %x : !tt.ptr<i32>
//     %f = arith.subi %x, %n : i32
//     tt.store %o, %f : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @blocks(%o: !tt.ptr<i32>, %x: i32) {
//     %z = arith.addi %x, %x : i32
//     tt.store %o, %z : !tt.ptr<i32>
//     tt.return
//   }
// }
