// Every operation of the ttc dialect.
tt.func @memory(%p: !tt.ptr<f32>, %at: !tt.ptr<f32>, %i: i32, %x: f32, %offsets: vector<8xi32>, %mask: vector<8xi1>) {
  %scratch = ttc.alloc : !ttc.buf<1024xf32>
  %element = ttc.address %scratch[%i] : !ttc.buf<1024xf32>, i32
  %other = ttc.splat %x : f32 -> vector<8xf32>
  %old = ttc.load %p, %mask, %other : !tt.ptr<f32> -> vector<8xf32>
  ttc.store %p, %old, %mask : !tt.ptr<f32>, vector<8xf32>
  ttc.prefetch %p : !tt.ptr<f32>
  ttc.prefetch %p {to_read = true} : !tt.ptr<f32>
  %places = ttc.offset_pointer %p, %offsets : !tt.ptr<f32>, vector<8xi32>
  %new = ttc.gather %places, %mask, %other : vector<8x!tt.ptr<f32>> -> vector<8xf32>
  ttc.scatter %places, %new, %mask : vector<8x!tt.ptr<f32>>, vector<8xf32>
  tt.return
}

tt.func @registers(%v: vector<8xf32>) {
  %reversed = ttc.shuffle %v, %v [7, 6, 5, 4, 3, 2, 1, 0] : vector<8xf32> -> vector<8xf32>
  %last = ttc.extract %v {lane = 7 : i32} : vector<8xf32>
  tt.return
}

tt.func @product(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %acc = ttc.alloc : !ttc.buf<256xf32>
  ttc.dot %acc, %x, %y {m = 16 : i32, n = 16 : i32, k = 32 : i32, types = "f32 f32 f32"} : !ttc.buf<256xf32>, !tt.ptr<f32>, !tt.ptr<f32>
  tt.return
}

tt.func @checks(%p: !tt.ptr<f32>, %ps: vector<8x!tt.ptr<f32>>, %i: index, %ok: i1, %mask: vector<8xi1>) {
  %now = ttc.clock : i64
  ttc.assert %ok, "n must be positive" : i1
  ttc.check_bounds %ps[%i], %mask in %p {access = "load", argument = 0 : i32} : vector<8x!tt.ptr<f32>>, index, !tt.ptr<f32>
  ttc.check_writable %ps[%i], %mask {first = 3 : i32} : vector<8x!tt.ptr<f32>>, index
  ttc.print "x: " {hex = false, isSigned = array<i32: 0>, shapes = array<i32: 1, 8>, types = "f32"} : %p : !tt.ptr<f32>
  tt.return
}
