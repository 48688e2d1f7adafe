// in0: float32[2, 3]
// aten::sort.values_stable(self: float32[2, 3], dim: -1, descending: True)
//   operand 0 = in0
//   result 0 replaces float32[2, 3]
//   result 1 replaces int64[2, 3]
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
    %1 = "stablehlo.bitcast_convert"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %2 = stablehlo.constant dense<2147483647> : tensor<i32>
    %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x3xi32>
    %4 = stablehlo.and %1, %3 : tensor<2x3xi32>
    %5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %6 = "stablehlo.bitcast_convert"(%5) : (tensor<f32>) -> tensor<i32>
    %7 = "stablehlo.broadcast_in_dim"(%6) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x3xi32>
    %8 = stablehlo.negate %4 : tensor<2x3xi32>
    %9 = stablehlo.constant dense<0> : tensor<2x3xi32>
    %10 = "stablehlo.compare"(%1, %9) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %11 = "stablehlo.select"(%10, %8, %4) : (tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %12 = "stablehlo.compare"(%4, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %13 = "stablehlo.select"(%12, %3, %11) : (tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %14 = stablehlo.not %13 : tensor<2x3xi32>
    %15 = "stablehlo.convert"(%14) : (tensor<2x3xi32>) -> tensor<2x3xi64>
    %16 = stablehlo.constant dense<32> : tensor<2x3xi64>
    %17 = stablehlo.shift_left %15, %16 : tensor<2x3xi64>
    %18 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi64>
    %19 = stablehlo.or %17, %18 : tensor<2x3xi64>
    %23 = "stablehlo.sort"(%19) ({
    ^bb0(%20: tensor<i64>, %21: tensor<i64>):
      %22 = "stablehlo.compare"(%20, %21) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %22 : tensor<i1>
    }) {dimension = 1 : i64, is_stable = false} : (tensor<2x3xi64>) -> (tensor<2x3xi64>)
    %24 = stablehlo.constant dense<4294967295> : tensor<2x3xi64>
    %25 = stablehlo.and %23, %24 : tensor<2x3xi64>
    %26 = "stablehlo.gather"(%arg0, %25) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
    return %26, %25 : tensor<2x3xf32>, tensor<2x3xi64>
  }
}
