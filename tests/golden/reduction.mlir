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
    %8 = "stablehlo.convert"(%7) : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    return %8 : tensor<2x1xbf16>
  }
}
