// RUN: make-persistent
// The launcher passes the number of programs, and starts as many as run at once.
module {
  tt.func public @dots(%x: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %p = tt.get_program_id x : i32
    %at = tt.addptr %x, %p : !tt.ptr<f16>, i32
    %ptrs = tt.splat %at : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
      %a = tt.load %ptrs : tensor<16x16x!tt.ptr<f16>>
      %next = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %next : tensor<16x16xf32>
    }
    %out = arith.truncf %sum : tensor<16x16xf32> to tensor<16x16xf16>
    tt.store %ptrs, %out : tensor<16x16x!tt.ptr<f16>>
    tt.return
  }
}
// OUTPUT
// module {
//   tt.func public @dots(%x: !tt.ptr<f16>, %n: i32, %programs: i32 {tritium.launch_value = "programs"}) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %0 = tt.get_program_id x : i32
//     %1 = tt.get_num_programs x : i32
//     scf.for %arg3 = %0 to %programs step %1  : i32 {
//       %at = tt.addptr %x, %arg3 : !tt.ptr<f16>, i32
//       %ptrs = tt.splat %at : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
//       %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>)  : i32 {
//         %a = tt.load %ptrs : tensor<16x16x!tt.ptr<f16>>
//         %next = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
//         scf.yield %next : tensor<16x16xf32>
//       }
//       %out = arith.truncf %sum : tensor<16x16xf32> to tensor<16x16xf16>
//       tt.store %ptrs, %out : tensor<16x16x!tt.ptr<f16>>
//     }
//     tt.return
//   }
// }
