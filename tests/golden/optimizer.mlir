// in0: float32[2, 3]
// in1: float32[2, 3]
// in2: float32[2, 3]
// aten::_fused_sgd_(self: [float32[2, 3]], grads: [float32[2, 3]], momentum_buffer_list: [float32[2, 3]], weight_decay: 0, momentum: 0.9, lr: 0.1, dampening: 0, nesterov: True, maximize: False, is_first_step: False)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   result 0 replaces float32[2, 3] in the memory of in0
//   result 1 replaces float32[2, 3] in the memory of in1
//   result 2 replaces float32[2, 3] in the memory of in2
module @main {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %arg3: tensor<4xf64>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %4 = "stablehlo.slice"(%arg3) {limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf64>) -> tensor<1xf64>
    %5 = "stablehlo.reshape"(%4) : (tensor<1xf64>) -> tensor<f64>
    %6 = "stablehlo.slice"(%arg3) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<4xf64>) -> tensor<1xf64>
    %7 = "stablehlo.reshape"(%6) : (tensor<1xf64>) -> tensor<f64>
    %8 = stablehlo.constant dense<1.0> : tensor<f64>
    %9 = "stablehlo.slice"(%arg3) {limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>} : (tensor<4xf64>) -> tensor<1xf64>
    %10 = "stablehlo.reshape"(%9) : (tensor<1xf64>) -> tensor<f64>
    %11 = stablehlo.subtract %8, %10 : tensor<f64>
    %12 = "stablehlo.convert"(%11) : (tensor<f64>) -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
    %14 = stablehlo.multiply %arg1, %13 : tensor<2x3xf32>
    %15 = "stablehlo.convert"(%7) : (tensor<f64>) -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
    %17 = stablehlo.multiply %arg2, %16 : tensor<2x3xf32>
    %18 = stablehlo.add %17, %14 : tensor<2x3xf32>
    %19 = "stablehlo.convert"(%7) : (tensor<f64>) -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
    %21 = stablehlo.multiply %18, %20 : tensor<2x3xf32>
    %22 = stablehlo.add %arg1, %21 : tensor<2x3xf32>
    %23 = "stablehlo.convert"(%5) : (tensor<f64>) -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
    %25 = stablehlo.multiply %24, %22 : tensor<2x3xf32>
    %26 = stablehlo.subtract %arg0, %25 : tensor<2x3xf32>
    return %26, %18 : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
