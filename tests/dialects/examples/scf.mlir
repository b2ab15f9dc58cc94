// Every operation of the scf dialect.
tt.func @sum(%n: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %sum = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%s = %c0_i32) -> (i32) : i32 {
    %next = arith.addi %s, %i : i32
    scf.yield %next : i32
  }
  tt.return %sum : i32
}

tt.func @maximum(%a: i32, %b: i32) -> i32 {
  %more = arith.cmpi sgt, %a, %b : i32
  %result = scf.if %more -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  tt.return %result : i32
}

tt.func @next_power_of_two(%n: i32) -> i32 {
  %c1_i32 = arith.constant 1 : i32
  %power = scf.while (%p = %c1_i32) : (i32) -> i32 {
    %small = arith.cmpi slt, %p, %n : i32
    scf.condition(%small) %p : i32
  } do {
  ^bb0(%p: i32):
    %doubled = arith.shli %p, %c1_i32 : i32
    scf.yield %doubled : i32
  }
  tt.return %power : i32
}

tt.func @rare(%i: index, %a: i32, %b: i32) {
  %once = scf.execute_region -> i32 {
    scf.yield %a : i32
  }
  %case = scf.index_switch %i -> i32 
  case 2 {
    scf.yield %a : i32
  }
  default {
    scf.yield %b : i32
  }
  tt.return
}
