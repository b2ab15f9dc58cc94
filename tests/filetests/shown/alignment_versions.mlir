// RUN: alignment-versions
// The pointer and the stride come from memory: where both are aligned, rows are copied by 16 bytes.
tt.func public @dot(%addresses: !tt.ptr<i64>, %strides: !tt.ptr<i32>, %b: tensor<16x16xf16>, %o: tensor<16x16x!tt.ptr<f32>>) {
  %zeros = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
  %address = tt.load %addresses : !tt.ptr<i64>
  %a = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
  %stride = tt.load %strides : !tt.ptr<i32>
  %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %cols = tt.expand_dims %range {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %wide = tt.splat %stride : i32 -> tensor<16x1xi32>
  %starts = arith.muli %rows, %wide : tensor<16x1xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
  %firsts = tt.addptr %as, %starts : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
  %first = tt.broadcast %firsts : tensor<16x1x!tt.ptr<f16>> -> tensor<16x16x!tt.ptr<f16>>
  %col = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
  %p = tt.addptr %first, %col : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %x = tt.load %p : tensor<16x16x!tt.ptr<f16>>
  %d = tt.dot %x, %b, %zeros : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.store %o, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @dot(%addresses: !tt.ptr<i64>, %strides: !tt.ptr<i32>, %b: tensor<16x16xf16>, %o: tensor<16x16x!tt.ptr<f32>>) {
//     %zeros = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %address = tt.load %addresses : !tt.ptr<i64>
//     %a = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
//     %stride = tt.load %strides : !tt.ptr<i32>
//     %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
//     %cols = tt.expand_dims %range {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
//     %0 = tt.ptr_to_int %a : !tt.ptr<f16> -> i64
//     %c7_i32 = arith.constant 7 : i32
//     %1 = arith.andi %stride, %c7_i32 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %2 = arith.cmpi eq, %1, %c0_i32 : i32
//     %c15_i64 = arith.constant 15 : i64
//     %3 = arith.andi %0, %c15_i64 : i64
//     %c0_i64 = arith.constant 0 : i64
//     %4 = arith.cmpi eq, %3, %c0_i64 : i64
//     %5 = arith.andi %2, %4 : i1
//     %x = scf.if %5 -> (tensor<16x16xf16>) {
//       %c-8_i32 = arith.constant -8 : i32
//       %6 = arith.andi %stride, %c-8_i32 : i32
//       %7 = tt.ptr_to_int %a : !tt.ptr<f16> -> i64
//       %c-16_i64 = arith.constant -16 : i64
//       %8 = arith.andi %7, %c-16_i64 : i64
//       %9 = tt.int_to_ptr %8 : i64 -> !tt.ptr<f16>
//       %wide = tt.splat %6 : i32 -> tensor<16x1xi32>
//       %starts = arith.muli %rows, %wide : tensor<16x1xi32>
//       %as = tt.splat %9 : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
//       %firsts = tt.addptr %as, %starts : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
//       %first = tt.broadcast %firsts : tensor<16x1x!tt.ptr<f16>> -> tensor<16x16x!tt.ptr<f16>>
//       %col = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
//       %p = tt.addptr %first, %col : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
//       %x_0 = tt.load %p : tensor<16x16x!tt.ptr<f16>>
//       scf.yield %x_0 : tensor<16x16xf16>
//     } else {
//       %wide = tt.splat %stride : i32 -> tensor<16x1xi32>
//       %starts = arith.muli %rows, %wide : tensor<16x1xi32>
//       %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
//       %firsts = tt.addptr %as, %starts : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
//       %first = tt.broadcast %firsts : tensor<16x1x!tt.ptr<f16>> -> tensor<16x16x!tt.ptr<f16>>
//       %col = tt.broadcast %cols : tensor<1x16xi32> -> tensor<16x16xi32>
//       %p = tt.addptr %first, %col : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
//       %x_0 = tt.load %p : tensor<16x16x!tt.ptr<f16>>
//       scf.yield %x_0 : tensor<16x16xf16>
//     }
//     %d = tt.dot %x, %b, %zeros : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//     tt.store %o, %d : tensor<16x16x!tt.ptr<f32>>
//     tt.return
//   }
// }
