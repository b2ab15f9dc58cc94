// RUN: make-persistent
// The launcher passes the number of programs, and starts as many as run at once. All loads of the dot can be raised.
module {
  tt.func public @matmul(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %z: !tt.ptr<f32>, %m: i32, %k: i32, %s: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
    %step = arith.constant dense<64> : tensor<64x64xi32>
    %p = tt.get_program_id x : i32
    %first = arith.muli %p, %c64 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %firsts = tt.splat %first : i32 -> tensor<64xi32>
    %at = arith.addi %firsts, %range : tensor<64xi32>
    %ms = tt.splat %m : i32 -> tensor<64xi32>
    %in = arith.remsi %at, %ms : tensor<64xi32>
    %row = tt.expand_dims %in {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %stride = tt.splat %s : i32 -> tensor<64x1xi32>
    %scaled = arith.muli %row, %stride : tensor<64x1xi32>
    %rows = tt.broadcast %scaled : tensor<64x1xi32> -> tensor<64x64xi32>
    %col = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %cols = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %rows, %cols : tensor<64x64xi32>
    %base = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %ptrs = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %down64 = arith.muli %down, %stride : tensor<64x1xi32>
    %downs = tt.broadcast %down64 : tensor<64x1xi32> -> tensor<64x64xi32>
    %offsets2 = arith.addi %downs, %cols : tensor<64x64xi32>
    %base2 = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %ptrs2 = tt.addptr %base2, %offsets2 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %blocks = arith.divsi %k, %c64 : i32
    %sum:2 = scf.for %i = %c0 to %blocks step %c1 iter_args(%a = %ptrs, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>) : i32 {
      %done = arith.muli %i, %c64 : i32
      %left = arith.subi %k, %done : i32
      %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
      %inside = arith.cmpi slt, %col, %lefts : tensor<1x64xi32>
      %mask = tt.broadcast %inside : tensor<1x64xi1> -> tensor<64x64xi1>
      %xs = tt.load %a, %mask, %zeros : tensor<64x64x!tt.ptr<f16>>
      %ys = tt.load %ptrs2 : tensor<64x64x!tt.ptr<f16>>
      %next = tt.dot %xs, %ys, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %a2 = tt.addptr %a, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      scf.yield %a2, %next : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
    }
    %out = tt.splat %z : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %outs = tt.addptr %out, %offsets2 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %outs, %sum#1 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
// OUTPUT
// module {
//   tt.func public @matmul(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %z: !tt.ptr<f32>, %m: i32, %k: i32, %s: i32, %programs: i32 {tritium.launch_value = "programs"}) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %c64 = arith.constant 64 : i32
//     %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
//     %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
//     %step = arith.constant dense<64> : tensor<64x64xi32>
//     %0 = tt.get_program_id x : i32
//     %1 = tt.get_num_programs x : i32
//     scf.for %arg7 = %0 to %programs step %1  : i32 {
//       %first = arith.muli %arg7, %c64 : i32
//       %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//       %firsts = tt.splat %first : i32 -> tensor<64xi32>
//       %at = arith.addi %firsts, %range : tensor<64xi32>
//       %ms = tt.splat %m : i32 -> tensor<64xi32>
//       %in = arith.remsi %at, %ms : tensor<64xi32>
//       %row = tt.expand_dims %in {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
//       %stride = tt.splat %s : i32 -> tensor<64x1xi32>
//       %scaled = arith.muli %row, %stride : tensor<64x1xi32>
//       %rows = tt.broadcast %scaled : tensor<64x1xi32> -> tensor<64x64xi32>
//       %col = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
//       %cols = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
//       %offsets = arith.addi %rows, %cols : tensor<64x64xi32>
//       %base = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
//       %ptrs = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
//       %down = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
//       %down64 = arith.muli %down, %stride : tensor<64x1xi32>
//       %downs = tt.broadcast %down64 : tensor<64x1xi32> -> tensor<64x64xi32>
//       %offsets2 = arith.addi %downs, %cols : tensor<64x64xi32>
//       %base2 = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
//       %ptrs2 = tt.addptr %base2, %offsets2 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
//       %blocks = arith.divsi %k, %c64 : i32
//       %sum:2 = scf.for %i = %c0 to %blocks step %c1 iter_args(%a = %ptrs, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
//         %done = arith.muli %i, %c64 : i32
//         %left = arith.subi %k, %done : i32
//         %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
//         %inside = arith.cmpi slt, %col, %lefts : tensor<1x64xi32>
//         %mask = tt.broadcast %inside : tensor<1x64xi1> -> tensor<64x64xi1>
//         %xs = tt.load %a, %mask, %zeros : tensor<64x64x!tt.ptr<f16>>
//         %ys = tt.load %ptrs2 : tensor<64x64x!tt.ptr<f16>>
//         %next = tt.dot %xs, %ys, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
//         %a2 = tt.addptr %a, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
//         scf.yield %a2, %next : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
//       }
//       %out = tt.splat %z : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
//       %outs = tt.addptr %out, %offsets2 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
//       tt.store %outs, %sum#1 : tensor<64x64x!tt.ptr<f32>>
//     }
//     tt.return
//   }
// }
