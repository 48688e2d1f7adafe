// aten::uniform_(self: float32[2, 3], from: 0, to: 1)
//   operand 0 = in-1 as float32[2, 3] strides [3, 1]
//   result 0 replaces float32[2, 3]
module @main {
  func.func public @main(%arg0: tensor<3xui64>) -> (tensor<2x3xf32>) {
    %0 = stablehlo.constant dense<0.0> : tensor<6xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<6xf32>) -> tensor<2x3xf32>
    %3, %4 = "stablehlo.rng_bit_generator"(%arg0) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
    %5 = "stablehlo.slice"(%4) {limit_indices = array<i64: 6>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<8xui32>) -> tensor<6xui32>
    %6 = "stablehlo.reshape"(%5) : (tensor<6xui32>) -> tensor<2x3xui32>
    %7 = stablehlo.constant dense<8> : tensor<2x3xui32>
    %8 = stablehlo.shift_right_logical %6, %7 : tensor<2x3xui32>
    %9 = "stablehlo.convert"(%8) : (tensor<2x3xui32>) -> tensor<2x3xf32>
    %10 = stablehlo.constant dense<5.9604645e-08> : tensor<2x3xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<2x3xf32>
    return %11 : tensor<2x3xf32>
  }
}
