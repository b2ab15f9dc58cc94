// RUN: remove-layout-conversions
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Pointers and sums are carried in the layout of the load; one conversion is left, behind the loop.
  tt.func public @carried(%p: !tt.ptr<f32>, %n: i32) -> tensor<128xf32, #a> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32, #a>
    %step = arith.constant dense<128> : tensor<128xi32, #a>
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #a>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #a>
    %first = tt.addptr %base, %i : tensor<128x!tt.ptr<f32>, #a>, tensor<128xi32, #a>
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero, %at = %first) -> (tensor<128xf32, #a>, tensor<128x!tt.ptr<f32>, #a>) : i32 {
      %q = ttg.convert_layout %at : tensor<128x!tt.ptr<f32>, #a> -> tensor<128x!tt.ptr<f32>, #b>
      %x = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
      %y = ttg.convert_layout %x : tensor<128xf32, #b> -> tensor<128xf32, #a>
      %next = arith.addf %sum, %y : tensor<128xf32, #a>
      %after = tt.addptr %at, %step : tensor<128x!tt.ptr<f32>, #a>, tensor<128xi32, #a>
      scf.yield %next, %after : tensor<128xf32, #a>, tensor<128x!tt.ptr<f32>, #a>
    }
    tt.return %r#0 : tensor<128xf32, #a>
  }
  // What a loop does not change is converted in front of it.
  tt.func public @invariant(%x: tensor<128xf32, #a>, %p: tensor<128x!tt.ptr<f32>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %y = ttg.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
      tt.store %p, %y : tensor<128x!tt.ptr<f32>, #b>
    }
    tt.return
  }
  // Only the side that was loaded in another layout is converted, and only when it is taken.
  tt.func public @branch(%p: tensor<128x!tt.ptr<f32>, #a>, %q: tensor<128x!tt.ptr<f32>, #b>, %n: i32, %c: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1.0> : tensor<128xf32, #a>
    scf.for %k = %c0 to %n step %c1 : i32 {
      %y = scf.if %c -> (tensor<128xf32, #a>) {
        %l = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
        scf.yield %l : tensor<128xf32, #a>
      } else {
        scf.yield %one : tensor<128xf32, #a>
      }
      %t = arith.addf %y, %y : tensor<128xf32, #a>
      %z = ttg.convert_layout %t : tensor<128xf32, #a> -> tensor<128xf32, #b>
      tt.store %q, %z : tensor<128x!tt.ptr<f32>, #b>
    }
    tt.return
  }
  // A value that an inner loop hands to an outer one, and nobody else, goes with what made it.
  tt.func public @nested(%p: tensor<128x!tt.ptr<f32>, #b>, %x: i32, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = tt.splat %x : i32 -> tensor<128xi32, #a>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%u = %s) -> (tensor<128xi32, #a>) : i32 {
      %t = scf.for %l = %c0 to %n step %c1 iter_args(%v = %u) -> (tensor<128xi32, #a>) : i32 {
        %f = arith.sitofp %v : tensor<128xi32, #a> to tensor<128xf32, #a>
        %g = ttg.convert_layout %f : tensor<128xf32, #a> -> tensor<128xf32, #b>
        tt.store %p, %g : tensor<128x!tt.ptr<f32>, #b>
        %w = arith.muli %v, %v : tensor<128xi32, #a>
        scf.yield %w : tensor<128xi32, #a>
      }
      scf.yield %s : tensor<128xi32, #a>
    }
    tt.return
  }
  // A loop of unknown length hands on what it loads in the layout of the load.
  tt.func public @while(%p: tensor<128x!tt.ptr<f32>, #b>, %i: i32) -> tensor<128xf32, #b> {
    %zero = arith.constant dense<0.0> : tensor<128xf32, #a>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.while (%x = %zero, %k = %i) : (tensor<128xf32, #a>, i32) -> (tensor<128xf32, #a>, i32) {
      %more = arith.cmpi sgt, %k, %c0 : i32
      scf.condition(%more) %x, %k : tensor<128xf32, #a>, i32
    } do {
    ^bb0(%x: tensor<128xf32, #a>, %k: i32):
      %l = tt.load %p : tensor<128x!tt.ptr<f32>, #b>
      %m = ttg.convert_layout %l : tensor<128xf32, #b> -> tensor<128xf32, #a>
      %next = arith.addf %x, %m : tensor<128xf32, #a>
      %less = arith.subi %k, %c1 : i32
      scf.yield %next, %less : tensor<128xf32, #a>, i32
    }
    %y = ttg.convert_layout %r#0 : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tt.return %y : tensor<128xf32, #b>
  }
  // Branches between blocks carry layouts as loops do.
  tt.func public @blocks(%p: tensor<128x!tt.ptr<f32>, #b>, %c: i1) -> tensor<128xf32, #b> {
    %x = tt.load %p : tensor<128x!tt.ptr<f32>, #b>
    %y = ttg.convert_layout %x : tensor<128xf32, #b> -> tensor<128xf32, #a>
    cf.cond_br %c, ^one(%y : tensor<128xf32, #a>), ^two(%y : tensor<128xf32, #a>)
  ^one(%u: tensor<128xf32, #a>):
    %v = arith.addf %u, %u : tensor<128xf32, #a>
    cf.br ^two(%v : tensor<128xf32, #a>)
  ^two(%w: tensor<128xf32, #a>):
    %r = ttg.convert_layout %w : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tt.return %r : tensor<128xf32, #b>
  }
}
// OUTPUT
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @carried(%p: !tt.ptr<f32>, %n: i32) -> tensor<128xf32, #blocked> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<128xf32, #blocked1>
//     %step = arith.constant dense<128> : tensor<128xi32, #blocked1>
//     %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked1>
//     %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked1>
//     %first = tt.addptr %base, %i : tensor<128x!tt.ptr<f32>, #blocked1>, tensor<128xi32, #blocked1>
//     %r, %at = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %cst, %at_0 = %first) -> (tensor<128xf32, #blocked1>, tensor<128x!tt.ptr<f32>, #blocked1>)  : i32 {
//       %x = tt.load %at_0 : tensor<128x!tt.ptr<f32>, #blocked1>
//       %next = arith.addf %sum, %x : tensor<128xf32, #blocked1>
//       %after = tt.addptr %at_0, %step : tensor<128x!tt.ptr<f32>, #blocked1>, tensor<128xi32, #blocked1>
//       scf.yield %next, %after : tensor<128xf32, #blocked1>, tensor<128x!tt.ptr<f32>, #blocked1>
//     }
//     %0 = ttg.convert_layout %r : tensor<128xf32, #blocked1> -> tensor<128xf32, #blocked>
//     tt.return %0 : tensor<128xf32, #blocked>
//   }
//   tt.func public @invariant(%x: tensor<128xf32, #blocked>, %p: tensor<128x!tt.ptr<f32>, #blocked1>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %0 = ttg.convert_layout %x : tensor<128xf32, #blocked> -> tensor<128xf32, #blocked1>
//     scf.for %k = %c0 to %n step %c1  : i32 {
//       tt.store %p, %0 : tensor<128x!tt.ptr<f32>, #blocked1>
//     }
//     tt.return
//   }
//   tt.func public @branch(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: tensor<128x!tt.ptr<f32>, #blocked1>, %n: i32, %c: i1) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %one = arith.constant dense<1.000000e+00> : tensor<128xf32, #blocked1>
//     scf.for %k = %c0 to %n step %c1  : i32 {
//       %y = scf.if %c -> (tensor<128xf32, #blocked1>) {
//         %l = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked>
//         %0 = ttg.convert_layout %l : tensor<128xf32, #blocked> -> tensor<128xf32, #blocked1>
//         scf.yield %0 : tensor<128xf32, #blocked1>
//       } else {
//         scf.yield %one : tensor<128xf32, #blocked1>
//       }
//       %t = arith.addf %y, %y : tensor<128xf32, #blocked1>
//       tt.store %q, %t : tensor<128x!tt.ptr<f32>, #blocked1>
//     }
//     tt.return
//   }
//   tt.func public @nested(%p: tensor<128x!tt.ptr<f32>, #blocked1>, %x: i32, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %s = tt.splat %x : i32 -> tensor<128xi32, #blocked1>
//     scf.for %k = %c0 to %n step %c1  : i32 {
//       %v = scf.for %l = %c0 to %n step %c1 iter_args(%v_0 = %s) -> (tensor<128xi32, #blocked1>)  : i32 {
//         %f = arith.sitofp %v_0 : tensor<128xi32, #blocked1> to tensor<128xf32, #blocked1>
//         tt.store %p, %f : tensor<128x!tt.ptr<f32>, #blocked1>
//         %w = arith.muli %v_0, %v_0 : tensor<128xi32, #blocked1>
//         scf.yield %w : tensor<128xi32, #blocked1>
//       }
//     }
//     tt.return
//   }
//   tt.func public @while(%p: tensor<128x!tt.ptr<f32>, #blocked1>, %i: i32) -> tensor<128xf32, #blocked1> {
//     %cst = arith.constant dense<0.000000e+00> : tensor<128xf32, #blocked1>
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %r:2 = scf.while (%x = %cst, %k = %i) : (tensor<128xf32, #blocked1>, i32) -> (tensor<128xf32, #blocked1>, i32) {
//       %more = arith.cmpi sgt, %k, %c0 : i32
//       scf.condition(%more) %x, %k : tensor<128xf32, #blocked1>, i32
//     } do {
//     ^bb0(%x: tensor<128xf32, #blocked1>, %k: i32):
//       %l = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked1>
//       %next = arith.addf %x, %l : tensor<128xf32, #blocked1>
//       %less = arith.subi %k, %c1 : i32
//       scf.yield %next, %less : tensor<128xf32, #blocked1>, i32
//     }
//     tt.return %r#0 : tensor<128xf32, #blocked1>
//   }
//   tt.func public @blocks(%p: tensor<128x!tt.ptr<f32>, #blocked1>, %c: i1) -> tensor<128xf32, #blocked1> {
//     %x = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked1>
//     cf.cond_br %c, ^bb1(%x : tensor<128xf32, #blocked1>), ^bb2(%x : tensor<128xf32, #blocked1>)
//   ^bb1(%u: tensor<128xf32, #blocked1>):  // pred: ^bb0
//     %v = arith.addf %u, %u : tensor<128xf32, #blocked1>
//     cf.br ^bb2(%v : tensor<128xf32, #blocked1>)
//   ^bb2(%w: tensor<128xf32, #blocked1>):  // 2 preds: ^bb0, ^bb1
//     tt.return %w : tensor<128xf32, #blocked1>
//   }
// }
