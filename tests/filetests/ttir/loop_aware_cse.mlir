// RUN: loop-aware-cse
// Equal initial values, and what follows is equal as long as they are.
tt.func public @twins(%p: !tt.ptr<i32>, %n: i32, %x: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %e = %x, %f = %x) -> (i32, i32, i32, i32) : i32 {
    %c = arith.addi %a, %f : i32
    %d = arith.addi %b, %e : i32
    %g = arith.addi %k, %f : i32
    %h = arith.addi %e, %k : i32
    scf.yield %c, %d, %g, %h : i32, i32, i32, i32
  }
  tt.store %p, %r#0 : !tt.ptr<i32>
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.store %p, %r#2 : !tt.ptr<i32>
  tt.return
}
// The counters of two pipelines, as loops over buffers have them; and an inner loop first.
tt.func public @phases(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1, %c = %c0, %d = %c1) -> (i32, i32, i32, i32) : i32 {
    %s:2 = scf.for %j = %c0 to %n step %c1 iter_args(%e = %a, %f = %a) -> (i32, i32) : i32 {
      %g = arith.muli %e, %e : i32
      %h = arith.muli %f, %f : i32
      scf.yield %g, %h : i32, i32
    }
    tt.store %p, %s#0 : !tt.ptr<i32>
    tt.store %p, %s#1 : !tt.ptr<i32>
    %a1 = arith.addi %a, %c1 : i32
    %a3 = arith.cmpi eq, %a1, %c3 : i32
    %a2 = arith.select %a3, %c0, %a1 : i32
    %bx = arith.xori %b, %c1 : i32
    %b2 = arith.select %a3, %bx, %b : i32
    %c_1 = arith.addi %c, %c1 : i32
    %c_3 = arith.cmpi eq, %c_1, %c3 : i32
    %c_2 = arith.select %c_3, %c0, %c_1 : i32
    %dx = arith.xori %d, %c1 : i32
    %d2 = arith.select %c_3, %dx, %d : i32
    tt.store %p, %d : !tt.ptr<i32>
    tt.store %p, %b : !tt.ptr<i32>
    scf.yield %a2, %b2, %c_2, %d2 : i32, i32, i32, i32
  }
  tt.return
}
// Not equal: other initial values, a load on the other side of a store, an operation with an effect.
tt.func public @different(%p: !tt.ptr<i32>, %n: i32, %x: i32, %y: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:6 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %x, %d = %x, %e = %x, %f = %x) -> (i32, i32, i32, i32, i32, i32) : i32 {
    %a1 = arith.addi %a, %i : i32
    %b1 = arith.addi %b, %i : i32
    %c1_ = tt.load %p : !tt.ptr<i32>
    tt.store %p, %a : !tt.ptr<i32>
    %d1 = tt.load %p : !tt.ptr<i32>
    %e1 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1 : (!tt.ptr<i32>, i32) -> i32
    %f1 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1 : (!tt.ptr<i32>, i32) -> i32
    scf.yield %a1, %b1, %c1_, %d1, %e1, %f1 : i32, i32, i32, i32, i32, i32
  }
  tt.store %p, %r#0 : !tt.ptr<i32>
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.store %p, %r#2 : !tt.ptr<i32>
  tt.store %p, %r#3 : !tt.ptr<i32>
  tt.store %p, %r#4 : !tt.ptr<i32>
  tt.store %p, %r#5 : !tt.ptr<i32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @twins(%p: !tt.ptr<i32>, %n: i32, %x: i32, %k: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %e = %x) -> (i32, i32)  : i32 {
//       %c = arith.addi %a, %e : i32
//       %g = arith.addi %k, %e : i32
//       scf.yield %c, %g : i32, i32
//     }
//     tt.store %p, %r#0 : !tt.ptr<i32>
//     tt.store %p, %r#0 : !tt.ptr<i32>
//     tt.store %p, %r#1 : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @phases(%p: !tt.ptr<i32>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c3 = arith.constant 3 : i32
//     %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1) -> (i32, i32)  : i32 {
//       %s = scf.for %j = %c0 to %n step %c1 iter_args(%e = %a) -> (i32)  : i32 {
//         %g = arith.muli %e, %e : i32
//         scf.yield %g : i32
//       }
//       tt.store %p, %s : !tt.ptr<i32>
//       tt.store %p, %s : !tt.ptr<i32>
//       %a1 = arith.addi %a, %c1 : i32
//       %a3 = arith.cmpi eq, %a1, %c3 : i32
//       %a2 = arith.select %a3, %c0, %a1 : i32
//       %bx = arith.xori %b, %c1 : i32
//       %b2 = arith.select %a3, %bx, %b : i32
//       tt.store %p, %b : !tt.ptr<i32>
//       tt.store %p, %b : !tt.ptr<i32>
//       scf.yield %a2, %b2 : i32, i32
//     }
//     tt.return
//   }
//   tt.func public @different(%p: !tt.ptr<i32>, %n: i32, %x: i32, %y: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %r:6 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %x, %d = %x, %e = %x, %f = %x) -> (i32, i32, i32, i32, i32, i32)  : i32 {
//       %a1 = arith.addi %a, %i : i32
//       %b1 = arith.addi %b, %i : i32
//       %c1_ = tt.load %p : !tt.ptr<i32>
//       tt.store %p, %a : !tt.ptr<i32>
//       %d1 = tt.load %p : !tt.ptr<i32>
//       %e1 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1 : (!tt.ptr<i32>, i32) -> i32
//       %f1 = tt.atomic_rmw add, acq_rel, gpu, %p, %c1 : (!tt.ptr<i32>, i32) -> i32
//       scf.yield %a1, %b1, %c1_, %d1, %e1, %f1 : i32, i32, i32, i32, i32, i32
//     }
//     tt.store %p, %r#0 : !tt.ptr<i32>
//     tt.store %p, %r#1 : !tt.ptr<i32>
//     tt.store %p, %r#2 : !tt.ptr<i32>
//     tt.store %p, %r#3 : !tt.ptr<i32>
//     tt.store %p, %r#4 : !tt.ptr<i32>
//     tt.store %p, %r#5 : !tt.ptr<i32>
//     tt.return
//   }
// }
