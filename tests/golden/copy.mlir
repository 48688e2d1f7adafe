// in0: float32[4, 3]
// in1: int32[3]
// aten::copy_(self: float32[2, 3], src: int32[3])
//   operand 0 = in0 as float32[2, 3] strides [3, 1] from a run-time start
//   operand 1 = in1
//   result 0 updates in0 as float32[2, 3] strides [3, 1] from a run-time start in the memory of in0
module @main {
  func.func public @main(%arg0: tensor<4x3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3xi32>, %arg2: tensor<4xi64>) -> (tensor<4x3xf32>) {
    %3 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<4xi64>) -> tensor<1xi64>
    %4 = "stablehlo.reshape"(%3) : (tensor<1xi64>) -> tensor<i64>
    %5 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<4xi64>) -> tensor<1xi64>
    %6 = "stablehlo.reshape"(%5) : (tensor<1xi64>) -> tensor<i64>
    %7 = "stablehlo.reshape"(%arg0) : (tensor<4x3xf32>) -> tensor<12xf32>
    %8 = "stablehlo.reshape"(%7) : (tensor<12xf32>) -> tensor<4x3xf32>
    %9 = "stablehlo.dynamic_slice"(%8, %4, %6) {slice_sizes = array<i64: 2, 3>} : (tensor<4x3xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
    %10 = "stablehlo.convert"(%arg1) : (tensor<3xi32>) -> tensor<3xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %12 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xi64>) -> tensor<1xi64>
    %13 = "stablehlo.reshape"(%12) : (tensor<1xi64>) -> tensor<i64>
    %14 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>} : (tensor<4xi64>) -> tensor<1xi64>
    %15 = "stablehlo.reshape"(%14) : (tensor<1xi64>) -> tensor<i64>
    %16 = "stablehlo.reshape"(%arg0) : (tensor<4x3xf32>) -> tensor<12xf32>
    %17 = "stablehlo.reshape"(%16) : (tensor<12xf32>) -> tensor<4x3xf32>
    %18 = "stablehlo.dynamic_update_slice"(%17, %11, %13, %15) : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x3xf32>
    %19 = "stablehlo.reshape"(%18) : (tensor<4x3xf32>) -> tensor<12xf32>
    %20 = "stablehlo.reshape"(%19) : (tensor<12xf32>) -> tensor<4x3xf32>
    return %20 : tensor<4x3xf32>
  }
}
