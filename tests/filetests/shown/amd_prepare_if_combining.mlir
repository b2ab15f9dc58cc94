// RUN: amd-prepare-if-combining, canonicalize
// The sum between two branches of one condition moves out of the way; canonicalize merges them.
tt.func public @pair(%c: i1, %x: f32, %y: f32) -> f32 {
  %a = scf.if %c -> (f32) {
    %m = arith.mulf %x, %y : f32
    scf.yield %m : f32
  } else {
    scf.yield %x : f32
  }
  %s = arith.addf %x, %y : f32
  %b = scf.if %c -> (f32) {
    %d = arith.divf %s, %y : f32
    scf.yield %d : f32
  } else {
    scf.yield %s : f32
  }
  %r = arith.addf %a, %b : f32
  tt.return %r : f32
}
// OUTPUT
// module {
//   tt.func public @pair(%c: i1, %x: f32, %y: f32) -> f32 {
//     %s = arith.addf %x, %y : f32
//     %a, %b = scf.if %c -> (f32, f32) {
//       %m = arith.mulf %x, %y : f32
//       %d = arith.divf %s, %y : f32
//       scf.yield %m, %d : f32, f32
//     } else {
//       scf.yield %x, %s : f32, f32
//     }
//     %r = arith.addf %a, %b : f32
//     tt.return %r : f32
//   }
// }
