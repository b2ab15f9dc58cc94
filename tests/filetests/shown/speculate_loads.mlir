// RUN: speculate-loads
// The first program stores, the others add to the stored sum: the sum is loaded while the counter is in flight.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @add(%count: !tt.ptr<i32>, %p: tensor<128x!tt.ptr<f32>>, %mask: tensor<128xi1>, %v: tensor<128xf32>) {
    %zero = arith.constant 0 : i32
    %n = tt.load %count : !tt.ptr<i32>
    %first = arith.cmpi eq, %n, %zero : i32
    %s = scf.if %first -> (tensor<128xf32>) {
      scf.yield %v : tensor<128xf32>
    } else {
      %x = tt.load %p, %mask : tensor<128x!tt.ptr<f32>>
      %y = arith.addf %v, %x : tensor<128xf32>
      scf.yield %y : tensor<128xf32>
    }
    tt.store %p, %s, %mask : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
// OUTPUT
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @add(%count: !tt.ptr<i32>, %p: tensor<128x!tt.ptr<f32>>, %mask: tensor<128xi1>, %v: tensor<128xf32>) {
//     %zero = arith.constant 0 : i32
//     %n = tt.load %count : !tt.ptr<i32>
//     %first = arith.cmpi eq, %n, %zero : i32
//     %x = tt.load %p, %mask : tensor<128x!tt.ptr<f32>>
//     %s = scf.if %first -> (tensor<128xf32>) {
//       scf.yield %v : tensor<128xf32>
//     } else {
//       %y = arith.addf %v, %x : tensor<128xf32>
//       scf.yield %y : tensor<128xf32>
//     }
//     tt.store %p, %s, %mask : tensor<128x!tt.ptr<f32>>
//     tt.return
//   }
// }
