// RUN: decompose-scaled-dot{tensor-cores}
// Elements of 8 bits and fewer, times powers of two or fp8, have 8 significant bits at most: bf16 holds them.
// CHECK-LABEL: @small
// CHECK: arith.truncf {{.*}} to tensor<4x32xbf16>
// CHECK: arith.truncf {{.*}} to tensor<32x4xbf16>
// CHECK: tt.dot {{.*}} : tensor<4x32xbf16> * tensor<32x4xbf16> -> tensor<4x4xf32>
tt.func @small(%a: tensor<4x32xf8E4M3FN>, %b: tensor<32x4xf8E4M3FN>, %scale: tensor<4x1xf8E4M3FN>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a, %b scale %scale, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<4x32xf8E4M3FN> * tensor<32x4xf8E4M3FN>, tensor<4x1xf8E4M3FN> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// fp16 has 11: two bf16 hold them, the small one first.
// CHECK-LABEL: @halves
// CHECK: %[[OTHER:.*]] = arith.truncf {{.*}} to tensor<32x4xbf16>
// CHECK: %[[SMALL:.*]] = tt.dot {{.*}}, %[[OTHER]], %c : tensor<4x32xbf16> * tensor<32x4xbf16> -> tensor<4x4xf32>
// CHECK: tt.dot {{.*}}, %[[OTHER]], %[[SMALL]] : tensor<4x32xbf16> * tensor<32x4xbf16> -> tensor<4x4xf32>
tt.func @halves(%a: tensor<4x32xf16>, %b: tensor<32x4xf8E4M3FN>, %scale: tensor<4x1xi8>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a, %b scale %scale, %c lhs = fp16 rhs = e4m3 {fastMath = false} : tensor<4x32xf16> * tensor<32x4xf8E4M3FN>, tensor<4x1xi8> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// With a scale of its own it may be too large and too small for two bf16: tf32 holds it.
// CHECK-LABEL: @scaled_halves
// CHECK: tt.dot {{.*}}, inputPrecision = tf32 : tensor<4x32xf32> * tensor<32x4xf32> -> tensor<4x4xf32>
tt.func @scaled_halves(%a: tensor<4x32xf16>, %scale: tensor<4x1xi8>, %b: tensor<32x4xf8E4M3FN>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a scale %scale, %b, %c lhs = fp16 rhs = e4m3 {fastMath = false} : tensor<4x32xf16>, tensor<4x1xi8> * tensor<32x4xf8E4M3FN> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// Without any scale they are what tensor cores multiply.
// CHECK-LABEL: @plain_halves
// CHECK-NOT: arith
// CHECK: tt.dot %a, %b, %c : tensor<4x32xf16> * tensor<32x4xf16> -> tensor<4x4xf32>
tt.func @plain_halves(%a: tensor<4x32xf16>, %b: tensor<32x4xf16>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a, %b, %c lhs = fp16 rhs = fp16 {fastMath = false} : tensor<4x32xf16> * tensor<32x4xf16> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// bf16 times fp8 has 12: only f32 holds them.
// CHECK-LABEL: @many
// CHECK: tt.dot {{.*}} : tensor<4x32xf32> * tensor<32x4xf32> -> tensor<4x4xf32>
tt.func @many(%a: tensor<4x32xbf16>, %s: tensor<4x1xf8E4M3FN>, %b: tensor<32x4xf8E4M3FN>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = bf16 rhs = e4m3 {fastMath = false} : tensor<4x32xbf16>, tensor<4x1xf8E4M3FN> * tensor<32x4xf8E4M3FN> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// What is fast may overflow: fp16 itself is multiplied.
// CHECK-LABEL: @fast_halves
// CHECK: %[[ELEMENTS:.*]] = tt.fp_to_fp %b : tensor<32x4xf8E4M3FN> -> tensor<32x4xf16>
// CHECK: arith.truncf {{.*}} : tensor<4x1xf32> to tensor<4x1xf16>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[ELEMENTS]], {{.*}} : tensor<32x4xf16>
// CHECK: tt.dot %a, %[[SCALED]], %c : tensor<4x32xf16> * tensor<32x4xf16> -> tensor<4x4xf32>
// CHECK-NEXT: tt.return
tt.func @fast_halves(%a: tensor<4x32xf16>, %b: tensor<32x4xf8E4M3FN>, %scale: tensor<4x1xi8>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a, %b scale %scale, %c lhs = fp16 rhs = e4m3 {fastMath = true} : tensor<4x32xf16> * tensor<32x4xf8E4M3FN>, tensor<4x1xi8> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
// Beside bf16 nothing changes.
// CHECK-LABEL: @fast_bf16
// CHECK-COUNT-2: tt.dot {{.*}} : tensor<4x32xbf16> * tensor<32x4xbf16> -> tensor<4x4xf32>
tt.func @fast_bf16(%a: tensor<4x32xf16>, %b: tensor<32x4xbf16>, %scale: tensor<4x1xi8>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot_scaled %a, %b scale %scale, %c lhs = fp16 rhs = bf16 {fastMath = true} : tensor<4x32xf16> * tensor<32x4xbf16>, tensor<4x1xi8> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}
