// Every operation of the arith dialect.
tt.func @integers(%a: i32, %b: i32, %t: tensor<8xi32>, %p: i1) {
  %addi = arith.addi %a, %b : i32
  %subi = arith.subi %a, %b : i32
  %muli = arith.muli %a, %b : i32
  %divsi = arith.divsi %a, %b : i32
  %divui = arith.divui %a, %b : i32
  %ceildivsi = arith.ceildivsi %a, %b : i32
  %ceildivui = arith.ceildivui %a, %b : i32
  %floordivsi = arith.floordivsi %a, %b : i32
  %remsi = arith.remsi %a, %b : i32
  %remui = arith.remui %a, %b : i32
  %andi = arith.andi %a, %b : i32
  %ori = arith.ori %a, %b : i32
  %xori = arith.xori %a, %b : i32
  %shli = arith.shli %a, %b : i32
  %shrsi = arith.shrsi %a, %b : i32
  %shrui = arith.shrui %a, %b : i32
  %maxsi = arith.maxsi %a, %b : i32
  %maxui = arith.maxui %a, %b : i32
  %minsi = arith.minsi %a, %b : i32
  %minui = arith.minui %a, %b : i32
  %tile = arith.addi %t, %t : tensor<8xi32>
  %nowrap = arith.addi %a, %b overflow<nsw, nuw> : i32
  %less = arith.cmpi slt, %a, %b : i32
  %chosen = arith.select %p, %a, %b : i32
  tt.return
}

tt.func @floats(%x: f32, %y: f32, %t: tensor<8xf32>) {
  %addf = arith.addf %x, %y : f32
  %subf = arith.subf %x, %y : f32
  %mulf = arith.mulf %x, %y : f32
  %divf = arith.divf %x, %y : f32
  %remf = arith.remf %x, %y : f32
  %maximumf = arith.maximumf %x, %y : f32
  %minimumf = arith.minimumf %x, %y : f32
  %maxnumf = arith.maxnumf %x, %y : f32
  %minnumf = arith.minnumf %x, %y : f32
  %tile = arith.mulf %t, %t fastmath<contract> : tensor<8xf32>
  %negf = arith.negf %x : f32
  %equal = arith.cmpf oeq, %x, %y : f32
  tt.return
}

tt.func @constants() {
  %integer = arith.constant 42 : i32
  %float = arith.constant 0.5 : f32
  %tile = arith.constant dense<0> : tensor<8xi32>
  tt.return
}

tt.func @casts(%a: i32, %l: i64, %x: f32, %d: f64, %i: index) {
  %extsi = arith.extsi %a : i32 to i64
  %extui = arith.extui %a : i32 to i64
  %trunci = arith.trunci %l : i64 to i32
  %extf = arith.extf %x : f32 to f64
  %truncf = arith.truncf %d : f64 to f32
  %sitofp = arith.sitofp %a : i32 to f32
  %uitofp = arith.uitofp %a : i32 to f32
  %fptosi = arith.fptosi %x : f32 to i32
  %fptoui = arith.fptoui %x : f32 to i32
  %index_cast = arith.index_cast %a : i32 to index
  %index_castui = arith.index_castui %a : i32 to index
  %bitcast = arith.bitcast %x : f32 to i32
  tt.return
}

// -----

tt.func @extended(%a: i32, %b: i32) {
  %sum, %overflow = arith.addui_extended %a, %b : i32, i1
  %low, %high = arith.mulsi_extended %a, %b : i32
  %low_0, %high_1 = arith.mului_extended %a, %b : i32
  tt.return
}

tt.func @rare(%a: i32, %b: i32, %h: f16, %t: tensor<8xf32>, %n: tensor<8xf4E2M1FN>, %e: tensor<8xf8E8M0FNU>) {
  %diff, %borrow = arith.subui_extended %a, %b : i32, i1
  %convertf = arith.convertf %h : f16 to bf16
  %flushed = arith.flush_denormals %t : tensor<8xf32>
  %scaling_extf = arith.scaling_extf %n, %e : tensor<8xf4E2M1FN>, tensor<8xf8E8M0FNU> to tensor<8xf32>
  %scaling_truncf = arith.scaling_truncf %t, %e : tensor<8xf32>, tensor<8xf8E8M0FNU> to tensor<8xf4E2M1FN>
  tt.return
}
