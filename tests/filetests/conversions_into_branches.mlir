// RUN: reorder-instructions
// A conversion needed in one branch sinks into it; one needed in both, or after them, does not.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @one
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tt.print
  // CHECK-NEXT: } else {
  // CHECK-NEXT: tt.print
  // CHECK-NEXT: %[[Y:.*]] = ttg.convert_layout %x
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tt.store %p, %[[Y]]
  tt.func public @one(%x: tensor<64x32xf32, #mma>, %p: tensor<64x32x!tt.ptr<f32>, #blocked>, %c: i1, %n: i32) {
    %y = ttg.convert_layout %x : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #blocked>
    scf.if %c {
      tt.print "then" {hex = false, isSigned = array<i32: 1>} : %n : i32
    } else {
      tt.print "else" {hex = false, isSigned = array<i32: 1>} : %n : i32
      scf.if %c {
        tt.store %p, %y : tensor<64x32x!tt.ptr<f32>, #blocked>
      }
      tt.store %p, %y : tensor<64x32x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
  // CHECK-LABEL: @both
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: scf.if
  tt.func public @both(%x: tensor<64x32xf32, #mma>, %p: tensor<64x32x!tt.ptr<f32>, #blocked>, %c: i1) {
    %y = ttg.convert_layout %x : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #blocked>
    scf.if %c {
      tt.store %p, %y : tensor<64x32x!tt.ptr<f32>, #blocked>
    } else {
      tt.store %p, %y : tensor<64x32x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
  // CHECK-LABEL: @behind
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: scf.if
  tt.func public @behind(%x: tensor<64x32xf32, #mma>, %p: tensor<64x32x!tt.ptr<f32>, #blocked>, %c: i1) {
    %y = ttg.convert_layout %x : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #blocked>
    scf.if %c {
      tt.store %p, %y : tensor<64x32x!tt.ptr<f32>, #blocked>
    }
    tt.store %p, %y : tensor<64x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
