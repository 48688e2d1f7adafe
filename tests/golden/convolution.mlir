// in0: float32[2, 3, 8, 8]
// in1: float32[4, 3, 3, 3]
// in2: float32[4]
// aten::convolution_overrideable(input: float32[2, 3, 8, 8], weight: float32[4, 3, 3, 3], bias: float32[4], stride: [2, 2], padding: [1, 1], dilation: [1, 1], transposed: False, output_padding: [0, 0], groups: 1)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   result 0 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<2x3x8x8xf32>, %arg1: tensor<4x3x3x3xf32>, %arg2: tensor<4xf32>) -> (tensor<2x4x4x4xf32>) {
    %3 = "stablehlo.convolution"(%arg0, %arg1) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [1, 0]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>], rhs_dilation = array<i64: 1, 1>, window_strides = array<i64: 2, 2>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg2) {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x4x4xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x4x4x4xf32>
    return %5 : tensor<2x4x4x4xf32>
  }
}
