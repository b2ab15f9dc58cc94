// RUN: inliner
// The body of the callee replaces the call.
tt.func private @square(%x: f32) -> f32 {
  %y = arith.mulf %x, %x : f32
  tt.return %y : f32
}

tt.func public @norm(%a: f32, %b: f32) -> f32 {
  %c = tt.call @square(%a) : (f32) -> f32
  %d = tt.call @square(%b) : (f32) -> f32
  %e = arith.addf %c, %d : f32
  tt.return %e : f32
}
// OUTPUT
// module {
//   tt.func private @square(%x: f32) -> f32 {
//     %y = arith.mulf %x, %x : f32
//     tt.return %y : f32
//   }
//   tt.func public @norm(%a: f32, %b: f32) -> f32 {
//     %y = arith.mulf %a, %a : f32
//     %y_0 = arith.mulf %b, %b : f32
//     %e = arith.addf %y, %y_0 : f32
//     tt.return %e : f32
//   }
// }
