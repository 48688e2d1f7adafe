// in0: float32[2, 9]
// in1: float32[2, 9]
// in2: float32[2, 3]
// in3: float32[9]
// in4: float32[9]
// aten::_thnn_fused_gru_cell(input_gates: float32[2, 9], hidden_gates: float32[2, 9], hx: float32[2, 3], input_bias: float32[9], hidden_bias: float32[9])
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   operand 3 = in3
//   operand 4 = in4
//   result 0 is a new tensor
//   result 1 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<2x9xf32>, %arg1: tensor<2x9xf32>, %arg2: tensor<2x3xf32>, %arg3: tensor<9xf32>, %arg4: tensor<9xf32>) -> (tensor<2x3xf32>, tensor<2x15xf32>) {
    %5 = "stablehlo.broadcast_in_dim"(%arg3) {broadcast_dimensions = array<i64: 1>} : (tensor<9xf32>) -> tensor<2x9xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<2x9xf32>
    %7 = "stablehlo.slice"(%6) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
    %8 = "stablehlo.slice"(%6) {limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 3>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
    %9 = "stablehlo.slice"(%6) {limit_indices = array<i64: 2, 9>, start_indices = array<i64: 0, 6>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
    %10 = "stablehlo.broadcast_in_dim"(%arg4) {broadcast_dimensions = array<i64: 1>} : (tensor<9xf32>) -> tensor<2x9xf32>
    %11 = stablehlo.add %arg1, %10 : tensor<2x9xf32>
    %12 = "stablehlo.slice"(%11) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
    %13 = "stablehlo.slice"(%11) {limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 3>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
    %14 = "stablehlo.slice"(%11) {limit_indices = array<i64: 2, 9>, start_indices = array<i64: 0, 6>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
    %15 = stablehlo.add %7, %12 : tensor<2x3xf32>
    %16 = stablehlo.logistic %15 : tensor<2x3xf32>
    %17 = stablehlo.add %8, %13 : tensor<2x3xf32>
    %18 = stablehlo.logistic %17 : tensor<2x3xf32>
    %19 = stablehlo.multiply %16, %14 : tensor<2x3xf32>
    %20 = stablehlo.add %9, %19 : tensor<2x3xf32>
    %21 = stablehlo.tanh %20 : tensor<2x3xf32>
    %22 = "stablehlo.concatenate"(%16, %18, %21, %arg2, %14) {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x15xf32>
    %23 = stablehlo.subtract %arg2, %21 : tensor<2x3xf32>
    %24 = stablehlo.multiply %18, %23 : tensor<2x3xf32>
    %25 = stablehlo.add %21, %24 : tensor<2x3xf32>
    return %25, %22 : tensor<2x3xf32>, tensor<2x15xf32>
  }
}
