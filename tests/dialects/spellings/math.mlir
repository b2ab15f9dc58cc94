module {
  tt.func @functions(%x: f32, %t: tensor<8xf32>, %a: i32) {
    %0 = math.exp %x fastmath<afn> {note} : f32
    %1 = math.exp2 %t : tensor<8xf32>
    %2 = math.expm1 %x : f32
    %3 = math.log %x fastmath<fast> : f32
    %4 = math.log2 %x : f32
    %5 = math.log10 %x : f32
    %6 = math.log1p %x : f32
    %7 = math.sin %x : f32
    %8 = math.cos %x : f32
    %9 = math.tan %x : f32
    %10 = math.asin %x : f32
    %11 = math.acos %x : f32
    %12 = math.atan %x : f32
    %13 = math.sinh %x : f32
    %14 = math.cosh %x : f32
    %15 = math.tanh %x : f32
    %16 = math.asinh %x : f32
    %17 = math.acosh %x : f32
    %18 = math.atanh %x : f32
    %19 = math.sqrt %x : f32
    %20 = math.rsqrt %x : f32
    %21 = math.cbrt %x : f32
    %22 = math.erf %x : f32
    %23 = math.erfc %x : f32
    %24 = math.absf %x fastmath<nnan> {note} : f32
    %25 = math.ceil %x : f32
    %26 = math.floor %x : f32
    %27 = math.trunc %x : f32
    %28 = math.round %x : f32
    %29 = math.roundeven %x : f32
    %30 = math.atan2 %x, %x fastmath<nsz> {note} : f32
    %31 = math.powf %x, %x fastmath<nsz> {note} : f32
    %32 = math.copysign %x, %x : f32
    %33 = math.fma %x, %x, %x fastmath<contract> {note} : f32
    %34 = math.clampf %x to [%x, %x] : f32
    %35 = math.clampf %t to [%t, %t] fastmath<nsz> {note} : tensor<8xf32>
    %36 = math.fpowi %x, %a : f32, i32
    %37 = math.fpowi %x, %a fastmath<nsz> {note} : f32, i32
    %38 = math.ipowi %a, %a {note} : i32
    %39 = math.isfinite %x {note} : f32
    %40 = math.isinf %t : tensor<8xf32>
    %41 = math.isnan %x : f32
    %42 = math.isnormal %x : f32
    %43 = math.absi %a {note} : i32
    %44 = math.ctlz %a : i32
    %45 = math.cttz %a : i32
    %46 = math.ctpop %a {note} : i32
    %sin, %cos = math.sincos %x fastmath<nsz> {note} : f32
    tt.return
  }
}
