module {
  tt.func @scopes() {
    proton.record start "loop"
    proton.record end "loop" {note = 1 : i32}
    %0 = proton.allocate_event "load" : i32
    proton.event start %0 : i32
    proton.event end %0 : i32
    tt.return
  }
}
