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
    %15 = "stablehlo.convert"(%14) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    return %15 : tensor<2x3xbf16>
  }
}
