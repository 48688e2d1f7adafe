// in0: float32[2, 3, 3]
// aten::linalg_cholesky_ex.L(self: float32[2, 3, 3], upper: False, check_errors: False)
//   operand 0 = in0
//   result 0 replaces float32[2, 3, 3]
//   result 1 replaces int32[2]
module @main {
  func.func public @main(%arg0: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {
    %1 = "stablehlo.cholesky"(%arg0) {lower = true} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %2 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3x3xi32>
    %3 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x3x3xi32>
    %4 = stablehlo.constant dense<0.0> : tensor<2x3x3xf32>
    %5 = "stablehlo.compare"(%2, %3) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
    %6 = "stablehlo.select"(%5, %1, %4) : (tensor<2x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %7 = stablehlo.constant dense<0.0> : tensor<f32>
    %11 = "stablehlo.reduce"(%6, %7) ({
    ^bb0(%8: tensor<f32>, %9: tensor<f32>):
      %10 = stablehlo.add %8, %9 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) {dimensions = array<i64: 2>} : (tensor<2x3x3xf32>, tensor<f32>) -> (tensor<2x3xf32>)
    %12 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
    %13 = "stablehlo.compare"(%11, %12) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %14 = stablehlo.not %13 : tensor<2x3xi1>
    %15 = stablehlo.constant dense<false> : tensor<i1>
    %19 = "stablehlo.reduce"(%14, %15) ({
    ^bb0(%16: tensor<i1>, %17: tensor<i1>):
      %18 = stablehlo.or %16, %17 : tensor<i1>
      stablehlo.return %18 : tensor<i1>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>, tensor<i1>) -> (tensor<i1>)
    %61 = "stablehlo.if"(%19) ({
      %20 = stablehlo.constant dense<0.0> : tensor<2x3x3xf32>
      %21 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3x3xi32>
      %22 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x3x3xi32>
      %23 = "stablehlo.compare"(%21, %22) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
      %24 = "stablehlo.select"(%23, %arg0, %20) : (tensor<2x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
      %25 = stablehlo.constant dense<0> : tensor<2xi32>
      %26 = stablehlo.constant dense<0> : tensor<i32>
      %57, %58, %59 = "stablehlo.while"(%26, %25, %24) ({
      ^bb0(%27: tensor<i32>, %28: tensor<2xi32>, %29: tensor<2x3x3xf32>):
        %30 = stablehlo.constant dense<3> : tensor<i32>
        %31 = "stablehlo.compare"(%27, %30) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %31 : tensor<i1>
      }, {
      ^bb0(%32: tensor<i32>, %33: tensor<2xi32>, %34: tensor<2x3x3xf32>):
        %35 = stablehlo.constant dense<0> : tensor<i32>
        %36 = "stablehlo.dynamic_slice"(%34, %35, %35, %32) {slice_sizes = array<i64: 2, 3, 1>} : (tensor<2x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x1xf32>
        %37 = "stablehlo.reshape"(%36) : (tensor<2x3x1xf32>) -> tensor<2x3xf32>
        %38 = "stablehlo.dynamic_slice"(%34, %35, %32, %32) {slice_sizes = array<i64: 2, 1, 1>} : (tensor<2x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x1xf32>
        %39 = "stablehlo.reshape"(%38) : (tensor<2x1x1xf32>) -> tensor<2xf32>
        %40 = stablehlo.constant dense<0.0> : tensor<2xf32>
        %41 = "stablehlo.compare"(%39, %40) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
        %42 = stablehlo.not %41 : tensor<2xi1>
        %43 = stablehlo.constant dense<1> : tensor<i32>
        %44 = stablehlo.add %32, %43 : tensor<i32>
        %45 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2xi32>
        %46 = stablehlo.constant dense<0> : tensor<2xi32>
        %47 = "stablehlo.compare"(%33, %46) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
        %48 = stablehlo.and %42, %47 : tensor<2xi1>
        %49 = "stablehlo.broadcast_in_dim"(%39) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
        %50 = stablehlo.divide %37, %49 : tensor<2x3xf32>
        %51 = "stablehlo.broadcast_in_dim"(%37) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x3x3xf32>
        %52 = "stablehlo.broadcast_in_dim"(%50) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x3xf32>
        %53 = stablehlo.multiply %52, %51 : tensor<2x3x3xf32>
        %54 = stablehlo.add %32, %43 : tensor<i32>
        %55 = "stablehlo.select"(%48, %45, %33) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
        %56 = stablehlo.subtract %34, %53 : tensor<2x3x3xf32>
        stablehlo.return %54, %55, %56 : tensor<i32>, tensor<2xi32>, tensor<2x3x3xf32>
      }) : (tensor<i32>, tensor<2xi32>, tensor<2x3x3xf32>) -> (tensor<i32>, tensor<2xi32>, tensor<2x3x3xf32>)
      stablehlo.return %58 : tensor<2xi32>
    }, {
      %60 = stablehlo.constant dense<0> : tensor<2xi32>
      stablehlo.return %60 : tensor<2xi32>
    }) : (tensor<i1>) -> (tensor<2xi32>)
    %62 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3x3xi32>
    %63 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x3x3xi32>
    %64 = "stablehlo.compare"(%62, %63) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
    %65 = "stablehlo.select"(%64, %1, %4) : (tensor<2x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    return %65, %61 : tensor<2x3x3xf32>, tensor<2xi32>
  }
}
