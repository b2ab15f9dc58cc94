// RUN: canonicalize
// Each function is named after the rule it is for.
tt.func public @add_no_offset(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %c0 = arith.constant 0 : i32
  %a = tt.addptr %p, %c0 : !tt.ptr<f32>, i32
  tt.return %a : !tt.ptr<f32>
}
tt.func public @bitcast_pointers(%p: !tt.ptr<f32>) -> (!tt.ptr<i32>, !tt.ptr<f32>) {
  %a = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>
  %b = tt.bitcast %a : !tt.ptr<i8> -> !tt.ptr<i32>
  %c = tt.bitcast %b : !tt.ptr<i32> -> !tt.ptr<f32>
  tt.return %b, %c : !tt.ptr<i32>, !tt.ptr<f32>
}
tt.func public @address_of_address(%x: i64) -> i64 {
  %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
  %a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  tt.return %a : i64
}
tt.func public @pointer_of_address(%p: !tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<i8>) {
  %i = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %a = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %b = tt.int_to_ptr %i : i64 -> !tt.ptr<i8>
  tt.return %a, %b : !tt.ptr<f32>, !tt.ptr<i8>
}
// 7 bytes are no whole number of floats.
tt.func public @pointer_of_sum(%x: i64) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
  %c16 = arith.constant 16 : i64
  %c7 = arith.constant 7 : i64
  %s = arith.addi %x, %c16 : i64
  %a = tt.int_to_ptr %s : i64 -> !tt.ptr<f32>
  %t = arith.addi %x, %c7 : i64
  %b = tt.int_to_ptr %t : i64 -> !tt.ptr<f32>
  tt.return %a, %b : !tt.ptr<f32>, !tt.ptr<f32>
}
tt.func public @advance_nowhere(%p: !tt.ptr<tensor<8xf32>>) -> !tt.ptr<tensor<8xf32>> {
  %c0 = arith.constant 0 : i32
  %a = tt.advance %p, [%c0] : !tt.ptr<tensor<8xf32>>
  tt.return %a : !tt.ptr<tensor<8xf32>>
}
// A volatile load is a load.
tt.func public @load_with_known_mask(%p: !tt.ptr<f32>, %x: f32) -> (f32, f32, f32, f32) {
  %t = arith.constant true
  %f = arith.constant false
  %a = tt.load %p, %t, %x : !tt.ptr<f32>
  %b = tt.load %p, %f, %x : !tt.ptr<f32>
  %c = tt.load %p, %f : !tt.ptr<f32>
  %d = tt.load %p, %f, %x {isVolatile = true} : !tt.ptr<f32>
  tt.return %a, %b, %c, %d : f32, f32, f32, f32
}
tt.func public @access_with_known_mask(%p: !tt.ptr<i32>, %x: i32) {
  %t = arith.constant true
  %f = arith.constant false
  tt.store %p, %x, %t : !tt.ptr<i32>
  tt.store %p, %x, %f : !tt.ptr<i32>
  %a = tt.atomic_rmw add, acq_rel, gpu, %p, %x, %f : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
tt.func public @assertion_that_holds(%p: i1) {
  %t = arith.constant true
  tt.assert %t, "never seen" : i1
  tt.assert %p, "kept" : i1
  tt.return
}
// OUTPUT
// module {
//   tt.func public @add_no_offset(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
//     tt.return %p : !tt.ptr<f32>
//   }
//   tt.func public @bitcast_pointers(%p: !tt.ptr<f32>) -> (!tt.ptr<i32>, !tt.ptr<f32>) {
//     %b = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
//     tt.return %b, %p : !tt.ptr<i32>, !tt.ptr<f32>
//   }
//   tt.func public @address_of_address(%x: i64) -> i64 {
//     tt.return %x : i64
//   }
//   tt.func public @pointer_of_address(%p: !tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<i8>) {
//     %b = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>
//     tt.return %p, %b : !tt.ptr<f32>, !tt.ptr<i8>
//   }
//   tt.func public @pointer_of_sum(%x: i64) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
//     %c7 = arith.constant 7 : i64
//     %c4_i64 = arith.constant 4 : i64
//     %0 = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
//     %a = tt.addptr %0, %c4_i64 : !tt.ptr<f32>, i64
//     %t = arith.addi %x, %c7 : i64
//     %b = tt.int_to_ptr %t : i64 -> !tt.ptr<f32>
//     tt.return %a, %b : !tt.ptr<f32>, !tt.ptr<f32>
//   }
//   tt.func public @advance_nowhere(%p: !tt.ptr<tensor<8xf32>>) -> !tt.ptr<tensor<8xf32>> {
//     tt.return %p : !tt.ptr<tensor<8xf32>>
//   }
//   tt.func public @load_with_known_mask(%p: !tt.ptr<f32>, %x: f32) -> (f32, f32, f32, f32) {
//     %f = arith.constant false
//     %cst = arith.constant 0.000000e+00 : f32
//     %a = tt.load %p : !tt.ptr<f32>
//     %d = tt.load %p, %f, %x {isVolatile = true} : !tt.ptr<f32>
//     tt.return %a, %x, %cst, %d : f32, f32, f32, f32
//   }
//   tt.func public @access_with_known_mask(%p: !tt.ptr<i32>, %x: i32) {
//     tt.store %p, %x : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @assertion_that_holds(%p: i1) {
//     tt.assert %p, "kept" : i1
//     tt.return
//   }
// }
