// RUN: cache-hints
#a = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!ps = tensor<4096x!tt.ptr<f16>, #a>
!xs = tensor<4096xf16, #a>
!is = tensor<4096xi32, #a>
!pb = tensor<4096x!tt.ptr<f16>, #b>
!xb = tensor<4096xf16, #b>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Of three loops, the last one reads a row for the last time.
  // CHECK-LABEL: @three
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_first
  // CHECK: tt.return
  tt.func public @three(%x: !tt.ptr<f16>, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %a = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %b = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %last = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %b) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // Rows that one loop reads, or two loops each a part of, are streamed.
  // CHECK-LABEL: @once
  // CHECK-NOT: evict
  // CHECK: tt.return
  tt.func public @once(%x: !tt.ptr<f16>, %n: i32, %m: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %a = scf.for %i = %c0 to %m step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %last = scf.for %i = %m to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // The second loop reads the row from its end: %blocks - 1 blocks ahead, and back.
  // CHECK-LABEL: @backward
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_first
  // CHECK: tt.return
  tt.func public @backward(%x: !tt.ptr<f16>, %n: i32, %blocks: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %full = arith.muli %blocks, %c4096 : i32
    %end = arith.subi %full, %c4096 : i32
    %a = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %last = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %back = arith.subi %end, %i : i32
      %start = tt.splat %back : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // Another row is no repeated read, backward or forward.
  // CHECK-LABEL: @other_row
  // CHECK-NOT: evict
  // CHECK: tt.return
  tt.func public @other_row(%x: !tt.ptr<f16>, %n: i32, %stride: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %a = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %b = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %other = arith.addi %stride, %i : i32
      %start = tt.splat %other : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %last = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %b) -> (!xs) : i32 {
      %other = arith.subi %stride, %i : i32
      %start = tt.splat %other : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // Of two branches one is executed; a loop after them reads again what either has read.
  // CHECK-LABEL: @branches
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: else
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_first
  // CHECK: tt.return
  tt.func public @branches(%x: !tt.ptr<f16>, %n: i32, %c: i1) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %a = scf.if %c -> (!xs) {
      %r = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
        %start = tt.splat %i : i32 -> !is
        %cols = arith.addi %start, %range : !is
        %p = tt.addptr %px, %cols : !ps, !is
        %v = tt.load %p : !ps
        %t = arith.addf %s, %v : !xs
        scf.yield %t : !xs
      }
      scf.yield %r : !xs
    } else {
      %r = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
        %start = tt.splat %i : i32 -> !is
        %cols = arith.addi %start, %range : !is
        %p = tt.addptr %px, %cols : !ps, !is
        %v = tt.load %p : !ps
        %t = arith.addf %s, %v : !xs
        scf.yield %t : !xs
      }
      scf.yield %r : !xs
    }
    %last = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // Without that loop there is no repeated read.
  // CHECK-LABEL: @only_branches
  // CHECK-NOT: evict
  // CHECK: tt.return
  tt.func public @only_branches(%x: !tt.ptr<f16>, %n: i32, %c: i1) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %last = scf.if %c -> (!xs) {
      %r = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
        %start = tt.splat %i : i32 -> !is
        %cols = arith.addi %start, %range : !is
        %p = tt.addptr %px, %cols : !ps, !is
        %v = tt.load %p : !ps
        %t = arith.addf %s, %v : !xs
        scf.yield %t : !xs
      }
      scf.yield %r : !xs
    } else {
      %r = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
        %start = tt.splat %i : i32 -> !is
        %cols = arith.addi %start, %range : !is
        %p = tt.addptr %px, %cols : !ps, !is
        %v = tt.load %p : !ps
        %t = arith.addf %s, %v : !xs
        scf.yield %t : !xs
      }
      scf.yield %r : !xs
    }
    tt.return %last : !xs
  }
  // Policies that the kernel states are kept, and volatile loads have none.
  // CHECK-LABEL: @stated
  // CHECK: tt.load {{.*}}cache_modifier = cg, eviction_policy = evict_normal
  // CHECK: tt.load %p {isVolatile = true} :
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.return
  tt.func public @stated(%x: !tt.ptr<f16>, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %a = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p cacheModifier = cg : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %b = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p {isVolatile = true} : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %c = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %b) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %last = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %c) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p evictionPolicy = evict_last : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // Loops in a loop over rows read each row twice; the rows themselves are read once.
  // CHECK-LABEL: @rows
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_first
  // CHECK: tt.return
  tt.func public @rows(%x: !tt.ptr<f16>, %n: i32, %m: i32, %stride: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %last = scf.for %row = %c0 to %m step %c4096 iter_args(%r = %zeros) -> (!xs) : i32 {
      %row_at = arith.muli %row, %stride : i32
      %a = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %r) -> (!xs) : i32 {
        %at = arith.addi %row_at, %i : i32
        %start = tt.splat %at : i32 -> !is
        %cols = arith.addi %start, %range : !is
        %p = tt.addptr %px, %cols : !ps, !is
        %v = tt.load %p : !ps
        %t = arith.addf %s, %v : !xs
        scf.yield %t : !xs
      }
      %b = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
        %at = arith.addi %row_at, %i : i32
        %start = tt.splat %at : i32 -> !is
        %cols = arith.addi %start, %range : !is
        %p = tt.addptr %px, %cols : !ps, !is
        %v = tt.load %p : !ps
        %t = arith.addf %s, %v : !xs
        scf.yield %t : !xs
      }
      scf.yield %b : !xs
    }
    tt.return %last : !xs
  }
  // Rows of two iterations that fit into the L1 cache are found there.
  // CHECK-LABEL: @short
  // CHECK-NOT: evict
  // CHECK: tt.return
  tt.func public @short(%x: tensor<1024x!tt.ptr<f16>, #a>, %n: i32, %p: !tt.ptr<f16>) -> tensor<1024xf16, #a> {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zeros = arith.constant dense<0.000000e+00> : tensor<1024xf16, #a>
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #a>
    %a = scf.for %i = %c0 to %n step %c1024 iter_args(%s = %zeros) -> (tensor<1024xf16, #a>) : i32 {
      %start = tt.splat %i : i32 -> tensor<1024xi32, #a>
      %cols = arith.addi %start, %range : tensor<1024xi32, #a>
      %q = tt.addptr %ps, %cols : tensor<1024x!tt.ptr<f16>, #a>, tensor<1024xi32, #a>
      %v = tt.load %q : tensor<1024x!tt.ptr<f16>, #a>
      %t = arith.addf %s, %v : tensor<1024xf16, #a>
      scf.yield %t : tensor<1024xf16, #a>
    }
    %b = scf.for %i = %c0 to %n step %c1024 iter_args(%s = %a) -> (tensor<1024xf16, #a>) : i32 {
      %start = tt.splat %i : i32 -> tensor<1024xi32, #a>
      %cols = arith.addi %start, %range : tensor<1024xi32, #a>
      %q = tt.addptr %ps, %cols : tensor<1024x!tt.ptr<f16>, #a>, tensor<1024xi32, #a>
      %v = tt.load %q : tensor<1024x!tt.ptr<f16>, #a>
      %t = arith.addf %s, %v : tensor<1024xf16, #a>
      scf.yield %t : tensor<1024xf16, #a>
    }
    tt.return %b : tensor<1024xf16, #a>
  }
  // 256 KiB are kept, 512 KiB exceed the L2 cache of an SM.
  // CHECK-LABEL: @long
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_first
  // CHECK-NOT: evict
  // CHECK: tt.return
  tt.func public @long(%x: !tt.ptr<f16>, %n: i32, %y: !tt.ptr<f16>) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %c131072 = arith.constant 131072 : i32
    %c262144 = arith.constant 262144 : i32
    %py = tt.splat %y : !tt.ptr<f16> -> !ps
    %a = scf.for %i = %c0 to %c131072 step %c4096 iter_args(%s = %zeros) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %b = scf.for %i = %c0 to %c131072 step %c4096 iter_args(%s = %a) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %c = scf.for %i = %c0 to %c262144 step %c4096 iter_args(%s = %b) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %py, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    %last = scf.for %i = %c0 to %c262144 step %c4096 iter_args(%s = %c) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %py, %cols : !ps, !is
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
  // Pointers that a loop advances, and other layouts, are the same addresses.
  // CHECK-LABEL: @carried
  // CHECK: tt.load {{.*}}eviction_policy = evict_last
  // CHECK: tt.load {{.*}}eviction_policy = evict_first
  // CHECK: tt.return
  tt.func public @carried(%x: !tt.ptr<f16>, %n: i32) -> !xs {
    %c0 = arith.constant 0 : i32
    %c4096 = arith.constant 4096 : i32
    %zeros = arith.constant dense<0.000000e+00> : !xs
    %range = tt.make_range {end = 4096 : i32, start = 0 : i32} : !is
    %px = tt.splat %x : !tt.ptr<f16> -> !ps
    %by = arith.constant dense<4096> : !is
    %pa = tt.addptr %px, %range : !ps, !is
    %a:2 = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %zeros, %p = %pa) -> (!xs, !ps) : i32 {
      %v = tt.load %p : !ps
      %t = arith.addf %s, %v : !xs
      %next = tt.addptr %p, %by : !ps, !is
      scf.yield %t, %next : !xs, !ps
    }
    %last = scf.for %i = %c0 to %n step %c4096 iter_args(%s = %a#0) -> (!xs) : i32 {
      %start = tt.splat %i : i32 -> !is
      %cols = arith.addi %start, %range : !is
      %p = tt.addptr %px, %cols : !ps, !is
      %q = ttg.convert_layout %p : !ps -> !pb
        %w = tt.load %q : !pb
        %v = ttg.convert_layout %w : !xb -> !xs
      %t = arith.addf %s, %v : !xs
      scf.yield %t : !xs
    }
    tt.return %last : !xs
  }
}
