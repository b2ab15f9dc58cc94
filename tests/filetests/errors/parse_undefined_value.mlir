// RUN: print
tt.func @f(%c: i1) {
  scf.if %c {
    %y = tt.get_program_id x : i32
  }
  %0 = arith.addi %y, %y : i32 // error: '%y' is not defined
  tt.return
}
