// RUN: cse
tt.func public @reads(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %c: i1) {
  // Two reads with no write between them are one; after a write they are not.
  %a = tt.load %p : !tt.ptr<i32>
  %b = tt.load %p : !tt.ptr<i32>
  tt.store %q, %b : !tt.ptr<i32>
  %d = tt.load %p : !tt.ptr<i32>
  tt.store %q, %d : !tt.ptr<i32>
  %v = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %w = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %s = arith.addi %v, %w : i32
  %t = arith.addi %w, %v : i32
  %u = arith.addi %s, %t : i32
  tt.store %q, %u : !tt.ptr<i32>
  // Dominating operations are reused; an operation in a branch is not reused after it.
  scf.if %c {
    %e = arith.addi %v, %w : i32
    %f = arith.muli %v, %w : i32
    %g = arith.addi %e, %f : i32
    tt.store %q, %g : !tt.ptr<i32>
  }
  %h = arith.muli %v, %w : i32
  tt.store %q, %h : !tt.ptr<i32>
  tt.return
}
tt.func public @loop_reads(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i32
  %a = tt.load %p : !tt.ptr<i32>
  // The body writes after it reads, so its read is not the one above.
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = tt.load %p : !tt.ptr<i32>
    %d = arith.addi %b, %a : i32
    %e = arith.addi %d, %one : i32
    tt.store %p, %e : !tt.ptr<i32>
  }
  tt.return
}
tt.func public @regions(%p: !tt.ptr<f32>, %x: tensor<16xf32>) {
  %a = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  %b = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%m: f32, %n: f32):
    %t = arith.addf %m, %n : f32
    tt.reduce.return %t : f32
  }) : (tensor<16xf32>) -> f32
  %c = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.maxnumf %l, %r : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  tt.store %p, %a : !tt.ptr<f32>
  tt.store %p, %b : !tt.ptr<f32>
  tt.store %p, %c : !tt.ptr<f32>
  tt.return
}
// OUTPUT
// module {
//   tt.func public @reads(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %c: i1) {
//     %a = tt.load %p : !tt.ptr<i32>
//     tt.store %q, %a : !tt.ptr<i32>
//     %d = tt.load %p : !tt.ptr<i32>
//     tt.store %q, %d : !tt.ptr<i32>
//     %v = tt.load %p {isVolatile = true} : !tt.ptr<i32>
//     %w = tt.load %p {isVolatile = true} : !tt.ptr<i32>
//     %s = arith.addi %v, %w : i32
//     %u = arith.addi %s, %s : i32
//     tt.store %q, %u : !tt.ptr<i32>
//     scf.if %c {
//       %f = arith.muli %v, %w : i32
//       %g = arith.addi %s, %f : i32
//       tt.store %q, %g : !tt.ptr<i32>
//     }
//     %h = arith.muli %v, %w : i32
//     tt.store %q, %h : !tt.ptr<i32>
//     tt.return
//   }
//   tt.func public @loop_reads(%p: !tt.ptr<i32>, %n: i32) {
//     %c0 = arith.constant 0 : i32
//     %c1 = arith.constant 1 : i32
//     %a = tt.load %p : !tt.ptr<i32>
//     scf.for %i = %c0 to %n step %c1  : i32 {
//       %b = tt.load %p : !tt.ptr<i32>
//       %d = arith.addi %b, %a : i32
//       %e = arith.addi %d, %c1 : i32
//       tt.store %p, %e : !tt.ptr<i32>
//     }
//     tt.return
//   }
//   tt.func public @regions(%p: !tt.ptr<f32>, %x: tensor<16xf32>) {
//     %a = "tt.reduce"(%x) <{axis = 0 : i32}> ({
//     ^bb0(%l: f32, %r: f32):
//       %s = arith.addf %l, %r : f32
//       tt.reduce.return %s : f32
//     }) : (tensor<16xf32>) -> f32
//     %c = "tt.reduce"(%x) <{axis = 0 : i32}> ({
//     ^bb0(%l: f32, %r: f32):
//       %s = arith.maxnumf %l, %r : f32
//       tt.reduce.return %s : f32
//     }) : (tensor<16xf32>) -> f32
//     tt.store %p, %a : !tt.ptr<f32>
//     tt.store %p, %a : !tt.ptr<f32>
//     tt.store %p, %c : !tt.ptr<f32>
//     tt.return
//   }
// }
