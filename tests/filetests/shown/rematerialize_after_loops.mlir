// RUN: rematerialize-after-loops
// A 128 x 256 dot by four warps needs 256 registers a thread: rows, addresses and mask are rematerialized after it.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x256xf16, #shared, #smem, mutable>, %in: !tt.ptr<f32>, %zeros: tensor<128x256xf32, #mma>, %n: i32, %m: i32) -> tensor<128x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xi32, #mma>
    %offsets = tt.broadcast %column : tensor<128x1xi32, #mma> -> tensor<128x256xi32, #mma>
    %base = tt.splat %in : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>, #mma>
    %places = tt.addptr %base, %offsets : tensor<128x256x!tt.ptr<f32>, #mma>, tensor<128x256xi32, #mma>
    %limit = tt.splat %m : i32 -> tensor<128x256xi32, #mma>
    %mask = arith.cmpi slt, %offsets, %limit : tensor<128x256xi32, #mma>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<128x256xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x256xf16, #shared, #smem, mutable> -> tensor<128x256xf32, #mma>
      scf.yield %d : tensor<128x256xf32, #mma>
    }
    %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<128x256xf32, #mma>) : i32 {
      %x = tt.load %places, %mask : tensor<128x256x!tt.ptr<f32>, #mma>
      %y = arith.addf %acc, %x : tensor<128x256xf32, #mma>
      scf.yield %y : tensor<128x256xf32, #mma>
    }
    tt.return %more : tensor<128x256xf32, #mma>
  }
}
// OUTPUT
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @product(%a: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x256xf16, #shared, #smem, mutable>, %in: !tt.ptr<f32>, %zeros: tensor<128x256xf32, #mma>, %n: i32, %m: i32) -> tensor<128x256xf32, #mma> {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<128x256xf32, #mma>)  : i32 {
//       %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x256xf16, #shared, #smem, mutable> -> tensor<128x256xf32, #mma>
//       scf.yield %d : tensor<128x256xf32, #mma>
//     } {tritium.high_register_pressure}
//     %base = tt.splat %in : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>, #mma>
//     %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #mma}>>
//     %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xi32, #mma>
//     %offsets = tt.broadcast %column : tensor<128x1xi32, #mma> -> tensor<128x256xi32, #mma>
//     %places = tt.addptr %base, %offsets : tensor<128x256x!tt.ptr<f32>, #mma>, tensor<128x256xi32, #mma>
//     %limit = tt.splat %m : i32 -> tensor<128x256xi32, #mma>
//     %mask = arith.cmpi slt, %offsets, %limit : tensor<128x256xi32, #mma>
//     %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<128x256xf32, #mma>)  : i32 {
//       %x = tt.load %places, %mask : tensor<128x256x!tt.ptr<f32>, #mma>
//       %y = arith.addf %acc, %x : tensor<128x256xf32, #mma>
//       scf.yield %y : tensor<128x256xf32, #mma>
//     }
//     tt.return %more : tensor<128x256xf32, #mma>
//   }
// }
