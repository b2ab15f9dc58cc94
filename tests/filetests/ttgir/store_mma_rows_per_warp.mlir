// RUN: store-mma-rows-per-warp
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#narrow = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#both = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
!places = tensor<64x128x!tt.ptr<f16>, #row>
!mask = tensor<64x128xi1, #row>
// CHECK: #linear = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [2, 0], [4, 0], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // What others need in the old layout stays in that.
  // CHECK-LABEL: @two
  // CHECK: %places = tt.splat %out : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #linear>
  // CHECK: [[OTHERS:%.*]] = tt.splat %out : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #blocked>
  // CHECK: [[C:%.*]] = ttg.convert_layout %d : {{.*}} -> tensor<64x128xf16, #linear>
  // CHECK: tt.store %places, [[C]] : tensor<64x128x!tt.ptr<f16>, #linear>
  // CHECK: tt.store [[OTHERS]], %e : tensor<64x128x!tt.ptr<f16>, #blocked>
  tt.func public @two(%d: tensor<64x128xf16, #mma>, %e: tensor<64x128xf16, #row>, %out: !tt.ptr<f16>) {
    %places = tt.splat %out : !tt.ptr<f16> -> !places
    %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #row>
    tt.store %places, %c : !places
    tt.store %places, %e : !places
    tt.return
  }
  // Addresses, or a mask, that are loaded are not loaded in another layout.
  // CHECK-LABEL: @loaded
  // CHECK-NOT: #linear
  tt.func public @loaded(%d: tensor<64x128xf16, #mma>, %out: !tt.ptr<f16>, %where: tensor<64x128x!tt.ptr<i1>, #row>) {
    %places = tt.splat %out : !tt.ptr<f16> -> !places
    %mask = tt.load %where : tensor<64x128x!tt.ptr<i1>, #row>
    %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #row>
    tt.store %places, %c, %mask : !places
    tt.return
  }
  // CHECK-LABEL: @given
  // CHECK-NOT: #linear
  tt.func public @given(%d: tensor<64x128xf16, #mma>, %places: !places) {
    %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #row>
    tt.store %places, %c : !places
    tt.return
  }
  // Two warps share a row: each has 8 columns of 16, half a sector of memory.
  // CHECK-LABEL: @shared_rows
  // CHECK-NOT: #linear
  tt.func public @shared_rows(%d: tensor<64x128xf16, #both>, %out: !tt.ptr<f16>) {
    %places = tt.splat %out : !tt.ptr<f16> -> !places
    %c = ttg.convert_layout %d : tensor<64x128xf16, #both> -> tensor<64x128xf16, #row>
    tt.store %places, %c : !places
    tt.return
  }
  // Rows of 64 bytes fill no line.
  // CHECK-LABEL: @short_rows
  // CHECK-NOT: #linear
  tt.func public @short_rows(%d: tensor<64x32xf16, #mma>, %out: !tt.ptr<f16>) {
    %places = tt.splat %out : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #narrow>
    %c = ttg.convert_layout %d : tensor<64x32xf16, #mma> -> tensor<64x32xf16, #narrow>
    tt.store %places, %c : tensor<64x32x!tt.ptr<f16>, #narrow>
    tt.return
  }
  // In a loop, addresses are live across it: a store keeps its layout where more registers are live than a thread has,
  // and not where 128 are.
  // CHECK-LABEL: @loop_of_high_pressure
  // CHECK-NOT: #linear
  // CHECK-LABEL: @loop
  // CHECK: tt.store {{.*}}#linear>
  tt.func public @loop_of_high_pressure(%d: tensor<64x128xf16, #mma>, %out: !tt.ptr<f16>, %n: i32, %x: tensor<128x256xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<128x256xf32, #mma>) : i32 {
      %places = tt.splat %out : !tt.ptr<f16> -> !places
      %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #row>
      tt.store %places, %c : !places
      %more = arith.addf %acc, %acc : tensor<128x256xf32, #mma>
      scf.yield %more : tensor<128x256xf32, #mma>
    }
    tt.return
  }
  tt.func public @loop(%d: tensor<64x128xf16, #mma>, %out: !tt.ptr<f16>, %n: i32, %x: tensor<128x128xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<128x128xf32, #mma>) : i32 {
      %places = tt.splat %out : !tt.ptr<f16> -> !places
      %c = ttg.convert_layout %d : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #row>
      tt.store %places, %c : !places
      %more = arith.addf %acc, %acc : tensor<128x128xf32, #mma>
      scf.yield %more : tensor<128x128xf32, #mma>
    }
    tt.return
  }
}
