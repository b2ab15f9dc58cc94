module {
  tt.func @barriers() {
    gpu.barrier
    gpu.barrier memfence [#gpu.address_space<workgroup>]
    tt.return
  }
}
