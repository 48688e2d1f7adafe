// in0: float32[4]
// in1: float32[2, 3]
// in2: float32[4, 3]
// aten::addmm.out(self: float32[4], mat1: float32[2, 3], mat2: float32[3, 4], beta: 1, alpha: 1)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2 as float32[3, 4] strides [1, 3]
//   result 0 replaces float32[2, 4]
module @main {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<4x3xf32>) -> (tensor<2x4xf32>) {
    %3 = "stablehlo.reshape"(%arg2) : (tensor<4x3xf32>) -> tensor<12xf32>
    %4 = "stablehlo.reshape"(%3) : (tensor<12xf32>) -> tensor<4x3xf32>
    %5 = "stablehlo.transpose"(%4) {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %6 = "stablehlo.dot_general"(%arg1, %5) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %7 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.add %7, %6 : tensor<2x4xf32>
    return %8 : tensor<2x4xf32>
  }
}
