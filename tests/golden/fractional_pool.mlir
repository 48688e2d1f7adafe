// in0: float32[2, 3, 8, 8]
// in1: float32[2, 3, 2]
// aten::fractional_max_pool2d.output(self: float32[2, 3, 8, 8], kernel_size: [2, 3], output_size: [4, 5], random_samples: float32[2, 3, 2])
//   operand 0 = in0
//   operand 1 = in1
//   result 0 replaces float32[2, 3, 4, 5]
//   result 1 replaces int64[2, 3, 4, 5]
module @main {
  func.func public @main(%arg0: tensor<2x3x8x8xf32>, %arg1: tensor<2x3x2xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xi64>) {
    %2 = "stablehlo.reshape"(%arg1) : (tensor<2x3x2xf32>) -> tensor<6x2xf32>
    %3 = "stablehlo.slice"(%2) {limit_indices = array<i64: 6, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %4 = "stablehlo.reshape"(%3) : (tensor<6x1xf32>) -> tensor<6xf32>
    %5 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<6x4xi32>
    %6 = stablehlo.constant dense<6> : tensor<6x4xi32>
    %7 = stablehlo.constant dense<3.0> : tensor<f32>
    %8 = stablehlo.constant dense<6.0> : tensor<f32>
    %9 = stablehlo.divide %8, %7 : tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6x4xf32>
    %11 = "stablehlo.broadcast_in_dim"(%4) {broadcast_dimensions = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x4xf32>
    %12 = "stablehlo.convert"(%5) : (tensor<6x4xi32>) -> tensor<6x4xf32>
    %13 = stablehlo.add %12, %11 : tensor<6x4xf32>
    %14 = stablehlo.multiply %13, %10 : tensor<6x4xf32>
    %15 = "stablehlo.convert"(%14) : (tensor<6x4xf32>) -> tensor<6x4xi32>
    %16 = stablehlo.multiply %11, %10 : tensor<6x4xf32>
    %17 = "stablehlo.convert"(%16) : (tensor<6x4xf32>) -> tensor<6x4xi32>
    %18 = stablehlo.subtract %15, %17 : tensor<6x4xi32>
    %19 = stablehlo.constant dense<3> : tensor<6x4xi32>
    %20 = "stablehlo.compare"(%5, %19) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<6x4xi32>, tensor<6x4xi32>) -> tensor<6x4xi1>
    %21 = "stablehlo.select"(%20, %6, %18) : (tensor<6x4xi1>, tensor<6x4xi32>, tensor<6x4xi32>) -> tensor<6x4xi32>
    %22 = "stablehlo.slice"(%2) {limit_indices = array<i64: 6, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %23 = "stablehlo.reshape"(%22) : (tensor<6x1xf32>) -> tensor<6xf32>
    %24 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<6x5xi32>
    %25 = stablehlo.constant dense<5> : tensor<6x5xi32>
    %26 = stablehlo.constant dense<4.0> : tensor<f32>
    %27 = stablehlo.constant dense<5.0> : tensor<f32>
    %28 = stablehlo.divide %27, %26 : tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6x5xf32>
    %30 = "stablehlo.broadcast_in_dim"(%23) {broadcast_dimensions = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x5xf32>
    %31 = "stablehlo.convert"(%24) : (tensor<6x5xi32>) -> tensor<6x5xf32>
    %32 = stablehlo.add %31, %30 : tensor<6x5xf32>
    %33 = stablehlo.multiply %32, %29 : tensor<6x5xf32>
    %34 = "stablehlo.convert"(%33) : (tensor<6x5xf32>) -> tensor<6x5xi32>
    %35 = stablehlo.multiply %30, %29 : tensor<6x5xf32>
    %36 = "stablehlo.convert"(%35) : (tensor<6x5xf32>) -> tensor<6x5xi32>
    %37 = stablehlo.subtract %34, %36 : tensor<6x5xi32>
    %38 = stablehlo.constant dense<4> : tensor<6x5xi32>
    %39 = "stablehlo.compare"(%24, %38) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<6x5xi32>, tensor<6x5xi32>) -> tensor<6x5xi1>
    %40 = "stablehlo.select"(%39, %25, %37) : (tensor<6x5xi1>, tensor<6x5xi32>, tensor<6x5xi32>) -> tensor<6x5xi32>
    %41 = "stablehlo.reshape"(%arg0) : (tensor<2x3x8x8xf32>) -> tensor<6x8x8xf32>
    %42 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6x4x5xi32>
    %43 = "stablehlo.reshape"(%42) : (tensor<6x4x5xi32>) -> tensor<6x4x5x1xi32>
    %44 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<6x4xi32>) -> tensor<6x4x5xi32>
    %45 = "stablehlo.reshape"(%44) : (tensor<6x4x5xi32>) -> tensor<6x4x5x1xi32>
    %46 = "stablehlo.broadcast_in_dim"(%40) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<6x5xi32>) -> tensor<6x4x5xi32>
    %47 = "stablehlo.reshape"(%46) : (tensor<6x4x5xi32>) -> tensor<6x4x5x1xi32>
    %48 = "stablehlo.concatenate"(%43, %45, %47) {dimension = 3 : i64} : (tensor<6x4x5x1xi32>, tensor<6x4x5x1xi32>, tensor<6x4x5x1xi32>) -> tensor<6x4x5x3xi32>
    %49 = "stablehlo.gather"(%41, %48) {dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [0], start_index_map = [0, 1, 2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 3>} : (tensor<6x8x8xf32>, tensor<6x4x5x3xi32>) -> tensor<6x4x5x2x3xf32>
    %50 = "stablehlo.reshape"(%49) : (tensor<6x4x5x2x3xf32>) -> tensor<6x4x5x6xf32>
    %51 = "stablehlo.iota"() {iota_dimension = 3 : i64} : () -> tensor<6x4x5x6xi32>
    %52 = stablehlo.constant dense<0> : tensor<i32>
    %53 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %72, %73 = "stablehlo.reduce"(%50, %51, %53, %52) ({
    ^bb0(%54: tensor<f32>, %55: tensor<i32>, %56: tensor<f32>, %57: tensor<i32>):
      %58 = "stablehlo.compare"(%57, %55) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %59 = "stablehlo.compare"(%56, %54) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %60 = stablehlo.and %59, %58 : tensor<i1>
      %61 = "stablehlo.compare"(%56, %54) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %62 = stablehlo.or %61, %60 : tensor<i1>
      %63 = "stablehlo.compare"(%57, %55) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %64 = "stablehlo.compare"(%54, %54) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %65 = stablehlo.not %64 : tensor<i1>
      %66 = stablehlo.or %65, %63 : tensor<i1>
      %67 = "stablehlo.compare"(%56, %56) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %68 = stablehlo.and %67, %66 : tensor<i1>
      %69 = stablehlo.or %62, %68 : tensor<i1>
      %70 = "stablehlo.select"(%69, %56, %54) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %71 = "stablehlo.select"(%69, %57, %55) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      stablehlo.return %70, %71 : tensor<f32>, tensor<i32>
    }) {dimensions = array<i64: 3>} : (tensor<6x4x5x6xf32>, tensor<6x4x5x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6x4x5xf32>, tensor<6x4x5xi32>)
    %74 = stablehlo.constant dense<0> : tensor<6x4x5xi32>
    %75 = stablehlo.constant dense<3> : tensor<6x4x5xi32>
    %76 = "stablehlo.broadcast_in_dim"(%40) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<6x5xi32>) -> tensor<6x4x5xi32>
    %77 = stablehlo.remainder %73, %75 : tensor<6x4x5xi32>
    %78 = stablehlo.add %77, %76 : tensor<6x4x5xi32>
    %79 = stablehlo.constant dense<1> : tensor<6x4x5xi32>
    %80 = stablehlo.multiply %78, %79 : tensor<6x4x5xi32>
    %81 = stablehlo.add %74, %80 : tensor<6x4x5xi32>
    %82 = stablehlo.divide %73, %75 : tensor<6x4x5xi32>
    %83 = stablehlo.constant dense<2> : tensor<6x4x5xi32>
    %84 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<6x4xi32>) -> tensor<6x4x5xi32>
    %85 = stablehlo.remainder %82, %83 : tensor<6x4x5xi32>
    %86 = stablehlo.add %85, %84 : tensor<6x4x5xi32>
    %87 = stablehlo.constant dense<8> : tensor<6x4x5xi32>
    %88 = stablehlo.multiply %86, %87 : tensor<6x4x5xi32>
    %89 = stablehlo.add %81, %88 : tensor<6x4x5xi32>
    %90 = stablehlo.divide %82, %83 : tensor<6x4x5xi32>
    %91 = "stablehlo.reshape"(%72) : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
    %92 = "stablehlo.convert"(%89) : (tensor<6x4x5xi32>) -> tensor<6x4x5xi64>
    %93 = "stablehlo.reshape"(%92) : (tensor<6x4x5xi64>) -> tensor<2x3x4x5xi64>
    return %91, %93 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xi64>
  }
}
