// RUN: one-trip-loops
// A row is added up, its sum stored, and subtracted from the row: if one block holds it, it is loaded once.
tt.func public @center(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %sums: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bound = tt.splat %n : i32 -> tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%a = %zeros) -> (tensor<64xf32>) : i32 {
    %start = tt.splat %i : i32 -> tensor<64xi32>
    %cols = arith.addi %start, %range : tensor<64xi32>
    %mask = arith.cmpi slt, %cols, %bound : tensor<64xi32>
    %p = tt.addptr %xs, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p, %mask, %zeros : tensor<64x!tt.ptr<f32>>
    %b = arith.addf %a, %v : tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  %total = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %sums, %total : !tt.ptr<f32>
  %totals = tt.splat %total : f32 -> tensor<64xf32>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %start = tt.splat %i : i32 -> tensor<64xi32>
    %cols = arith.addi %start, %range : tensor<64xi32>
    %mask = arith.cmpi slt, %cols, %bound : tensor<64xi32>
    %p = tt.addptr %xs, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p, %mask, %zeros : tensor<64x!tt.ptr<f32>>
    %w = arith.subf %v, %totals : tensor<64xf32>
    %q = tt.addptr %ys, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %w, %mask : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
// OUTPUT
// module {
//   tt.func public @center(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %sums: !tt.ptr<f32>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c64 = arith.constant 64 : i32
//     %zeros = arith.constant dense<0.000000e+00> : tensor<64xf32>
//     %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//     %bound = tt.splat %n : i32 -> tensor<64xi32>
//     %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
//     %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
//     %c1_i32 = arith.constant 1 : i32
//     %0 = arith.subi %n, %c1_i32 : i32
//     %1 = arith.cmpi ult, %0, %c64 : i32
//     %2 = tt.ptr_to_int %sums : !tt.ptr<f32> -> i64
//     %3 = tt.ptr_to_int %x : !tt.ptr<f32> -> i64
//     %4 = arith.subi %2, %3 : i64
//     %c3_i64 = arith.constant 3 : i64
//     %5 = arith.addi %4, %c3_i64 : i64
//     %c259_i64 = arith.constant 259 : i64
//     %6 = arith.cmpi uge, %5, %c259_i64 : i64
//     %7 = arith.andi %1, %6 : i1
//     scf.if %7 {
//       %start = tt.splat %c0 : i32 -> tensor<64xi32>
//       %cols = arith.addi %start, %range : tensor<64xi32>
//       %mask = arith.cmpi slt, %cols, %bound : tensor<64xi32>
//       %p = tt.addptr %xs, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
//       %v = tt.load %p, %mask, %zeros : tensor<64x!tt.ptr<f32>>
//       %b = arith.addf %zeros, %v : tensor<64xf32>
//       %total = "tt.reduce"(%b) <{axis = 0 : i32}> ({
//       ^bb0(%l: f32, %r: f32):
//         %s = arith.addf %l, %r : f32
//         tt.reduce.return %s : f32
//       }) : (tensor<64xf32>) -> f32
//       tt.store %sums, %total : !tt.ptr<f32>
//       %totals = tt.splat %total : f32 -> tensor<64xf32>
//       %w = arith.subf %v, %totals : tensor<64xf32>
//       %q = tt.addptr %ys, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
//       tt.store %q, %w, %mask : tensor<64x!tt.ptr<f32>>
//     } else {
//       %sum = scf.for %i = %c0 to %n step %c64 iter_args(%a = %zeros) -> (tensor<64xf32>)  : i32 {
//         %start = tt.splat %i : i32 -> tensor<64xi32>
//         %cols = arith.addi %start, %range : tensor<64xi32>
//         %mask = arith.cmpi slt, %cols, %bound : tensor<64xi32>
//         %p = tt.addptr %xs, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
//         %v = tt.load %p, %mask, %zeros : tensor<64x!tt.ptr<f32>>
//         %b = arith.addf %a, %v : tensor<64xf32>
//         scf.yield %b : tensor<64xf32>
//       }
//       %total = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
//       ^bb0(%l: f32, %r: f32):
//         %s = arith.addf %l, %r : f32
//         tt.reduce.return %s : f32
//       }) : (tensor<64xf32>) -> f32
//       tt.store %sums, %total : !tt.ptr<f32>
//       %totals = tt.splat %total : f32 -> tensor<64xf32>
//       scf.for %i = %c0 to %n step %c64  : i32 {
//         %start = tt.splat %i : i32 -> tensor<64xi32>
//         %cols = arith.addi %start, %range : tensor<64xi32>
//         %mask = arith.cmpi slt, %cols, %bound : tensor<64xi32>
//         %p = tt.addptr %xs, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
//         %v = tt.load %p, %mask, %zeros : tensor<64x!tt.ptr<f32>>
//         %w = arith.subf %v, %totals : tensor<64xf32>
//         %q = tt.addptr %ys, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
//         tt.store %q, %w, %mask : tensor<64x!tt.ptr<f32>>
//       }
//     }
//     tt.return
//   }
// }
