// in0: float32[2, 3]
// in1: float32[3]
// in2: float32[3]
// aten::native_layer_norm(input: float32[2, 3], normalized_shape: [3], weight: float32[3], bias: float32[3], eps: 1e-05)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   result 0 is a new tensor
//   result 1 is a new tensor
//   result 2 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %3 = stablehlo.constant dense<0.0> : tensor<f32>
    %7 = "stablehlo.reduce"(%arg0, %3) ({
    ^bb0(%4: tensor<f32>, %5: tensor<f32>):
      %6 = stablehlo.add %4, %5 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)
    %8 = stablehlo.constant dense<0.33333334> : tensor<2xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<2xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
    %11 = stablehlo.subtract %arg0, %10 : tensor<2x3xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<2x3xf32>
    %16 = "stablehlo.reduce"(%12, %3) ({
    ^bb0(%13: tensor<f32>, %14: tensor<f32>):
      %15 = stablehlo.add %13, %14 : tensor<f32>
      stablehlo.return %15 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)
    %17 = stablehlo.multiply %16, %8 : tensor<2xf32>
    %18 = stablehlo.constant dense<1.0e-05> : tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2xf32>
    %20 = stablehlo.add %17, %19 : tensor<2xf32>
    %21 = stablehlo.rsqrt %20 : tensor<2xf32>
    %22 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
    %23 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
    %24 = stablehlo.subtract %arg0, %23 : tensor<2x3xf32>
    %25 = stablehlo.multiply %24, %22 : tensor<2x3xf32>
    %26 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %27 = stablehlo.multiply %25, %26 : tensor<2x3xf32>
    %28 = "stablehlo.broadcast_in_dim"(%arg2) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %29 = stablehlo.add %27, %28 : tensor<2x3xf32>
    %30 = "stablehlo.reshape"(%9) : (tensor<2xf32>) -> tensor<2x1xf32>
    %31 = "stablehlo.reshape"(%21) : (tensor<2xf32>) -> tensor<2x1xf32>
    return %29, %30, %31 : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
}
