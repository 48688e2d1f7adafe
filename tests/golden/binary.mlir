// in0: float32[2, 3]
// in1: int32[3]
// aten::add.out(self: float32[2, 3], other: int32[3], alpha: 0.5)
//   operand 0 = in0
//   operand 1 = in1
//   result 0 replaces float32[2, 3] in the memory of in0
module @main {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3xi32>, %arg2: tensor<1xf32>) -> (tensor<2x3xf32>) {
    %2 = "stablehlo.convert"(%arg1) : (tensor<3xi32>) -> tensor<3xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %5 = "stablehlo.reshape"(%arg2) : (tensor<1xf32>) -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
    %7 = stablehlo.multiply %6, %3 : tensor<2x3xf32>
    %8 = stablehlo.add %arg0, %7 : tensor<2x3xf32>
    return %8 : tensor<2x3xf32>
  }
}
