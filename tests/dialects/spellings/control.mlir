module {
  tt.func @loops(%a: i32, %b: i32, %i: index, %x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = scf.for %k = %a to %b step %a iter_args(%s = %x) -> (tensor<8xf32>)  : i32 {
      scf.yield %s : tensor<8xf32>
    } {tt.num_stages = 3 : i32}
    scf.for unsigned %k = %a to %b step %a  : i32 {
    } {note}
    scf.for %k = %i to %i step %i {
    }
    %1:2 = scf.for unsigned %k = %i to %i step %i iter_args(%s = %a, %t = %b) -> (i32, i32) {
      scf.yield %t, %s : i32, i32
    }
    %2 = scf.while (%s = %a) : (i32) -> i32 {
      %c = arith.cmpi slt, %s, %b : i32
      scf.condition(%c) {note} %s : i32
    } do {
    ^bb0(%s: i32):
      scf.yield %s : i32
    } attributes {note}
    scf.while : () -> () {
      %true = arith.constant true
      scf.condition(%true)
    } do {
      scf.yield
    }
    tt.return %0 : tensor<8xf32>
  }
  tt.func @choices(%c: i1, %a: i32, %b: i32, %i: index) {
    %0 = scf.if %c -> (i32) {
      scf.yield %a : i32
    } else {
      scf.yield %b : i32
    } {note}
    scf.if %c {
      cf.assert %c, "no"
    }
    %1:2 = scf.if %c -> (i32, i32) {
      scf.yield %a, %b : i32, i32
    } else {
      scf.yield %b, %a : i32, i32
    }
    %2 = scf.execute_region -> i32 {
      scf.yield %a : i32
    } {note}
    scf.execute_region no_inline {
      scf.yield
    }
    %3:2 = scf.execute_region -> (i32, i32) no_inline {
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      scf.yield %a, %b : i32, i32
    ^bb2:  // pred: ^bb0
      scf.yield %b, %a : i32, i32
    }
    %4 = scf.index_switch %i {note} -> i32 
    case 2 {
      scf.yield %a : i32
    }
    case -5 {
      scf.yield %b : i32
    }
    default {
      scf.yield %a : i32
    }
    scf.index_switch %i 
    default {
    }
    tt.return
  }
  tt.func @branches(%c: i1, %a: i32, %b: i32) {
    cf.br ^bb1(%a, %b : i32, i32) {note}
  ^bb1(%0: i32, %1: i32):  // 2 preds: ^bb0, ^bb2
    cf.cond_br %c weights([3, 4]), ^bb2, ^bb3(%0 : i32) {note}
  ^bb2:  // pred: ^bb1
    cf.cond_br %c, ^bb1(%b, %a : i32, i32), ^bb3(%1 : i32)
  ^bb3(%2: i32):  // 2 preds: ^bb1, ^bb2
    cf.switch %2 : i32, [
      default: ^bb4(%a : i32),
      1: ^bb5,
      2: ^bb4(%b : i32)
    ] {note}
  ^bb4(%3: i32):  // 2 preds: ^bb3, ^bb3
    cf.switch %3 : i32, [
      default: ^bb5]
  ^bb5:  // 2 preds: ^bb3, ^bb4
    %4 = ub.poison : tensor<8xf32>
    %5 = ub.poison {note} : i32
    llvm.intr.assume %c : i1
    llvm.intr.assume %c : i1 {note}
    llvm.intr.assume %c ["align"(%a, %b : i32, i32), "more"(%a : i32)] : i1
    %6 = builtin.unrealized_conversion_cast %a : i32 to i64 {note}
    %7:2 = builtin.unrealized_conversion_cast to i64, f32
    tt.return
  ^bb6:  // no predecessors
    ub.unreachable
  }
}
