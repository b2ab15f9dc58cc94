module {
  tt.func @barriers(%id: i32, %n: i32) {
    nvvm.barrier
    nvvm.barrier id = %id
    nvvm.barrier id = %id number_of_threads = %n
    tt.return
  }
}
