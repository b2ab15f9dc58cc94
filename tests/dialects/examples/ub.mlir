// Every operation of the ub dialect.
tt.func @anything(%c: i1) {
  %any = ub.poison : tensor<8xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:  // pred: ^bb0
  tt.return
^bb2:  // pred: ^bb0
  ub.unreachable
}
