// in0: int64[2, 3]
// aten::exp.out(self: int64[2, 3])
//   operand 0 = in0
//   result 0 replaces float32[2, 3]
module @main {
  func.func public @main(%arg0: tensor<2x3xi64>) -> (tensor<2x3xf32>) {
    %1 = "stablehlo.convert"(%arg0) : (tensor<2x3xi64>) -> tensor<2x3xf32>
    %2 = stablehlo.exponential %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}
