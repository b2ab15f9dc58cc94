// RUN: symbol-dce
// The private function has no callers, so it is removed.
tt.func private @unused(%x: i32) -> i32 {
  tt.return %x : i32
}

tt.func public @kernel(%x: i32) -> i32 {
  tt.return %x : i32
}
// OUTPUT
// module {
//   tt.func public @kernel(%x: i32) -> i32 {
//     tt.return %x : i32
//   }
// }
