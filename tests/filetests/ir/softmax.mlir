// RUN: print
tt.func public @softmax(%out: !tt.ptr<f32>, %in: !tt.ptr<f32>, %stride: i32, %rows: i32, %cols: i32) {
  %low = arith.constant dense<0xFF800000> : tensor<1024xf32>
  %first = tt.get_program_id x : i32
  %step = tt.get_num_programs x : i32
  scf.for %row = %first to %rows step %step : i32 {
    %off = arith.muli %row, %stride : i32
    %ptr = tt.addptr %in, %off : !tt.ptr<f32>, i32
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
    %p = tt.splat %ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %c = tt.splat %cols : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %r, %c : tensor<1024xi32>
    %x = tt.load %q, %mask, %low : tensor<1024x!tt.ptr<f32>>
    %m = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.maxnumf %a, %b : f32
      tt.reduce.return %t : f32
    }) : (tensor<1024xf32>) -> f32
    %ms = tt.splat %m : f32 -> tensor<1024xf32>
    %d = arith.subf %x, %ms : tensor<1024xf32>
    %e = math.exp %d : tensor<1024xf32>
    tt.store %q, %e, %mask : tensor<1024x!tt.ptr<f32>>
  } {tt.flatten}
  tt.return
}
// CHECK: tt.func public @softmax(%[[OUT:.*]]: !tt.ptr<f32>, %in: !tt.ptr<f32>
// CHECK: scf.for %row = %first to %rows step %step  : i32 {
// CHECK: %x = tt.load %q, %mask, %{{.*}} : tensor<1024x!tt.ptr<f32>>
// CHECK: %m = "tt.reduce"(%x) <{axis = 0 : i32}> ({
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %t = arith.maxnumf %a, %b : f32
// CHECK-NOT: scf.yield
// CHECK: } {tt.flatten}
