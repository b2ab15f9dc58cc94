// RUN: licm
tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32, %x: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  // The multiplication is hoisted out of both loops; the division may trap and the loops may not run.
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      %a = arith.muli %x, %x : i32
      %b = arith.divsi %a, %x : i32
      %c = arith.divsi %a, %c4 : i32
      %d = arith.addi %b, %j : i32
      %e = arith.addi %c, %d : i32
      tt.store %p, %e : !tt.ptr<i32>
    }
  }
  // This loop runs, and writes nothing: loads and divisions are hoisted.
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %c0) -> (i32) : i32 {
    %v = tt.load %q : !tt.ptr<i32>
    %w = arith.remsi %v, %x : i32
    %y = arith.addi %t, %w : i32
    scf.yield %y : i32
  }
  tt.store %p, %s : !tt.ptr<i32>
  // This one writes memory that it may read.
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %v = tt.load %q : !tt.ptr<i32>
    %w = arith.addi %v, %i : i32
    tt.store %p, %w : !tt.ptr<i32>
  }
  // LICM is disabled for this one.
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = arith.muli %n, %x : i32
    %w = arith.addi %v, %i : i32
    tt.store %p, %w : !tt.ptr<i32>
  } {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
  tt.return
}
// OUTPUT
// #loop_licm = #llvm.loop_licm<disable = true>
// #loop_annotation = #llvm.loop_annotation<licm = #loop_licm>
// module {
//   tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32, %x: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c4 = arith.constant 4 : i32
//     %a = arith.muli %x, %x : i32
//     %c = arith.divsi %a, %c4 : i32
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       scf.for %j = %c0 to %n step %c1  : i32 {
//         %b = arith.divsi %a, %x : i32
//         %d = arith.addi %b, %j : i32
//         %e = arith.addi %c, %d : i32
//         tt.store %p, %e : !tt.ptr<i32>
//       }
//     }
//     %v = tt.load %q : !tt.ptr<i32>
//     %w = arith.remsi %v, %x : i32
//     %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %c0) -> (i32)  : i32 {
//       %y = arith.addi %t, %w : i32
//       scf.yield %y : i32
//     }
//     tt.store %p, %s : !tt.ptr<i32>
//     scf.for %i = %c0 to %c4 step %c1  : i32 {
//       %v_0 = tt.load %q : !tt.ptr<i32>
//       %w_1 = arith.addi %v_0, %i : i32
//       tt.store %p, %w_1 : !tt.ptr<i32>
//     }
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       %v_0 = arith.muli %n, %x : i32
//       %w_1 = arith.addi %v_0, %i : i32
//       tt.store %p, %w_1 : !tt.ptr<i32>
//     } {llvm.loop_annotation = #loop_annotation}
//     tt.return
//   }
// }
