// in0: float32[2, 3, 8, 8]
// aten::max_pool2d_with_indices.out(self: float32[2, 3, 8, 8], kernel_size: [2, 2], stride: [2, 2], padding: [0, 0], dilation: [1, 1], ceil_mode: False)
//   operand 0 = in0
//   result 0 replaces float32[2, 3, 4, 4]
//   result 1 replaces int64[2, 3, 4, 4]
module @main {
  func.func public @main(%arg0: tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x3x4x4xi64>) {
    %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.constant dense<0> : tensor<2x3x4x4xi32>
    %3 = stablehlo.constant dense<2> : tensor<2x3x4x4xi32>
    %4 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4xi32>
    %5 = "stablehlo.broadcast_in_dim"(%4) {broadcast_dimensions = array<i64: 2>} : (tensor<4xi32>) -> tensor<2x3x4x4xi32>
    %6 = stablehlo.multiply %5, %3 : tensor<2x3x4x4xi32>
    %7 = stablehlo.subtract %6, %2 : tensor<2x3x4x4xi32>
    %8 = stablehlo.constant dense<8> : tensor<2x3x4x4xi32>
    %9 = stablehlo.multiply %7, %8 : tensor<2x3x4x4xi32>
    %10 = stablehlo.add %2, %9 : tensor<2x3x4x4xi32>
    %11 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4xi32>
    %12 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64: 3>} : (tensor<4xi32>) -> tensor<2x3x4x4xi32>
    %13 = stablehlo.multiply %12, %3 : tensor<2x3x4x4xi32>
    %14 = stablehlo.subtract %13, %2 : tensor<2x3x4x4xi32>
    %15 = stablehlo.constant dense<1> : tensor<2x3x4x4xi32>
    %16 = stablehlo.multiply %14, %15 : tensor<2x3x4x4xi32>
    %17 = stablehlo.add %10, %16 : tensor<2x3x4x4xi32>
    %18 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3x4x4xf32>
    %19 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 2, 3, 7, 7>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 2, 2>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
    %20 = "stablehlo.compare"(%19, %18) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %21 = "stablehlo.compare"(%19, %19) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %22 = stablehlo.or %20, %21 : tensor<2x3x4x4xi1>
    %23 = "stablehlo.select"(%22, %19, %18) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    %24 = "stablehlo.select"(%22, %2, %2) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xi32>, tensor<2x3x4x4xi32>) -> tensor<2x3x4x4xi32>
    %25 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 2, 3, 7, 8>, start_indices = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1, 2, 2>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
    %26 = "stablehlo.compare"(%25, %23) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %27 = "stablehlo.compare"(%25, %25) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %28 = stablehlo.or %26, %27 : tensor<2x3x4x4xi1>
    %29 = "stablehlo.select"(%28, %25, %23) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    %30 = "stablehlo.select"(%28, %15, %24) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xi32>, tensor<2x3x4x4xi32>) -> tensor<2x3x4x4xi32>
    %31 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 2, 3, 8, 7>, start_indices = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 2, 2>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
    %32 = "stablehlo.compare"(%31, %29) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %33 = "stablehlo.compare"(%31, %31) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %34 = stablehlo.or %32, %33 : tensor<2x3x4x4xi1>
    %35 = "stablehlo.select"(%34, %31, %29) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    %36 = "stablehlo.select"(%34, %8, %30) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xi32>, tensor<2x3x4x4xi32>) -> tensor<2x3x4x4xi32>
    %37 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 2, 3, 8, 8>, start_indices = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1, 2, 2>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
    %38 = "stablehlo.compare"(%37, %35) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %39 = "stablehlo.compare"(%37, %37) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xi1>
    %40 = stablehlo.or %38, %39 : tensor<2x3x4x4xi1>
    %41 = stablehlo.constant dense<9> : tensor<2x3x4x4xi32>
    %42 = "stablehlo.select"(%40, %37, %35) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    %43 = "stablehlo.select"(%40, %41, %36) : (tensor<2x3x4x4xi1>, tensor<2x3x4x4xi32>, tensor<2x3x4x4xi32>) -> tensor<2x3x4x4xi32>
    %44 = stablehlo.add %43, %17 : tensor<2x3x4x4xi32>
    %45 = stablehlo.add %2, %17 : tensor<2x3x4x4xi32>
    %46 = "stablehlo.convert"(%44) : (tensor<2x3x4x4xi32>) -> tensor<2x3x4x4xi64>
    return %42, %46 : tensor<2x3x4x4xf32>, tensor<2x3x4x4xi64>
  }
}
