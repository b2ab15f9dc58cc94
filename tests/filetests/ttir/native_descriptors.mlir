// RUN: rewrite-tensor-descriptor-to-pointer{native=90}
module {
  // Built or passed, through a branch: TMA supports them.
  // CHECK-LABEL: @stay(%x: !tt.tensordesc<16x32xf16>
  // CHECK: tt.make_tensor_descriptor
  // CHECK: tt.descriptor_load
  tt.func public @stay(%x: !tt.tensordesc<16x32xf16>, %p: !tt.ptr<f16>, %n: i32 {tt.divisibility = 8 : i32}, %s: i64, %c: i1) {
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %y = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <16x32xf16>
    %d = arith.select %c, %x, %y : !tt.tensordesc<16x32xf16>
    %v = tt.descriptor_load %d[%n, %zero] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
    tt.descriptor_store %d[%n, %zero], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
    tt.return
  }
  // Rows that are written end at multiples of 16 bytes: as their size or a stride states, or the host. Loads need not.
  // Where nothing states it, the kernel tests it.
  // CHECK-LABEL: @ends
  // CHECK-SAME: %x: !tt.ptr<f16>
  // CHECK-SAME: %y: !tt.tensordesc<16x32xf16>
  // CHECK: tt.store
  // CHECK: tt.make_tensor_descriptor
  // CHECK-NEXT: tt.descriptor_store
  // CHECK: %[[D:.*]] = tt.make_tensor_descriptor {{.*}} {tritium.whole_rows}
  // CHECK: %[[REST:.*]] = arith.remsi %n, %{{.*}} : i32
  // CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]], %{{.*}} : i32
  // CHECK: scf.if %[[WHOLE]] {
  // CHECK-NEXT: tt.descriptor_store %[[D]]
  // CHECK-NEXT: } else {
  // CHECK: tt.store
  // CHECK: } {tritium.unlikely}
  // CHECK: tt.make_tensor_descriptor
  // CHECK-NEXT: tt.descriptor_load
  // CHECK-NOT: tt.make_tensor_descriptor
  tt.func public @ends(%x: !tt.tensordesc<16x32xf16> {tt.uneven_rows}, %y: !tt.tensordesc<16x32xf16> {tt.uneven_rows}, %p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %wide = arith.extsi %n : i32 to i64
    %v = tt.descriptor_load %y[%zero, %zero] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
    tt.descriptor_store %x[%zero, %zero], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
    %strided = tt.make_tensor_descriptor %p, [%n, %n], [%wide, %one] : <f16>, <16x32xf16>
    tt.descriptor_store %strided[%zero, %zero], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
    %apart = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <16x32xf16>
    tt.descriptor_store %apart[%zero, %zero], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
    %read = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <16x32xf16>
    %u = tt.descriptor_load %read[%zero, %zero] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
    tt.descriptor_store %strided[%zero, %zero], %u : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
    tt.return
  }
  // Bytes cannot be filled with NaN, nor rows have a stride of 24 bytes; other descriptors are kept.
  // CHECK-LABEL: @some
  // CHECK: tt.load
  // CHECK: tt.load
  // CHECK: tt.make_tensor_descriptor %p
  // CHECK-NOT: tt.make_tensor_descriptor
  // CHECK: tt.descriptor_load
  tt.func public @some(%q: !tt.ptr<f8E5M2>, %p: !tt.ptr<f16>, %n: i32, %s: i64) -> (tensor<16x32xf8E5M2>, tensor<16x32xf16>, tensor<16x32xf16>) {
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %twelve = arith.constant 12 : i64
    %x = tt.make_tensor_descriptor %q, [%n, %n], [%s, %one] {padding = 2 : i32} : <f8E5M2>, <16x32xf8E5M2>
    %u = tt.descriptor_load %x[%n, %zero] : !tt.tensordesc<16x32xf8E5M2> -> tensor<16x32xf8E5M2>
    %y = tt.make_tensor_descriptor %p, [%n, %n], [%twelve, %one] : <f16>, <16x32xf16>
    %v = tt.descriptor_load %y[%n, %zero] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
    %z = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <16x32xf16>
    %w = tt.descriptor_load %z[%n, %zero] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
    tt.return %u, %v, %w : tensor<16x32xf8E5M2>, tensor<16x32xf16>, tensor<16x32xf16>
  }
  // A parameter whose rows are gathered, and one that is kept: the kernel records which.
  // CHECK-LABEL: @rows
  // CHECK-SAME: %x: !tt.ptr<f32>
  // CHECK-SAME: %y: !tt.tensordesc<16x32xf32>
  // CHECK-SAME: tritium.descriptors = [false, true]
  // CHECK: tt.descriptor_store
  tt.func public @rows(%x: !tt.tensordesc<1x32xf32>, %y: !tt.tensordesc<16x32xf32>, %r: tensor<16xi32>, %i: i32) {
    %zero = arith.constant 0 : i32
    %v = tt.descriptor_gather %x[%r, %i] : (!tt.tensordesc<1x32xf32>, tensor<16xi32>, i32) -> tensor<16x32xf32>
    tt.descriptor_store %y[%i, %zero], %v : !tt.tensordesc<16x32xf32>, tensor<16x32xf32>
    tt.return
  }
  // TMA requires rows of tiles to start at multiples of 16 bytes, which is known for one column here.
  // CHECK-LABEL: @columns
  // CHECK-SAME: %x: !tt.ptr<f16>
  // CHECK-SAME: %y: !tt.tensordesc<16x32xf16>
  tt.func public @columns(%x: !tt.tensordesc<16x32xf16>, %y: !tt.tensordesc<16x32xf16>, %i: i32, %k: i32) {
    %eight = arith.constant 8 : i32
    %j = arith.muli %k, %eight : i32
    %v = tt.descriptor_load %x[%i, %k] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
    tt.descriptor_store %y[%i, %j], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
    tt.return
  }
  // Two descriptors of one operation are live at once where a loop carries its result, not where it yields another.
  // CHECK-LABEL: @carried
  // CHECK-NOT: tt.make_tensor_descriptor
  // CHECK-LABEL: @kept
  // CHECK: tt.make_tensor_descriptor
  // CHECK: tt.make_tensor_descriptor
  tt.func public @carried(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f32>, <16x32xf32>
    %e = scf.for %i = %zero to %n step %step iter_args(%e = %d) -> (!tt.tensordesc<16x32xf32>) : i32 {
      %v = tt.descriptor_load %e[%i, %zero] : !tt.tensordesc<16x32xf32> -> tensor<16x32xf32>
      tt.descriptor_store %d[%i, %zero], %v : !tt.tensordesc<16x32xf32>, tensor<16x32xf32>
      %f = tt.make_tensor_descriptor %p, [%i, %i], [%s, %one] : <f32>, <16x32xf32>
      scf.yield %f : !tt.tensordesc<16x32xf32>
    }
    tt.return
  }
  tt.func public @kept(%p: !tt.ptr<f32>, %n: i32 {tt.divisibility = 4 : i32}, %s: i64) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f32>, <16x32xf32>
    scf.for %i = %zero to %n step %step : i32 {
      %f = tt.make_tensor_descriptor %p, [%i, %i], [%s, %one] : <f32>, <16x32xf32>
      %v = tt.descriptor_load %f[%i, %zero] : !tt.tensordesc<16x32xf32> -> tensor<16x32xf32>
      tt.descriptor_store %d[%i, %zero], %v : !tt.tensordesc<16x32xf32>, tensor<16x32xf32>
    }
    tt.return
  }
}
