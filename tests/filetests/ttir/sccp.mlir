// RUN: sccp
// What follows from a loop's values being what they start as; neither cse nor canonicalize sees it.
// CHECK-LABEL: @carried
tt.func public @carried(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1, %b = %c0) -> (i32, i32) : i32 {
    %x = arith.muli %a, %a : i32
    %same = arith.cmpi eq, %x, %c1 : i32
    // The second branch is unreachable: its yielded value does not count.
    %f = scf.if %same -> (i32) {
      scf.yield %c1 : i32
    } else {
      scf.yield %n : i32
    }
    // CHECK: arith.addi %b, %c1
    %y = arith.addi %b, %a : i32
    // CHECK: scf.yield %c1, %y
    scf.yield %f, %y : i32, i32
  }
  // CHECK: tt.store %p, %c1
  // CHECK: tt.store %p, %r#1
  tt.store %p, %r#0 : !tt.ptr<i32>
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.return
}

// Arms of a branch, and arguments of a block that two ways lead to.
// CHECK-LABEL: @branches
tt.func public @branches(%p: !tt.ptr<i32>, %c: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %big = arith.cmpi sgt, %c2, %c3 : i32
  cf.cond_br %c, ^a, ^b
^a:
  cf.cond_br %big, ^never, ^join(%c2, %n : i32, i32)
^b:
  cf.br ^join(%c2, %c0 : i32, i32)
^never:
  cf.br ^join(%n, %n : i32, i32)
^join(%x: i32, %y: i32):
  // CHECK: tt.store %p, %c2
  tt.store %p, %x : !tt.ptr<i32>
  // CHECK: tt.store %p, %[[Y:[a-z0-9_]+]]
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// A loop that does not run leaves what it was given, one that runs leaves what it yields; a tile is a constant too.
// CHECK-LABEL: @trips
tt.func public @trips(%p: tensor<8x!tt.ptr<i32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %t3 = arith.constant dense<3> : tensor<8xi32>
  %zero = arith.subi %c1, %c1 : i32
  %r = scf.for %i = %c0 to %zero step %c1 iter_args(%a = %t3) -> (tensor<8xi32>) : i32 {
    %t = tt.splat %n : i32 -> tensor<8xi32>
    scf.yield %t : tensor<8xi32>
  }
  // CHECK: tt.store %p, %t3
  tt.store %p, %r : tensor<8x!tt.ptr<i32>>
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %n) -> (i32) : i32 {
    scf.yield %c2 : i32
  }
  // CHECK: tt.store %p, %cst
  %t = tt.splat %s : i32 -> tensor<8xi32>
  tt.store %p, %t : tensor<8x!tt.ptr<i32>>
  tt.return
}

// CHECK-LABEL: @while
tt.func public @while(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %w:2 = scf.while (%a = %c5, %b = %n) : (i32, i32) -> (i32, i32) {
    %go = arith.cmpi slt, %b, %c0 : i32
    scf.condition(%go) %a, %b : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    // CHECK: arith.addi %b{{.*}}, %c5
    %d = arith.addi %b, %a : i32
    scf.yield %a, %d : i32, i32
  }
  // CHECK: tt.store %p, %c5
  tt.store %p, %w#0 : !tt.ptr<i32>
  // CHECK: tt.store %p, %w#1
  tt.store %p, %w#1 : !tt.ptr<i32>
  tt.return
}

// A private function is given what all its calls give it; what it returns comes out of them.
// CHECK-LABEL: @inner
tt.func private @inner(%x: i32, %y: i32) -> (i32, i32) attributes {noinline = true} {
  %c2 = arith.constant 2 : i32
  %z = arith.muli %x, %c2 : i32
  // CHECK: tt.return %c8_i32, %y
  tt.return %z, %y : i32, i32
}
// CHECK-LABEL: @calls
tt.func public @calls(%p: !tt.ptr<i32>, %n: i32) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %a:2 = tt.call @inner(%c4, %c3) : (i32, i32) -> (i32, i32)
  %b:2 = tt.call @inner(%c4, %n) : (i32, i32) -> (i32, i32)
  // CHECK: tt.store %p, %c8_i32
  tt.store %p, %a#0 : !tt.ptr<i32>
  // CHECK: tt.store %p, %a#1
  tt.store %p, %a#1 : !tt.ptr<i32>
  tt.return
}

// A function that anybody may call takes anything.
// CHECK-LABEL: @exported
tt.func public @exported(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  // CHECK: arith.addi %x
  %y = arith.addi %x, %c1 : i32
  tt.return %y : i32
}
// CHECK-LABEL: @caller
tt.func public @caller(%p: !tt.ptr<i32>) {
  %c1 = arith.constant 1 : i32
  %y = tt.call @exported(%c1) : (i32) -> i32
  // CHECK: tt.store %p, %y
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// What regions of operations that are not control flow are given is not known; neither is what memory holds.
// CHECK-LABEL: @unknown
tt.func public @unknown(%p: !tt.ptr<i32>, %q: tensor<8x!tt.ptr<i32>>) {
  %c1 = arith.constant 1 : i32
  %ones = arith.constant dense<1> : tensor<8xi32>
  tt.store %p, %c1 : !tt.ptr<i32>
  // CHECK: %[[V:.*]] = tt.load %p
  %v = tt.load %p : !tt.ptr<i32>
  // CHECK: tt.store %p, %[[V]]
  tt.store %p, %v : !tt.ptr<i32>
  %s = "tt.reduce"(%ones) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    // CHECK: arith.addi
    %t = arith.addi %l, %r : i32
    tt.reduce.return %t : i32
  }) : (tensor<8xi32>) -> i32
  // CHECK: tt.store %p, %{{[0-9s]+}} : !tt.ptr<i32>
  tt.store %p, %s : !tt.ptr<i32>
  // Division by zero returns the dividend.
  %c0 = arith.constant 0 : i32
  // CHECK-NOT: arith.divsi
  %d = arith.divsi %c1, %c0 : i32
  tt.store %p, %d : !tt.ptr<i32>
  tt.return
}
