// in0: float32[2, 3]
// in1: float32[1, 3]
// aten::cat.out(tensors: [float32[2, 3], float32[1, 3]], dim: -2)
//   operand 0 = in0
//   operand 1 = in1
//   result 0 replaces float32[3, 3]
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<1x3xf32>) -> (tensor<3x3xf32>) {
    %2 = "stablehlo.concatenate"(%arg0, %arg1) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
    return %2 : tensor<3x3xf32>
  }
}
