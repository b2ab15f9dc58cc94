// RUN: canonicalize, cse, sccp, licm, loop-aware-cse, dce
// The partitions of a warp_specialize are isolated from above and from each other: each has its constants, no value
// is merged with one of another or of the function, and their terminators are kept.
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @specialized(%p: !tt.ptr<i32>, %x: i32) {
    %c7 = arith.constant 7 : i32
    %y = arith.muli %x, %c7 : i32
    tt.store %p, %y : !tt.ptr<i32>
    ttg.warp_specialize(%p, %x)
    default {
      %z = arith.muli %x, %c7 : i32
      tt.store %p, %z : !tt.ptr<i32>
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<i32>, %v: i32) num_warps(4) {
      %k = arith.constant 7 : i32
      %a = arith.muli %v, %k : i32
      %b = arith.muli %v, %k : i32
      %s = arith.addi %a, %b : i32
      tt.store %q, %s : !tt.ptr<i32>
      ttg.warp_return
    }
    partition1(%q: !tt.ptr<i32>, %v: i32) num_warps(4) {
      %k = arith.constant 7 : i32
      %a = arith.muli %v, %k : i32
      tt.store %q, %a : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>, i32) -> ()
    tt.return
  }
}
// OUTPUT
// module attributes {"ttg.num-warps" = 4 : i32} {
//   tt.func public @specialized(%p: !tt.ptr<i32>, %x: i32) {
//     %c7 = arith.constant 7 : i32
//     %y = arith.muli %x, %c7 : i32
//     tt.store %p, %y : !tt.ptr<i32>
//     ttg.warp_specialize(%p, %x)
//     default {
//       tt.store %p, %y : !tt.ptr<i32>
//       ttg.warp_yield
//     }
//     partition0(%q: !tt.ptr<i32>, %v: i32) num_warps(4) {
//       %k = arith.constant 7 : i32
//       %a = arith.muli %v, %k : i32
//       %s = arith.addi %a, %a : i32
//       tt.store %q, %s : !tt.ptr<i32>
//       ttg.warp_return
//     }
//     partition1(%q: !tt.ptr<i32>, %v: i32) num_warps(4) {
//       %k = arith.constant 7 : i32
//       %a = arith.muli %v, %k : i32
//       tt.store %q, %a : !tt.ptr<i32>
//       ttg.warp_return
//     } : (!tt.ptr<i32>, i32) -> ()
//     tt.return
//   }
// }
