// RUN: rematerialize-after-loops
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#rows = #ttg.slice<{dim = 1, parent = #mma}>
!a = tensor<128x16xf16, #left>
!b = tensor<16x256xf16, #right>
!c = tensor<128x256xf32, #mma>
!half = tensor<64x256xf32, #mma>
!r = tensor<128xi32, #rows>
!p = tensor<128x!tt.ptr<i32>, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Values used in the loop are live after it; values computed from them are rematerialized, loads are not.
  // CHECK-LABEL: @uses
  // CHECK: %rows = tt.make_range
  // CHECK-NOT: tt.addptr %base, %rows
  // CHECK: %loaded = tt.load
  // CHECK-NEXT: %next = arith.addi %loaded
  // CHECK-NEXT: scf.for
  // CHECK: tritium.high_register_pressure
  // CHECK: [[BASE:%.*]] = tt.splat %out
  // CHECK-NEXT: [[PLACES:%.*]] = tt.addptr [[BASE]], %rows
  // CHECK: tt.store [[PLACES]], %next
  tt.func public @uses(%a: !a, %b: !b, %out: !tt.ptr<i32>, %from: !p, %zeros: !c, %n: i32) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : !r
    %base = tt.splat %out : !tt.ptr<i32> -> !p
    %places = tt.addptr %base, %rows : !p, !r
    %loaded = tt.load %from : !p
    %next = arith.addi %loaded, %loaded : !r
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!c) : i32 {
      %d = tt.dot %a, %b, %acc {inputPrecision = 0 : i32} : !a * !b -> !c
      tt.store %from, %rows : !p
      scf.yield %d : !c
    }
    tt.store %places, %next : !p
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %places, %next : !p
    }
    tt.return %sum : !c
  }
  // After a second loop it is rematerialized again, and in between for its uses there. After the last loop it is kept.
  // CHECK-LABEL: @two
  // CHECK-NOT: tt.make_range
  // CHECK: scf.for
  // CHECK: tritium.high_register_pressure
  // CHECK-NEXT: [[FIRST:%.*]] = tt.make_range
  // CHECK-NEXT: tt.store %from, [[FIRST]]
  // CHECK-NEXT: scf.for
  // CHECK: tritium.high_register_pressure
  // CHECK-NEXT: [[SECOND:%.*]] = tt.make_range
  // CHECK-NEXT: tt.store %from, [[SECOND]]
  // CHECK-NEXT: scf.for
  // CHECK-NOT: tritium.high_register_pressure
  // CHECK: tt.store %from, [[SECOND]]
  // CHECK-NEXT: tt.return
  tt.func public @two(%a: !a, %b: !b, %from: !p, %zeros: !c, %n: i32) -> (!c, !c) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : !r
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!c) : i32 {
      %d = tt.dot %a, %b, %acc {inputPrecision = 0 : i32} : !a * !b -> !c
      scf.yield %d : !c
    }
    tt.store %from, %rows : !p
    %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!c) : i32 {
      %d = tt.dot %a, %b, %acc {inputPrecision = 0 : i32} : !a * !b -> !c
      scf.yield %d : !c
    }
    tt.store %from, %rows : !p
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!c) : i32 {
      %d = tt.dot %a, %b, %acc {inputPrecision = 0 : i32} : !a * !b -> !c
      scf.yield %d : !c
    }
    tt.store %from, %rows : !p
    tt.return %last, %more : !c, !c
  }
  // Values of a nested loop are kept; so are those of a loop with half of the accumulators.
  // CHECK-LABEL: @inner
  // CHECK-NOT: tritium.high_register_pressure
  tt.func public @inner(%a: !a, %b: !b, %from: !p, %zeros: !c, %n: i32) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : !r
    %all = scf.for %j = %c0 to %n step %c1 iter_args(%outer = %zeros) -> (!c) : i32 {
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %outer) -> (!c) : i32 {
        %d = tt.dot %a, %b, %acc {inputPrecision = 0 : i32} : !a * !b -> !c
        scf.yield %d : !c
      }
      tt.store %from, %rows : !p
      scf.yield %sum : !c
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %from, %rows : !p
    }
    tt.return %all : !c
  }
  // CHECK-LABEL: @few
  // CHECK-NOT: tritium.high_register_pressure
  tt.func public @few(%a: tensor<64x16xf16, #left>, %b: !b, %from: !p, %zeros: !half, %n: i32) -> !half {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rows = tt.make_range {end = 128 : i32, start = 0 : i32} : !r
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!half) : i32 {
      %d = tt.dot %a, %b, %acc {inputPrecision = 0 : i32} : tensor<64x16xf16, #left> * !b -> !half
      scf.yield %d : !half
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %from, %rows : !p
    }
    tt.return %sum : !half
  }
}
