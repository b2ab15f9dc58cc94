// Every operation of the tt dialect.
tt.func public @add(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
  %c1024_i32 = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %programs = tt.get_num_programs y : i32
  %start = arith.muli %pid, %c1024_i32 : i32
  %steps = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %starts = tt.splat %start : i32 -> tensor<1024xi32>
  %offsets = arith.addi %starts, %steps : tensor<1024xi32>
  %bound = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offsets, %bound : tensor<1024xi32>
  %bases = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pointers = tt.addptr %bases, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pointers, %mask : tensor<1024x!tt.ptr<f32>>
  %sum = arith.addf %x, %x : tensor<1024xf32>
  tt.store %pointers, %sum, %mask : tensor<1024x!tt.ptr<f32>>
  tt.return
}

tt.func @memory(%p: !tt.ptr<f32>, %i: !tt.ptr<i32>, %x: f32, %n: i32, %c: i1, %l: i64, %ps: tensor<8x!tt.ptr<i32>>, %v: tensor<8xi32>, %m: tensor<8xi1>) {
  %cached = tt.load %p, %c, %x {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>, isVolatile = true} : !tt.ptr<f32>
  tt.store %p, %x, %c {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.ptr<f32>
  tt.store %p, %x {ignore_cta} : !tt.ptr<f32>
  %seen = tt.atomic_load acquire, gpu, %ps, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
  %one = tt.atomic_load relaxed, sys, %i : (!tt.ptr<i32>) -> i32
  tt.atomic_store release, gpu, %ps, %v, %m : tensor<8x!tt.ptr<i32>>
  tt.atomic_store relaxed, cta, %i, %n : !tt.ptr<i32>
  %ready = tt.atomic_poll acquire, gpu, %i, %n : !tt.ptr<i32>, i32 -> i1
  %late = tt.atomic_poll relaxed, sys, %ps, %v timeout %l : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %c : (!tt.ptr<f32>, f32, i1) -> f32
  %before = tt.atomic_rmw exch, relaxed, sys, %ps, %v, %m {note} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  %found = tt.atomic_cas acquire, cta, %i, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  tt.return
}

tt.func @descriptors(%p: !tt.ptr<f16>, %n: i32, %l: i64, %rows: tensor<32xi32>, %tile: tensor<64x64xf16>, %gathered: tensor<32x64xf16>, %bytes: !tt.tensordesc<16x16xui8>) {
  %desc = tt.make_tensor_descriptor %p, [%n, %n], [%l, %l] : <f16>, <64x64xf16>
  %padded = tt.make_tensor_descriptor %p, [%n, %n], [%l, %l] {padding = 2 : i32} : <f16>, <1x64xf16>
  %block = tt.descriptor_load %desc[%n, %n] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  %hinted = tt.descriptor_load %bytes[%n, %n] {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.tensordesc<16x16xui8> -> tensor<16x16xi8>
  tt.descriptor_store %desc[%n, %n], %tile : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.descriptor_reduce add, %desc[%n, %n], %tile : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  %picked = tt.descriptor_gather %padded[%rows, %n] : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  tt.descriptor_scatter %padded[%rows, %n], %gathered : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
  tt.return
}

tt.func @casts(%l: i64, %p: !tt.ptr<f32>, %x: f32, %h: f16, %ls: tensor<8xi64>) {
  %pointer = tt.int_to_ptr %l : i64 -> !tt.ptr<f32>
  %pointers = tt.int_to_ptr %ls : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  %address = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %other = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>
  %bits = tt.bitcast %x : f32 -> i32
  %narrow = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E5M2
  %cut = tt.fp_to_fp %x {note}, rounding = rtz : f32 -> f16
  %wide = tt.fp_to_fp %h : f16 -> f32
  tt.return
}

tt.func @arithmetic(%x: f32, %y: f32, %n: i32, %t: tensor<8xf32>) {
  %clamped = tt.clampf %x, %x, %y, propagateNan = none : f32
  %kept = tt.clampf %t, %t, %t, propagateNan = all {note} : tensor<8xf32>
  %root = tt.precise_sqrt %t : tensor<8xf32>
  %quotient = tt.precise_divf %x, %y : f32
  %near = tt.approx_divf %x, %y : f32
  %high = tt.mulhiui %n, %n : i32
  %sine = tt.extern_elementwise %t {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_asinf"} : (tensor<8xf32>) -> tensor<8xf32>
  %packed = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %t : tensor<8xf32> -> tensor<8xf32>
  %none = tt.elementwise_inline_asm "mov.u32 $0, %laneid;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  %two:2 = tt.elementwise_inline_asm "{ }" {constraints = "=r,=r,r,r", packed_element = 1 : i32, pure = true} %x, %y : f32, f32 -> f32, f32
  tt.return
}

tt.func @shapes(%x: f32, %t: tensor<8xf32>, %column: tensor<8x1xf32>, %pair: tensor<8x2xf32>, %one: tensor<1xf32>, %index: tensor<8xi32>) {
  %expanded = tt.expand_dims %t {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %broad = tt.broadcast %column : tensor<8x1xf32> -> tensor<8x4xf32>
  %shaped = tt.reshape %t : tensor<8xf32> -> tensor<2x4xf32>
  %anyhow = tt.reshape %t allow_reorder efficient_layout {note} : tensor<8xf32> -> tensor<4x2xf32>
  %longer = tt.cat %t, %t : tensor<8xf32> -> tensor<16xf32>
  %joined = tt.join %t, %t : tensor<8xf32> -> tensor<8x2xf32>
  %outLHS, %outRHS = tt.split %pair : tensor<8x2xf32> -> tensor<8xf32>
  %turned = tt.trans %pair {order = array<i32: 1, 0>} : tensor<8x2xf32> -> tensor<2x8xf32>
  %element = tt.unsplat %one : tensor<1xf32>
  %picked = tt.gather %t[%index] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  %placed = tt.gather %t[%index] {axis = 0 : i32, efficient_layout} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

tt.func @products(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %acc: tensor<16x16xf32>, %e4: tensor<16x32xi8>, %e4t: tensor<32x16xi8>, %s: tensor<16x2xi8>, %f8: tensor<16x64xf8E4M3FN>, %f8t: tensor<64x16xf8E5M2>, %flat: tensor<8x64xi8>, %thin: tensor<64x8xi8>) {
  %d = tt.dot %a, %b, %acc : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %how = tt.dot %a, %b, %acc, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %scaled = tt.dot_scaled %e4 scale %s, %e4t scale %s, %acc lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<32x16xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
  %half = tt.dot_scaled %f8 scale %s, %f8t, %acc lhs = e4m3 rhs = e5m2 {fastMath = true} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xf8E5M2> -> tensor<16x16xf32>
  %columns = tt.dot_scaled %f8, %thin, %acc lhs = e4m3 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<16x64xf8E4M3FN> * tensor<64x8xi8> -> tensor<16x16xf32>
  %rows = tt.dot_scaled %flat, %f8t, %acc lhs = e2m1 rhs = e5m2 {fastMath = false, lhs_k_pack = false} : tensor<8x64xi8> * tensor<64x16xf8E5M2> -> tensor<16x16xf32>
  tt.return
}

tt.func @folds(%t: tensor<4x8xf32>, %i: tensor<4x8xi32>, %ids: tensor<8xi32>, %m: tensor<8xi1>, %v: tensor<8xf32>) {
  %sum = "tt.reduce"(%t) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %next = arith.addf %a, %b : f32
    tt.reduce.return %next : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %running = "tt.scan"(%t) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    %next = arith.mulf %a, %b : f32
    tt.scan.return %next : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %best:2 = "tt.reduce"(%t, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %n: i32, %b: f32, %k: i32):
    %more = arith.cmpf ogt, %a, %b : f32
    %value = arith.select %more, %a, %b : f32
    %where = arith.select %more, %n, %k : i32
    tt.reduce.return %value, %where : f32, i32
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %mapped:2 = "tt.map_elementwise"(%v, %v) <{pack = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    cf.cond_br %less, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    tt.map_elementwise.return %a, %b : f32, f32
  ^bb2:  // pred: ^bb0
    tt.map_elementwise.return %b, %a : f32, f32
  }) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %counts = tt.histogram %ids : tensor<8xi32> -> tensor<16xi32>
  %some = tt.histogram %ids, %m : tensor<8xi32> -> tensor<16xi32>
  tt.return
}

tt.func private @callee(%x: f32, %n: i32) -> (f32, i32) attributes {noinline = true} {
  tt.return %x, %n : f32, i32
}

tt.func @debug(%x: f32, %n: i32, %m: tensor<8xi1>) {
  %both:2 = tt.call @callee(%x, %n) : (f32, i32) -> (f32, i32)
  tt.print " x: " {hex = true, isSigned = array<i32: 0, 1>} : %x, %n : f32, i32
  tt.print "here" {hex = false, isSigned = array<i32>}
  tt.assert %m, "out of bounds" : tensor<8xi1>
  tt.return
}

// -----
// Block pointers, which Triton had before descriptors.
tt.func @blocks(%base: !tt.ptr<f32>, %size: i64, %stride: i64, %i: i32) {
  %pointer = tt.make_tensor_ptr %base, [%size, %size], [%stride, %stride], [%i, %i] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xf32>>
  %next = tt.advance %pointer, [%i, %i] : !tt.ptr<tensor<4x8xf32>>
  %block = tt.load %next {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xf32>>
  tt.store %next, %block {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<4x8xf32>>
  tt.return
}
