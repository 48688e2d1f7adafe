// in0: float32[2, 4, 5, 8]
// in1: float32[2, 4, 5, 8]
// in2: float32[2, 4, 5, 8]
// aten::_scaled_dot_product_fused_attention_overrideable(query: float32[2, 4, 5, 8], key: float32[2, 4, 5, 8], value: float32[2, 4, 5, 8], dropout_p: 0, is_causal: True, return_debug_mask: False)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   result 0 is a new tensor
//   result 1 is a new tensor
//   result 2 is dropped
//   result 3 is dropped
//   result 4 is dropped
//   result 5 is dropped
//   result 6 is dropped
//   result 7 is dropped
//   result 8 is dropped
module @main {
  func.func public @main(%arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x4x5x8xf32>, %arg2: tensor<2x4x5x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>) {
    %3 = stablehlo.constant dense<0.35355338> : tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x4x5x8xf32>
    %5 = stablehlo.multiply %arg0, %4 : tensor<2x4x5x8xf32>
    %6 = "stablehlo.dot_general"(%5, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x5xf32>
    %7 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<5x5xi32>
    %8 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<5x5xi32>
    %9 = "stablehlo.compare"(%8, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %10 = stablehlo.constant dense<0x7F800000> : tensor<2x4x5x5xf32>
    %11 = stablehlo.negate %10 : tensor<2x4x5x5xf32>
    %12 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64: 2, 3>} : (tensor<5x5xi1>) -> tensor<2x4x5x5xi1>
    %13 = "stablehlo.select"(%12, %6, %11) : (tensor<2x4x5x5xi1>, tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
    %14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = "stablehlo.reduce"(%13, %14) ({
    ^bb0(%15: tensor<f32>, %16: tensor<f32>):
      %17 = stablehlo.maximum %15, %16 : tensor<f32>
      stablehlo.return %17 : tensor<f32>
    }) {dimensions = array<i64: 3>} : (tensor<2x4x5x5xf32>, tensor<f32>) -> (tensor<2x4x5xf32>)
    %19 = stablehlo.constant dense<0x7F800000> : tensor<2x4x5xf32>
    %20 = stablehlo.negate %19 : tensor<2x4x5xf32>
    %21 = "stablehlo.compare"(%18, %20) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xi1>
    %22 = stablehlo.constant dense<0.0> : tensor<2x4x5xf32>
    %23 = "stablehlo.select"(%21, %22, %18) : (tensor<2x4x5xi1>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<2x4x5xf32>) -> tensor<2x4x5x5xf32>
    %25 = stablehlo.subtract %13, %24 : tensor<2x4x5x5xf32>
    %26 = stablehlo.exponential %25 : tensor<2x4x5x5xf32>
    %27 = stablehlo.constant dense<0.0> : tensor<f32>
    %31 = "stablehlo.reduce"(%26, %27) ({
    ^bb0(%28: tensor<f32>, %29: tensor<f32>):
      %30 = stablehlo.add %28, %29 : tensor<f32>
      stablehlo.return %30 : tensor<f32>
    }) {dimensions = array<i64: 3>} : (tensor<2x4x5x5xf32>, tensor<f32>) -> (tensor<2x4x5xf32>)
    %32 = stablehlo.log %31 : tensor<2x4x5xf32>
    %33 = stablehlo.add %23, %32 : tensor<2x4x5xf32>
    %34 = stablehlo.constant dense<0> : tensor<i64>
    %35 = "stablehlo.dot_general"(%26, %arg2) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x4x5x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
    %36 = stablehlo.constant dense<1.0> : tensor<2x4x5xf32>
    %37 = "stablehlo.select"(%21, %36, %31) : (tensor<2x4x5xi1>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<2x4x5xf32>) -> tensor<2x4x5x8xf32>
    %39 = stablehlo.divide %35, %38 : tensor<2x4x5x8xf32>
    return %39, %33 : tensor<2x4x5x8xf32>, tensor<2x4x5xf32>
  }
}
