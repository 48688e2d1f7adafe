// in0: float32[2, 3]
// aten::_softmax.out(self: float32[2, 3], dim: 1, half_to_float: False)
//   operand 0 = in0
//   result 0 replaces float32[2, 3]
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
    %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = "stablehlo.reduce"(%arg0, %1) ({
    ^bb0(%2: tensor<f32>, %3: tensor<f32>):
      %4 = stablehlo.maximum %2, %3 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)
    %6 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
    %7 = stablehlo.subtract %arg0, %6 : tensor<2x3xf32>
    %8 = stablehlo.exponential %7 : tensor<2x3xf32>
    %9 = stablehlo.constant dense<0.0> : tensor<f32>
    %13 = "stablehlo.reduce"(%8, %9) ({
    ^bb0(%10: tensor<f32>, %11: tensor<f32>):
      %12 = stablehlo.add %10, %11 : tensor<f32>
      stablehlo.return %12 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)
    %14 = "stablehlo.broadcast_in_dim"(%13) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
    %15 = stablehlo.divide %8, %14 : tensor<2x3xf32>
    return %15 : tensor<2x3xf32>
  }
}
