// in0: float32[1, 2, 4, 4]
// aten::upsample_bilinear2d.out(self: float32[1, 2, 4, 4], output_size: [8, 6], align_corners: False)
//   operand 0 = in0
//   result 0 replaces float32[1, 2, 8, 6]
module @main {
  func.func public @main(%arg0: tensor<1x2x4x4xf32>) -> (tensor<1x2x8x6xf32>) {
    %1 = stablehlo.constant dense<[0, 0, 1, 1, 2, 3]> : tensor<6xi32>
    %2 = "stablehlo.reshape"(%1) : (tensor<6xi32>) -> tensor<6x1xi32>
    %3 = "stablehlo.gather"(%arg0, %2) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], collapsed_slice_dims = [3], start_index_map = [3], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 4, 1>} : (tensor<1x2x4x4xf32>, tensor<6x1xi32>) -> tensor<1x2x4x6xf32>
    %4 = stablehlo.constant dense<[1.0, 0.5, 0.83333325, 0.16666651, 0.5, 1.0]> : tensor<6xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) {broadcast_dimensions = array<i64: 3>} : (tensor<6xf32>) -> tensor<1x2x4x6xf32>
    %6 = stablehlo.multiply %3, %5 : tensor<1x2x4x6xf32>
    %7 = stablehlo.constant dense<[0, 1, 2, 2, 3, 3]> : tensor<6xi32>
    %8 = "stablehlo.reshape"(%7) : (tensor<6xi32>) -> tensor<6x1xi32>
    %9 = "stablehlo.gather"(%arg0, %8) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], collapsed_slice_dims = [3], start_index_map = [3], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 4, 1>} : (tensor<1x2x4x4xf32>, tensor<6x1xi32>) -> tensor<1x2x4x6xf32>
    %10 = stablehlo.constant dense<[0.0, 0.5, 0.16666675, 0.8333335, 0.5, 0.0]> : tensor<6xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) {broadcast_dimensions = array<i64: 3>} : (tensor<6xf32>) -> tensor<1x2x4x6xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<1x2x4x6xf32>
    %13 = stablehlo.add %6, %12 : tensor<1x2x4x6xf32>
    %14 = stablehlo.constant dense<[0, 0, 0, 1, 1, 2, 2, 3]> : tensor<8xi32>
    %15 = "stablehlo.reshape"(%14) : (tensor<8xi32>) -> tensor<8x1xi32>
    %16 = "stablehlo.gather"(%13, %15) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 1, 6>} : (tensor<1x2x4x6xf32>, tensor<8x1xi32>) -> tensor<1x2x8x6xf32>
    %17 = stablehlo.constant dense<[1.0, 0.75, 0.25, 0.75, 0.25, 0.75, 0.25, 1.0]> : tensor<8xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) {broadcast_dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<1x2x8x6xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<1x2x8x6xf32>
    %20 = stablehlo.constant dense<[0, 1, 1, 2, 2, 3, 3, 3]> : tensor<8xi32>
    %21 = "stablehlo.reshape"(%20) : (tensor<8xi32>) -> tensor<8x1xi32>
    %22 = "stablehlo.gather"(%13, %21) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 1, 6>} : (tensor<1x2x4x6xf32>, tensor<8x1xi32>) -> tensor<1x2x8x6xf32>
    %23 = stablehlo.constant dense<[0.0, 0.25, 0.75, 0.25, 0.75, 0.25, 0.75, 0.0]> : tensor<8xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) {broadcast_dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<1x2x8x6xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<1x2x8x6xf32>
    %26 = stablehlo.add %19, %25 : tensor<1x2x8x6xf32>
    return %26 : tensor<1x2x8x6xf32>
  }
}
