// RUN: host-tensor-maps
// The launcher encodes a descriptor made from arguments; one that depends on the program stays.
module {
  tt.func public @rows(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %n: i32) {
    %c64_i32 = arith.constant 64 : i32
    %c64_i64 = arith.constant 64 : i64
    %c1_i64 = arith.constant 1 : i64
    %m = arith.muli %n, %c64_i32 : i32
    %from = tt.make_tensor_descriptor %x, [%m, %c64_i32], [%c64_i64, %c1_i64] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %i = tt.get_program_id x : i32
    %at = tt.addptr %y, %i : !tt.ptr<f16>, i32
    %to = tt.make_tensor_descriptor %at, [%m, %c64_i32], [%c64_i64, %c1_i64] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
    %block = tt.descriptor_load %from[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    tt.descriptor_store %to[%i, %i], %block : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
    tt.return
  }
}
// OUTPUT
// module {
//   tt.func public @rows(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %n: i32, %from: !tt.tensordesc<64x64xf16> {tritium.host_map = "{'base':['arg',64,0],'shape':[['mul',32,['arg',32,2],64],64],'strides':[64,1],'nan':false}"}) {
//     %c64_i32 = arith.constant 64 : i32
//     %c64_i64 = arith.constant 64 : i64
//     %c1_i64 = arith.constant 1 : i64
//     %m = arith.muli %n, %c64_i32 : i32
//     %i = tt.get_program_id x : i32
//     %at = tt.addptr %y, %i : !tt.ptr<f16>, i32
//     %to = tt.make_tensor_descriptor %at, [%m, %c64_i32], [%c64_i64, %c1_i64] : <f16>, <64x64xf16>
//     %block = tt.descriptor_load %from[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
//     tt.descriptor_store %to[%i, %i], %block : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
//     tt.return
//   }
// }
