// Every operation of the llvm dialect that is here.
llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.mlir.global internal constant @answer(42 : i32) : i32

llvm.func @printf(!llvm.ptr) -> i32

llvm.func internal @types(%s: !llvm.struct<(i32, array<2 x ptr<1>>)>, %p: !llvm.struct<packed (i8, struct<(f32)>)>, %t: !llvm.array<4 x struct<(i64)>>) {
  llvm.return
}

llvm.func @square(%x: f32 {llvm.noundef}) -> f32 attributes {libname = ""} {
  %0 = llvm.fmul %x, %x : f32
  llvm.return %0 : f32
}

llvm.func @integers(%a: i32, %b: i32, %c: i1) -> i32 {
  %add = llvm.add %a, %b : i32
  %nsw = llvm.add %a, %b overflow<nsw, nuw> : i32
  %sub = llvm.sub %a, %b : i32
  %mul = llvm.mul %a, %b : i32
  %shl = llvm.shl %a, %b : i32
  %udiv = llvm.udiv %a, %b : i32
  %sdiv = llvm.sdiv %a, %b : i32
  %urem = llvm.urem %a, %b : i32
  %srem = llvm.srem %a, %b : i32
  %and = llvm.and %a, %b : i32
  %or = llvm.or %a, %b : i32
  %xor = llvm.xor %a, %b : i32
  %lshr = llvm.lshr %a, %b : i32
  %ashr = llvm.ashr %a, %b : i32
  %less = llvm.icmp "slt" %a, %b : i32
  llvm.intr.assume %less : i1
  %chosen = llvm.select %c, %a, %b : i1, i32
  llvm.return %chosen : i32
}

llvm.func @floats(%x: f32, %y: f32) -> f32 {
  %add = llvm.fadd %x, %y : f32
  %sub = llvm.fsub %x, %y : f32
  %mul = llvm.fmul %x, %y : f32
  %div = llvm.fdiv %x, %y : f32
  %square = llvm.call @square(%div) : (f32) -> f32
  llvm.return %square : f32
}

llvm.func @casts(%a: i32, %l: i64, %x: f32, %d: f64, %p: !llvm.ptr) {
  %ptrtoint = llvm.ptrtoint %p : !llvm.ptr to i64
  %inttoptr = llvm.inttoptr %l : i64 to !llvm.ptr
  %addrspacecast = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<1>
  %bitcast = llvm.bitcast %x : f32 to i32
  %trunc = llvm.trunc %l : i64 to i32
  %zext = llvm.zext %a : i32 to i64
  %sext = llvm.sext %a : i32 to i64
  %fptrunc = llvm.fptrunc %d : f64 to f32
  %fpext = llvm.fpext %x : f32 to f64
  llvm.unreachable
}

llvm.func @values(%v: vector<4xf32>, %i: i32) -> f32 {
  %undef = llvm.mlir.undef : !llvm.struct<(i32, f32)>
  %poison = llvm.mlir.poison : !llvm.struct<(i32, f32)>
  %zero = llvm.mlir.zero : !llvm.ptr
  %integer = llvm.mlir.constant(42 : i32) : i32
  %float = llvm.mlir.constant(5.000000e-01 : f32) : f32
  %element = llvm.extractelement %v[%i : i32] : vector<4xf32>
  %vector = llvm.insertelement %element, %v[%i : i32] : vector<4xf32>
  %struct = llvm.insertvalue %element, %undef[1] : !llvm.struct<(i32, f32)>
  %field = llvm.extractvalue %struct[1] : !llvm.struct<(i32, f32)>
  llvm.return %field : f32
}

llvm.func @memory(%p: !llvm.ptr<1>, %i: i32) {
  %shared = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %at = llvm.getelementptr inbounds %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %second = llvm.getelementptr %p[0, %i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<4 x f32>
  %old = llvm.load %at : !llvm.ptr<1> -> f32
  llvm.store volatile %old, %second : f32, !llvm.ptr<1>
  llvm.return
}
