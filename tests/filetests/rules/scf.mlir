// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @if_known(%x: i32, %y: i32) -> i32 {
  %t = arith.constant true
  %a = scf.if %t -> (i32) {
    %m = arith.muli %x, %x : i32
    scf.yield %m : i32
  } else {
    scf.yield %y : i32
  }
  tt.return %a : i32
}
tt.func public @if_condition_inside(%p: i1, %q: !tt.ptr<i1>) {
  scf.if %p {
    tt.store %q, %p : !tt.ptr<i1>
  } else {
    tt.store %q, %p : !tt.ptr<i1>
  }
  tt.return
}
tt.func public @if_result_from_outside(%p: i1, %x: i32, %y: i32, %q: !tt.ptr<i32>) -> (i32, i32, i32) {
  %a:3 = scf.if %p -> (i32, i32, i32) {
    %u = tt.load %q : !tt.ptr<i32>
    scf.yield %x, %x, %u : i32, i32, i32
  } else {
    tt.store %q, %x : !tt.ptr<i32>
    scf.yield %x, %y, %y : i32, i32, i32
  }
  tt.return %a#0, %a#1, %a#2 : i32, i32, i32
}
tt.func public @if_empty_else(%p: i1, %x: i32, %q: !tt.ptr<i32>) {
  scf.if %p {
    tt.store %q, %x : !tt.ptr<i32>
  } else {
  }
  tt.return
}
tt.func public @if_nested(%p: i1, %r: i1, %x: i32, %q: !tt.ptr<i32>) {
  scf.if %p {
    scf.if %r {
      tt.store %q, %x : !tt.ptr<i32>
    }
  }
  tt.return
}
tt.func public @for_few(%x: i32, %q: !tt.ptr<i32>) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = scf.for %i = %c1 to %c0 step %c1 iter_args(%k = %x) -> (i32) : i32 {
    %m = arith.muli %k, %x : i32
    scf.yield %m : i32
  }
  %b = scf.for %i = %c0 to %c1 step %c1 iter_args(%k = %x) -> (i32) : i32 {
    %m = arith.addi %k, %i : i32
    %n = arith.muli %m, %x : i32
    scf.yield %n : i32
  }
  tt.return %a, %b : i32, i32
}
tt.func public @for_carried_values(%n: i32, %x: i32, %q: !tt.ptr<i32>) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a:5 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %x, %l = %c0, %m = %c0, %u = %c0, %w = %x) -> (i32, i32, i32, i32, i32) : i32 {
    %o = arith.addi %l, %k : i32
    %v = arith.addi %u, %i : i32
    %z = tt.load %q : !tt.ptr<i32>
    scf.yield %k, %o, %o, %v, %z : i32, i32, i32, i32, i32
  }
  tt.return %a#0, %a#1, %a#2, %a#4 : i32, i32, i32, i32
}
tt.func public @while_never(%x: i32) -> i32 {
  %f = arith.constant false
  %a = scf.while (%k = %x) : (i32) -> i32 {
    %m = arith.muli %k, %k : i32
    scf.condition(%f) %m : i32
  } do {
  ^bb0(%k: i32):
    scf.yield %k : i32
  }
  tt.return %a : i32
}
tt.func public @if_same_condition(%p: i1, %x: i32, %q: !tt.ptr<i32>) -> (i32, i32) {
  %a = scf.if %p -> (i32) {
    %u = tt.load %q : !tt.ptr<i32>
    scf.yield %u : i32
  } else {
    tt.store %q, %x : !tt.ptr<i32>
    scf.yield %x : i32
  }
  %b = scf.if %p -> (i32) {
    %v = arith.muli %a, %x : i32
    scf.yield %v : i32
  } else {
    %w = tt.load %q : !tt.ptr<i32>
    scf.yield %w : i32
  }
  scf.if %p {
    tt.store %q, %b : !tt.ptr<i32>
  }
  tt.return %a, %b : i32, i32
}
tt.func public @while_forwarded(%x: i32, %q: !tt.ptr<i32>) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a:4 = scf.while (%k = %c0) : (i32) -> (i32, i32, i32, i32) {
    %m = arith.addi %k, %c1 : i32
    %go = arith.cmpi slt, %m, %c3 : i32
    %d = tt.load %q : !tt.ptr<i32>
    scf.condition(%go) %m, %x, %m, %d : i32, i32, i32, i32
  } do {
  ^bb0(%k: i32, %y: i32, %l: i32, %d: i32):
    %n = arith.muli %k, %l : i32
    tt.store %q, %n : !tt.ptr<i32>
    scf.yield %l : i32
  }
  tt.return %a#0, %a#1, %a#2 : i32, i32, i32
}
tt.func public @while_carried(%x: i32, %q: !tt.ptr<i32>) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a:2 = scf.while (%k = %c0, %l = %x, %m = %x, %u = %x) : (i32, i32, i32, i32) -> (i32, i32) {
    %n = arith.addi %l, %m : i32
    %o = arith.maxsi %k, %n : i32
    %go = arith.cmpi slt, %k, %c3 : i32
    scf.condition(%go) %o, %l : i32, i32
  } do {
  ^bb0(%k: i32, %l: i32):
    %n = arith.addi %k, %c1 : i32
    tt.store %q, %n : !tt.ptr<i32>
    %z = arith.ori %n, %c3 : i32
    scf.yield %z, %l, %x, %n : i32, i32, i32, i32
  }
  tt.return %a#0, %a#1 : i32, i32
}
tt.func public @while_condition_forwarded(%x: i32, %q: !tt.ptr<i1>) -> (i32, i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a:2 = scf.while (%k = %x) : (i32) -> (i32, i1) {
    %go = arith.cmpi slt, %k, %c3 : i32
    %n = arith.addi %k, %c1 : i32
    scf.condition(%go) %n, %go : i32, i1
  } do {
  ^bb0(%k: i32, %y: i1):
    tt.store %q, %y : !tt.ptr<i1>
    scf.yield %k : i32
  }
  tt.return %a#0, %a#1 : i32, i1
}
// Between constants, or from one to at most a constant, 32 bits are enough; not for an upper bound that is any number, nor
// where the last addition of the step could leave them.
tt.func public @for_of_32_bits(%n: i64, %q: !tt.ptr<i64>) {
  %c2 = arith.constant 2 : i64
  %c16 = arith.constant 16 : i64
  %step = arith.constant 2147483647 : i64
  %m = arith.minsi %n, %c16 : i64
  scf.for %i = %c2 to %m step %c2  : i64 {
    tt.store %q, %i : !tt.ptr<i64>
  }
  scf.for %i = %c2 to %n step %c2  : i64 {
    tt.store %q, %i : !tt.ptr<i64>
  }
  scf.for %i = %c2 to %m step %step  : i64 {
    tt.store %q, %i : !tt.ptr<i64>
  }
  tt.return
}
// OUTPUT
// module {
//   tt.func public @if_known(%x: i32, %y: i32) -> i32 {
//     %m = arith.muli %x, %x : i32
//     tt.return %m : i32
//   }
//   tt.func public @if_condition_inside(%p: i1, %q: !tt.ptr<i1>) {
//     %false = arith.constant false
//     %true = arith.constant true
//     scf.if %p {
//       tt.store %q, %true : !tt.ptr<i1>
//     } else {
//       tt.store %q, %false : !tt.ptr<i1>
//     }
//     tt.return
//   }
//   tt.func public @if_result_from_outside(%p: i1, %x: i32, %y: i32, %q: !tt.ptr<i32>) -> (i32, i32, i32) {
//     %0 = arith.select %p, %x, %y : i32
//     %1 = scf.if %p -> (i32) {
//       %u = tt.load %q : !tt.ptr<i32>
//       scf.yield %u : i32
//     } else {
//       tt.store %q, %x : !tt.ptr<i32>
//       scf.yield %y : i32
//     }
//     tt.return %x, %0, %1 : i32, i32, i32
//   }
//   tt.func public @if_empty_else(%p: i1, %x: i32, %q: !tt.ptr<i32>) {
//     scf.if %p {
//       tt.store %q, %x : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func public @if_nested(%p: i1, %r: i1, %x: i32, %q: !tt.ptr<i32>) {
//     %0 = arith.andi %p, %r : i1
//     scf.if %0 {
//       tt.store %q, %x : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func public @for_few(%x: i32, %q: !tt.ptr<i32>) -> (i32, i32) {
//     %n = arith.muli %x, %x : i32
//     tt.return %x, %n : i32, i32
//   }
//   tt.func public @for_carried_values(%n: i32, %x: i32, %q: !tt.ptr<i32>) -> (i32, i32, i32, i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %c0, %w = %x) -> (i32, i32)  : i32 {
//       %o = arith.addi %l, %x : i32
//       %z = tt.load %q : !tt.ptr<i32>
//       scf.yield %o, %z : i32, i32
//     }
//     tt.return %x, %0#0, %0#0, %0#1 : i32, i32, i32, i32
//   }
//   tt.func public @while_never(%x: i32) -> i32 {
//     %f = arith.constant false
//     %m = arith.muli %x, %x : i32
//     tt.return %m : i32
//   }
//   tt.func public @if_same_condition(%p: i1, %x: i32, %q: !tt.ptr<i32>) -> (i32, i32) {
//     %a, %b = scf.if %p -> (i32, i32) {
//       %u = tt.load %q : !tt.ptr<i32>
//       %v = arith.muli %u, %x : i32
//       tt.store %q, %v : !tt.ptr<i32>
//       scf.yield %u, %v : i32, i32
//     } else {
//       tt.store %q, %x : !tt.ptr<i32>
//       %w = tt.load %q : !tt.ptr<i32>
//       scf.yield %x, %w : i32, i32
//     }
//     tt.return %a, %b : i32, i32
//   }
//   tt.func public @while_forwarded(%x: i32, %q: !tt.ptr<i32>) -> (i32, i32, i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c3 = arith.constant 3 : i32
//     %a = scf.while (%k = %c0) : (i32) -> i32 {
//       %m = arith.addi %k, %c1 : i32
//       %go = arith.cmpi slt, %m, %c3 : i32
//       scf.condition(%go) %m : i32
//     } do {
//     ^bb0(%k: i32):
//       %n = arith.muli %k, %k : i32
//       tt.store %q, %n : !tt.ptr<i32>
//       scf.yield %k : i32
//     }
//     tt.return %a, %x, %a : i32, i32, i32
//   }
//   tt.func public @while_carried(%x: i32, %q: !tt.ptr<i32>) -> (i32, i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c3 = arith.constant 3 : i32
//     %a = scf.while (%k = %c0) : (i32) -> i32 {
//       %n = arith.addi %x, %x : i32
//       %o = arith.maxsi %k, %n : i32
//       %go = arith.cmpi slt, %k, %c3 : i32
//       scf.condition(%go) %o : i32
//     } do {
//     ^bb0(%k: i32):
//       %n = arith.addi %k, %c1 : i32
//       tt.store %q, %n : !tt.ptr<i32>
//       %z = arith.ori %n, %c3 : i32
//       scf.yield %z : i32
//     }
//     tt.return %a, %x : i32, i32
//   }
//   tt.func public @while_condition_forwarded(%x: i32, %q: !tt.ptr<i1>) -> (i32, i1) {
//     %c1 = arith.constant 1 : i32
//     %c3 = arith.constant 3 : i32
//     %false = arith.constant false
//     %true = arith.constant true
//     %a = scf.while (%k = %x) : (i32) -> i32 {
//       %go = arith.cmpi slt, %k, %c3 : i32
//       %n = arith.addi %k, %c1 : i32
//       scf.condition(%go) %n : i32
//     } do {
//     ^bb0(%k: i32):
//       tt.store %q, %true : !tt.ptr<i1>
//       scf.yield %k : i32
//     }
//     tt.return %a, %false : i32, i1
//   }
//   tt.func public @for_of_32_bits(%n: i64, %q: !tt.ptr<i64>) {
//     %c2 = arith.constant 2 : i64
//     %c16 = arith.constant 16 : i64
//     %step = arith.constant 2147483647 : i64
//     %c2_i32 = arith.constant 2 : i32
//     %m = arith.minsi %n, %c16 : i64
//     %0 = arith.maxsi %m, %c2 : i64
//     %1 = arith.trunci %0 : i64 to i32
//     scf.for %i = %c2_i32 to %1 step %c2_i32  : i32 {
//       %2 = arith.extsi %i : i32 to i64
//       tt.store %q, %2 : !tt.ptr<i64>
//     }
//     scf.for %i = %c2 to %n step %c2  : i64 {
//       tt.store %q, %i : !tt.ptr<i64>
//     }
//     scf.for %i = %c2 to %m step %step  : i64 {
//       tt.store %q, %i : !tt.ptr<i64>
//     }
//     tt.return
//   }
// }
