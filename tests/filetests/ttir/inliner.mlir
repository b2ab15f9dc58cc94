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
// module {
//   tt.func private @kept(%x: i32 loc(#loc)) -> i32 attributes {noinline = true} {
//     %r = arith.subi %x, %x : i32 loc(#loc1)
//     tt.return %r : i32 loc(#loc)
//   } loc(#loc)
//   tt.func public @k(%o: !tt.ptr<i32> loc(#loc), %x: i32 loc(#loc), %p: i1 loc(#loc)) {
//     %r = arith.muli %x, %x : i32 loc(#loc6)
//     %b = tt.call @kept(%r) : (i32) -> i32 loc(#loc8)
//     scf.if %p {
//       %r_0 = arith.muli %b, %b : i32 loc(#loc10)
//       tt.store %o, %r_0 : !tt.ptr<i32> loc(#loc11)
//     } loc(#loc12)
//     tt.return loc(#loc)
//   } loc(#loc)
// } loc(#loc)
// #loc = loc(unknown)
// #loc1 = loc("k.py":30:4)
// #loc2 = loc("k.py":10:4)
// #loc3 = loc("k.py":20:4)
// #loc4 = loc(callsite(#loc2 at #loc3))
// #loc5 = loc("k.py":40:4)
// #loc6 = loc(callsite(#loc4 at #loc5))
// #loc7 = loc("k.py":21:4)
// #loc8 = loc(callsite(#loc7 at #loc5))
// #loc9 = loc("k.py":41:4)
// #loc10 = loc(callsite(#loc2 at #loc9))
// #loc11 = loc("k.py":42:4)
// #loc12 = loc("k.py":41:0)
