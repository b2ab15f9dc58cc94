// RUN: inliner, symbol-dce, locations
tt.func private @inner(%x: i32) -> i32 {
  %r = arith.muli %x, %x : i32 loc("k.py":10:4)
  tt.return %r : i32
}
tt.func private @outer(%x: i32) -> i32 {
  %a = tt.call @inner(%x) : (i32) -> i32 loc("k.py":20:4)
  %b = tt.call @kept(%a) : (i32) -> i32 loc("k.py":21:4)
  tt.return %b : i32
}
tt.func private @kept(%x: i32) -> i32 attributes {noinline = true} {
  %r = arith.subi %x, %x : i32 loc("k.py":30:4)
  tt.return %r : i32
}
tt.func private @never(%x: i32) -> i32 {
  tt.return %x : i32
}
tt.func public @k(%o: !tt.ptr<i32>, %x: i32, %p: i1) {
  %a = tt.call @outer(%x) : (i32) -> i32 loc("k.py":40:4)
  scf.if %p {
    %b = tt.call @inner(%a) : (i32) -> i32 loc("k.py":41:4)
    tt.store %o, %b : !tt.ptr<i32> loc("k.py":42:4)
  } loc("k.py":41:0)
  tt.return
}
// OUTPUT
// #loc = loc(unknown)
// module {
//   tt.func private @kept(%x: i32 loc(unknown)) -> i32 attributes {noinline = true} {
//     %r = arith.subi %x, %x : i32 loc(#loc1)
//     tt.return %r : i32 loc(#loc)
//   } loc(#loc)
//   tt.func public @k(%o: !tt.ptr<i32> loc(unknown), %x: i32 loc(unknown), %p: i1 loc(unknown)) {
//     %r = arith.muli %x, %x : i32 loc(#loc12)
//     %b = tt.call @kept(%r) : (i32) -> i32 loc(#loc10)
//     scf.if %p {
//       %r_0 = arith.muli %b, %b : i32 loc(#loc11)
//       tt.store %o, %r_0 : !tt.ptr<i32> loc(#loc8)
//     } loc(#loc6)
//     tt.return loc(#loc)
//   } loc(#loc)
// } loc(#loc)
// #loc1 = loc("k.py":30:4)
// #loc2 = loc("k.py":10:4)
// #loc3 = loc("k.py":20:4)
// #loc4 = loc("k.py":40:4)
// #loc5 = loc("k.py":21:4)
// #loc6 = loc("k.py":41:0)
// #loc7 = loc("k.py":41:4)
// #loc8 = loc("k.py":42:4)
// #loc9 = loc(callsite(#loc2 at #loc3))
// #loc10 = loc(callsite(#loc5 at #loc4))
// #loc11 = loc(callsite(#loc2 at #loc7))
// #loc12 = loc(callsite(#loc9 at #loc4))
