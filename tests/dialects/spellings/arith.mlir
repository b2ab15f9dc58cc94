module {
  tt.func @integers(%a: i32, %b: i32, %t: tensor<8xi32>, %l: i64, %c: i1, %m: tensor<8xi1>) {
    %0 = arith.addi %a, %b overflow<nsw, nuw> {note = 1 : i32} : i32
    %1 = arith.addi %t, %t : tensor<8xi32>
    %2 = arith.subi %a, %b overflow<nsw> : i32
    %3 = arith.muli %a, %b overflow<nuw> : i32
    %4 = arith.shli %a, %b overflow<nsw, nuw> : i32
    %5 = arith.trunci %l overflow<nsw, nuw> {note} : i64 to i32
    %6 = arith.trunci %l : i64 to i8
    %7 = arith.divsi %a, %b exact {note} : i32
    %8 = arith.divui %a, %b exact : i32
    %9 = arith.shrsi %a, %b exact : i32
    %10 = arith.shrui %a, %b exact : i32
    %11 = arith.divsi %a, %b : i32
    %12 = arith.divui %a, %b : i32
    %13 = arith.shrsi %a, %b : i32
    %14 = arith.shrui %a, %b : i32
    %15 = arith.ceildivsi %a, %b {note} : i32
    %16 = arith.ceildivui %a, %b : i32
    %17 = arith.floordivsi %a, %b : i32
    %18 = arith.remsi %a, %b : i32
    %19 = arith.remui %a, %b : i32
    %20 = arith.andi %a, %b : i32
    %21 = arith.ori %a, %b : i32
    %22 = arith.xori %a, %b : i32
    %23 = arith.maxsi %a, %b : i32
    %24 = arith.maxui %a, %b : i32
    %25 = arith.minsi %a, %b : i32
    %26 = arith.minui %a, %b : i32
    %27 = arith.cmpi eq, %a, %b : i32
    %28 = arith.cmpi uge, %t, %t {note} : tensor<8xi32>
    %29 = arith.select %c, %a, %b {note} : i32
    %30 = arith.select %c, %t, %t : tensor<8xi32>
    %31 = arith.select %m, %t, %t : tensor<8xi1>, tensor<8xi32>
    %sum, %overflow = arith.addui_extended %a, %b {note} : i32, i1
    %sum_0, %overflow_1 = arith.addui_extended %t, %t : tensor<8xi32>, tensor<8xi1>
    %diff, %borrow = arith.subui_extended %a, %b {note} : i32, i1
    %low, %high = arith.mulsi_extended %a, %b {note} : i32
    %low_2, %high_3 = arith.mului_extended %t, %t : tensor<8xi32>
    tt.return
  }
  tt.func @floats(%x: f32, %y: f32, %t: tensor<8xf32>) {
    %0 = arith.addf %x, %y : f32
    %1 = arith.addf %x, %y to_nearest_even fastmath<fast> {note = 1 : i32} : f32
    %2 = arith.subf %x, %y downward : f32
    %3 = arith.mulf %x, %y upward fastmath<reassoc,nnan,ninf,nsz,arcp,contract> : f32
    %4 = arith.divf %t, %t toward_zero fastmath<afn> : tensor<8xf32>
    %5 = arith.subf %x, %y fastmath<contract> : f32
    %6 = arith.mulf %x, %y to_nearest_away : f32
    %7 = arith.remf %x, %y fastmath<nsz> : f32
    %8 = arith.maximumf %x, %y fastmath<nnan> : f32
    %9 = arith.minimumf %x, %y : f32
    %10 = arith.maxnumf %x, %y {note} : f32
    %11 = arith.minnumf %x, %y : f32
    %12 = arith.negf %x fastmath<nnan,ninf> {note} : f32
    %13 = arith.cmpf oeq, %x, %y : f32
    %14 = arith.cmpf une, %t, %t fastmath<nnan> {note} : tensor<8xf32>
    %15 = arith.flush_denormals %t {note} : tensor<8xf32>
    tt.return
  }
  tt.func @casts(%a: i32, %l: i64, %x: f32, %d: f64, %i: index, %h: f16, %n: tensor<8xf4E2M1FN>, %e: tensor<8xf8E8M0FNU>, %t: tensor<8xf32>) {
    %0 = arith.extsi %a : i32 to i64
    %1 = arith.extui %a nneg {note} : i32 to i64
    %2 = arith.extui %a : i32 to i64
    %3 = arith.extf %x fastmath<ninf> {note} : f32 to f64
    %4 = arith.extf %x : f32 to f64
    %5 = arith.truncf %d : f64 to f32
    %6 = arith.truncf %d toward_zero fastmath<nnan> {note} : f64 to f32
    %7 = arith.truncf %d upward : f64 to f16
    %8 = arith.convertf %h : f16 to bf16
    %9 = arith.convertf %h downward fastmath<fast> {note} : f16 to bf16
    %10 = arith.sitofp %a {note} : i32 to f32
    %11 = arith.uitofp %a nneg {note} : i32 to f32
    %12 = arith.uitofp %a : i32 to f32
    %13 = arith.fptosi %x : f32 to i32
    %14 = arith.fptoui %x {note} : f32 to i32
    %15 = arith.bitcast %a {note} : i32 to f32
    %16 = arith.index_cast %a : i32 to index
    %17 = arith.index_cast %i {note} : index to i64
    %18 = arith.index_castui %a nneg {note} : i32 to index
    %19 = arith.index_castui %i : index to i32
    %20 = arith.scaling_extf %n, %e : tensor<8xf4E2M1FN>, tensor<8xf8E8M0FNU> to tensor<8xf32>
    %21 = arith.scaling_extf %n, %e fastmath<fast> {note} : tensor<8xf4E2M1FN>, tensor<8xf8E8M0FNU> to tensor<8xf32>
    %22 = arith.scaling_truncf %t, %e : tensor<8xf32>, tensor<8xf8E8M0FNU> to tensor<8xf4E2M1FN>
    %23 = arith.scaling_truncf %t, %e downward fastmath<fast> {note} : tensor<8xf32>, tensor<8xf8E8M0FNU> to tensor<8xf4E2M1FN>
    tt.return
  }
  tt.func @constants() {
    %c42_i32 = arith.constant 42 : i32
    %c-7_i64 = arith.constant -7 : i64
    %true = arith.constant true
    %c0 = arith.constant 0 : index
    %cst = arith.constant 5.000000e-01 : f32
    %c1_i32 = arith.constant {note} 1 : i32
    %cst_0 = arith.constant dense<0> : tensor<8xi32>
    %cst_1 = arith.constant dense<[1.000000e+00, -2.500000e+00]> : tensor<2xf16>
    %cst_2 = arith.constant dense<true> : tensor<4x4xi1>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<8xf32>
    tt.return
  }
}
