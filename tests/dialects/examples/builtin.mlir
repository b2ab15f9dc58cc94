// Every operation of the builtin dialect.
builtin.module @named attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @casts(%n: i32) {
    %wide = builtin.unrealized_conversion_cast %n : i32 to i64
    %pair:2 = builtin.unrealized_conversion_cast %n : i32 to i64, f32
    tt.return
  }
}
