// in0: bfloat16[2, 3]
// aten::gelu.out(self: bfloat16[2, 3], approximate: 'tanh')
//   operand 0 = in0
//   result 0 replaces bfloat16[2, 3]
module @main {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16>) {
    %1 = "stablehlo.convert"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    %2 = stablehlo.constant dense<0.7978846> : tensor<2x3xf32>
    %3 = stablehlo.constant dense<0.044715> : tensor<2x3xf32>
    %4 = stablehlo.multiply %1, %1 : tensor<2x3xf32>
    %5 = stablehlo.multiply %4, %1 : tensor<2x3xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<2x3xf32>
    %7 = stablehlo.add %1, %6 : tensor<2x3xf32>
    %8 = stablehlo.multiply %7, %2 : tensor<2x3xf32>
    %9 = stablehlo.tanh %8 : tensor<2x3xf32>
    %10 = stablehlo.constant dense<1.0> : tensor<2x3xf32>
    %11 = stablehlo.add %10, %9 : tensor<2x3xf32>
    %12 = stablehlo.constant dense<0.5> : tensor<2x3xf32>
    %13 = stablehlo.multiply %1, %12 : tensor<2x3xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<2x3xf32>
    %15 = "stablehlo.bitcast_convert"(%14) : (tensor<2x3xf32>) -> tensor<2x3xui32>
    %16 = stablehlo.constant dense<1> : tensor<2x3xui32>
    %17 = stablehlo.constant dense<16> : tensor<2x3xui32>
    %18 = stablehlo.shift_right_logical %15, %17 : tensor<2x3xui32>
    %19 = stablehlo.and %18, %16 : tensor<2x3xui32>
    %20 = stablehlo.constant dense<4294901760> : tensor<2x3xui32>
    %21 = stablehlo.constant dense<32767> : tensor<2x3xui32>
    %22 = stablehlo.add %19, %21 : tensor<2x3xui32>
    %23 = stablehlo.add %15, %22 : tensor<2x3xui32>
    %24 = stablehlo.and %23, %20 : tensor<2x3xui32>
    %25 = stablehlo.constant dense<2143289344> : tensor<2x3xui32>
    %26 = "stablehlo.compare"(%14, %14) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %27 = "stablehlo.select"(%26, %25, %24) : (tensor<2x3xi1>, tensor<2x3xui32>, tensor<2x3xui32>) -> tensor<2x3xui32>
    %28 = stablehlo.shift_right_logical %27, %17 : tensor<2x3xui32>
    %29 = "stablehlo.convert"(%28) : (tensor<2x3xui32>) -> tensor<2x3xui16>
    %30 = "stablehlo.bitcast_convert"(%29) : (tensor<2x3xui16>) -> tensor<2x3xbf16>
    %31 = "stablehlo.bitcast_convert"(%27) : (tensor<2x3xui32>) -> tensor<2x3xf32>
    return %30 : tensor<2x3xbf16>
  }
}
