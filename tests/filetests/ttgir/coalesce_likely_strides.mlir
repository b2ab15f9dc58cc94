// RUN: coalesce
#any = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #any}>
#column = #ttg.slice<{dim = 0, parent = #any}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: #[[DOWN:.*]] = #ttg.blocked<{{.*}}threadsPerWarp = [32, 1], {{.*}}order = [0, 1]}>
  // A tile of a convolution: rows are pixels, whose addresses are contiguous within a line of the image; columns are
  // channels with a stride that is not known.
  // CHECK-LABEL: @pixels
  // CHECK: tt.load {{.*}}#[[DOWN]]
  tt.func public @pixels(%p: !tt.ptr<f16>, %width: i32, %height: i32, %line: i32, %channel: i32) -> tensor<64x32xf16, #any> {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #row>
    %w = tt.splat %width : i32 -> tensor<64xi32, #row>
    %x = arith.remsi %i, %w : tensor<64xi32, #row>
    %j = arith.divsi %i, %w : tensor<64xi32, #row>
    %h = tt.splat %height : i32 -> tensor<64xi32, #row>
    %y = arith.remsi %j, %h : tensor<64xi32, #row>
    %l = tt.splat %line : i32 -> tensor<64xi32, #row>
    %down = arith.muli %y, %l : tensor<64xi32, #row>
    %at = arith.addi %down, %x : tensor<64xi32, #row>
    %at1 = tt.expand_dims %at {axis = 1 : i32} : tensor<64xi32, #row> -> tensor<64x1xi32, #any>
    %at2 = tt.broadcast %at1 : tensor<64x1xi32, #any> -> tensor<64x32xi32, #any>
    %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #column>
    %c = tt.splat %channel : i32 -> tensor<32xi32, #column>
    %ck = arith.muli %k, %c : tensor<32xi32, #column>
    %ck1 = tt.expand_dims %ck {axis = 0 : i32} : tensor<32xi32, #column> -> tensor<1x32xi32, #any>
    %ck2 = tt.broadcast %ck1 : tensor<1x32xi32, #any> -> tensor<64x32xi32, #any>
    %offset = arith.addi %at2, %ck2 : tensor<64x32xi32, #any>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #any>
    %q = tt.addptr %base, %offset : tensor<64x32x!tt.ptr<f16>, #any>, tensor<64x32xi32, #any>
    %v = tt.load %q : tensor<64x32x!tt.ptr<f16>, #any>
    tt.return %v : tensor<64x32xf16, #any>
  }
  // Two unknown strides: the last axis, as ever.
  // CHECK-LABEL: @two_unknown_strides
  // CHECK-NOT: #[[DOWN]]
  tt.func public @two_unknown_strides(%q: tensor<64x32x!tt.ptr<f16>, #any>) -> tensor<64x32xf16, #any> {
    %v = tt.load %q : tensor<64x32x!tt.ptr<f16>, #any>
    tt.return %v : tensor<64x32xf16, #any>
  }
  // Two runtime strides: that of the columns is a multiple of 16, that of the rows is not, so that the rows are inside.
  // CHECK-LABEL: @divisors
  // CHECK: tt.load {{.*}}#[[DOWN]]
  tt.func public @divisors(%p: !tt.ptr<f16>, %inner: i32, %outer: i32 {tt.divisibility = 16 : i32}) -> tensor<64x32xf16, #any> {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #row>
    %n = tt.splat %inner : i32 -> tensor<64xi32, #row>
    %x = arith.muli %i, %n : tensor<64xi32, #row>
    %x1 = tt.expand_dims %x {axis = 1 : i32} : tensor<64xi32, #row> -> tensor<64x1xi32, #any>
    %x2 = tt.broadcast %x1 : tensor<64x1xi32, #any> -> tensor<64x32xi32, #any>
    %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #column>
    %o = tt.splat %outer : i32 -> tensor<32xi32, #column>
    %y = arith.muli %k, %o : tensor<32xi32, #column>
    %y1 = tt.expand_dims %y {axis = 0 : i32} : tensor<32xi32, #column> -> tensor<1x32xi32, #any>
    %y2 = tt.broadcast %y1 : tensor<1x32xi32, #any> -> tensor<64x32xi32, #any>
    %offset = arith.addi %x2, %y2 : tensor<64x32xi32, #any>
    %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #any>
    %q = tt.addptr %base, %offset : tensor<64x32x!tt.ptr<f16>, #any>, tensor<64x32xi32, #any>
    %v = tt.load %q : tensor<64x32x!tt.ptr<f16>, #any>
    tt.return %v : tensor<64x32xf16, #any>
  }
}
