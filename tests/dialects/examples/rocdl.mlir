module {
  tt.func @instructions(%x: i32) {
    rocdl.sched.barrier none
    rocdl.sched.barrier valu|salu {note = 1 : i32}
    rocdl.sched.group.barrier mfma_wmma, 1, 0
    rocdl.s.setprio 1
    rocdl.barrier
    rocdl.s.barrier
    %0 = rocdl.workitem.id.x : i32
    %1 = rocdl.workitem.id.y : i32
    %2 = rocdl.workitem.id.z : i32
    %3 = rocdl.workgroup.id.x : i32
    %4 = rocdl.workgroup.id.y : i32
    %5 = rocdl.workgroup.id.z : i32
    %6 = rocdl.wave.id : i32
    %7 = rocdl.readfirstlane %x : i32
    tt.return
  }
}
