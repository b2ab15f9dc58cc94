// RUN: pad-shapes, cse

tt.func public @total(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %at = tt.make_range {end = 100 : i32, start = 0 : i32} : tensor<100xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<100x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<100x!tt.ptr<f32>>, tensor<100xi32>
  %v = tt.load %p : tensor<100x!tt.ptr<f32>>
  %e = math.exp %v : tensor<100xf32>
  %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tt.reduce.return %sum : f32
  }) : (tensor<100xf32>) -> f32
  tt.store %y, %s : !tt.ptr<f32>
  tt.return
}

// OUTPUT
// module {
//   tt.func public @total(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
//     %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
//     %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
//     %p = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
//     %cst = arith.constant dense<0.000000e+00> : tensor<128xf32>
//     %cst_0 = arith.constant dense<100> : tensor<128xi32>
//     %0 = arith.cmpi slt, %at, %cst_0 : tensor<128xi32>
//     %v = tt.load %p, %0, %cst : tensor<128x!tt.ptr<f32>>
//     %e = math.exp %v : tensor<128xf32>
//     %cst_1 = arith.constant dense<-0.000000e+00> : tensor<128xf32>
//     %1 = arith.select %0, %e, %cst_1 : tensor<128xi1>, tensor<128xf32>
//     %s = "tt.reduce"(%1) <{axis = 0 : i32}> ({
//     ^bb0(%a: f32, %b: f32):
//       %sum = arith.addf %a, %b : f32
//       tt.reduce.return %sum : f32
//     }) : (tensor<128xf32>) -> f32
//     tt.store %y, %s : !tt.ptr<f32>
//     tt.return
//   }
// }
