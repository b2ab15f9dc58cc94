// RUN: print
tt.func @f(%x: f32, %p: !tt.ptr<f32>, %t: tensor<8xf32>, %c: i1) {
  %0 = arith.addi %x, %x : f32 // error: V16: operands must be integers, not f32
  %1 = tt.broadcast %t : tensor<8xf32> -> tensor<16xf32> // error: tensor<8xf32> cannot be broadcast to tensor<16xf32>
  tt.store %p, %t : !tt.ptr<f32> // error: !tt.ptr<f32> points to f32, not tensor<8xf32>
  %2 = tt.dot %t, %t, %t : tensor<8xf32> * tensor<8xf32> -> tensor<8xf32> // error: needs operands of rank 2 or 3
  tt.call @nowhere() : () -> () // error: V15: there is no symbol @nowhere
  tt.return
}
