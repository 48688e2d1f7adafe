// in0: bfloat16[2, 3]
// aten::sum.IntList_out(self: bfloat16[2, 3], dim: [1], keepdim: True)
//   operand 0 = in0
//   result 0 replaces bfloat16[2, 1]
module @main {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x1xbf16>) {
    %1 = "stablehlo.convert"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    %2 = stablehlo.constant dense<0.0> : tensor<f32>
    %6 = "stablehlo.reduce"(%1, %2) ({
    ^bb0(%3: tensor<f32>, %4: tensor<f32>):
      %5 = stablehlo.add %3, %4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)
    %7 = "stablehlo.reshape"(%6) : (tensor<2xf32>) -> tensor<2x1xf32>
    %8 = "stablehlo.bitcast_convert"(%7) : (tensor<2x1xf32>) -> tensor<2x1xui32>
    %9 = stablehlo.constant dense<1> : tensor<2x1xui32>
    %10 = stablehlo.constant dense<16> : tensor<2x1xui32>
    %11 = stablehlo.shift_right_logical %8, %10 : tensor<2x1xui32>
    %12 = stablehlo.and %11, %9 : tensor<2x1xui32>
    %13 = stablehlo.constant dense<4294901760> : tensor<2x1xui32>
    %14 = stablehlo.constant dense<32767> : tensor<2x1xui32>
    %15 = stablehlo.add %12, %14 : tensor<2x1xui32>
    %16 = stablehlo.add %8, %15 : tensor<2x1xui32>
    %17 = stablehlo.and %16, %13 : tensor<2x1xui32>
    %18 = stablehlo.constant dense<2143289344> : tensor<2x1xui32>
    %19 = "stablehlo.compare"(%7, %7) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xi1>
    %20 = "stablehlo.select"(%19, %18, %17) : (tensor<2x1xi1>, tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x1xui32>
    %21 = stablehlo.shift_right_logical %20, %10 : tensor<2x1xui32>
    %22 = "stablehlo.convert"(%21) : (tensor<2x1xui32>) -> tensor<2x1xui16>
    %23 = "stablehlo.bitcast_convert"(%22) : (tensor<2x1xui16>) -> tensor<2x1xbf16>
    %24 = "stablehlo.bitcast_convert"(%20) : (tensor<2x1xui32>) -> tensor<2x1xf32>
    return %23 : tensor<2x1xbf16>
  }
}
