// in0: float32[2, 4, 3]
// aten::linalg_lu_factor_ex.out(A: float32[2, 4, 3], pivot: True, check_errors: False)
//   operand 0 = in0
//   result 0 replaces float32[2, 4, 3]
//   result 1 replaces int32[2, 3]
//   result 2 replaces int32[2]
module @main {
  func.func public @main(%arg0: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>) {
    %1 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
    %2 = stablehlo.constant dense<0> : tensor<2x3xi32>
    %3 = stablehlo.constant dense<0> : tensor<2xi32>
    %4 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.constant dense<3> : tensor<i32>
    %6 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
    %132, %133, %134, %135, %136, %137, %138 = "stablehlo.while"(%4, %5, %arg0, %6, %2, %3, %4) ({
    ^bb0(%7: tensor<i32>, %8: tensor<i32>, %9: tensor<2x4x3xf32>, %10: tensor<2x4xi32>, %11: tensor<2x3xi32>, %12: tensor<2xi32>, %13: tensor<i32>):
      %14 = "stablehlo.compare"(%7, %8) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    }, {
    ^bb0(%15: tensor<i32>, %16: tensor<i32>, %17: tensor<2x4x3xf32>, %18: tensor<2x4xi32>, %19: tensor<2x3xi32>, %20: tensor<2xi32>, %21: tensor<i32>):
      %22 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %15, %22 : tensor<i32>
      %24 = stablehlo.add %21, %15 : tensor<i32>
      %25 = stablehlo.constant dense<0> : tensor<i32>
      %26 = "stablehlo.dynamic_slice"(%17, %25, %25, %15) {slice_sizes = array<i64: 2, 4, 1>} : (tensor<2x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x1xf32>
      %27 = "stablehlo.reshape"(%26) : (tensor<2x4x1xf32>) -> tensor<2x4xf32>
      %28 = stablehlo.abs %27 : tensor<2x4xf32>
      %29 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
      %30 = stablehlo.constant dense<0x7F800000> : tensor<2x4xf32>
      %31 = "stablehlo.compare"(%28, %28) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
      %32 = "stablehlo.select"(%31, %30, %28) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %33 = stablehlo.constant dense<-1.0> : tensor<2x4xf32>
      %34 = "stablehlo.broadcast_in_dim"(%24) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4xi32>
      %35 = "stablehlo.compare"(%29, %34) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %36 = "stablehlo.select"(%35, %32, %33) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %37 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %41 = "stablehlo.reduce"(%36, %37) ({
      ^bb0(%38: tensor<f32>, %39: tensor<f32>):
        %40 = stablehlo.maximum %38, %39 : tensor<f32>
        stablehlo.return %40 : tensor<f32>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %42 = "stablehlo.broadcast_in_dim"(%41) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %43 = stablehlo.constant dense<4> : tensor<2x4xi32>
      %44 = "stablehlo.compare"(%36, %42) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
      %45 = "stablehlo.select"(%44, %29, %43) : (tensor<2x4xi1>, tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
      %46 = stablehlo.constant dense<2147483647> : tensor<i32>
      %50 = "stablehlo.reduce"(%45, %46) ({
      ^bb0(%47: tensor<i32>, %48: tensor<i32>):
        %49 = stablehlo.minimum %47, %48 : tensor<i32>
        stablehlo.return %49 : tensor<i32>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xi32>, tensor<i32>) -> (tensor<2xi32>)
      %51 = "stablehlo.reshape"(%50) : (tensor<2xi32>) -> tensor<2x1xi32>
      %52 = "stablehlo.gather"(%17, %51) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 3>} : (tensor<2x4x3xf32>, tensor<2x1xi32>) -> tensor<2x1x3xf32>
      %53 = "stablehlo.dynamic_slice"(%17, %25, %24, %25) {slice_sizes = array<i64: 2, 1, 3>} : (tensor<2x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x3xf32>
      %54 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x3xi32>
      %55 = "stablehlo.broadcast_in_dim"(%24) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4x3xi32>
      %56 = "stablehlo.reshape"(%53) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
      %57 = "stablehlo.broadcast_in_dim"(%56) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
      %58 = "stablehlo.broadcast_in_dim"(%50) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x4x3xi32>
      %59 = "stablehlo.compare"(%54, %58) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %60 = "stablehlo.select"(%59, %57, %17) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %61 = "stablehlo.reshape"(%52) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
      %62 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
      %63 = "stablehlo.compare"(%54, %55) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %64 = "stablehlo.select"(%63, %62, %60) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %65 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
      %66 = "stablehlo.broadcast_in_dim"(%50) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x4xi32>
      %67 = "stablehlo.compare"(%65, %66) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %68 = stablehlo.constant dense<0.0> : tensor<2x4xf32>
      %69 = "stablehlo.select"(%67, %27, %68) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %70 = stablehlo.constant dense<0.0> : tensor<f32>
      %74 = "stablehlo.reduce"(%69, %70) ({
      ^bb0(%71: tensor<f32>, %72: tensor<f32>):
        %73 = stablehlo.add %71, %72 : tensor<f32>
        stablehlo.return %73 : tensor<f32>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %75 = "stablehlo.dynamic_slice"(%27, %25, %24) {slice_sizes = array<i64: 2, 1>} : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
      %76 = "stablehlo.reshape"(%75) : (tensor<2x1xf32>) -> tensor<2xf32>
      %77 = "stablehlo.broadcast_in_dim"(%76) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %78 = "stablehlo.select"(%67, %77, %27) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %79 = "stablehlo.broadcast_in_dim"(%74) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %80 = "stablehlo.broadcast_in_dim"(%24) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4xi32>
      %81 = "stablehlo.compare"(%65, %80) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %82 = "stablehlo.select"(%81, %79, %78) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %83 = "stablehlo.dynamic_slice"(%82, %25, %24) {slice_sizes = array<i64: 2, 1>} : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
      %84 = "stablehlo.reshape"(%83) : (tensor<2x1xf32>) -> tensor<2xf32>
      %85 = stablehlo.constant dense<0.0> : tensor<2xf32>
      %86 = "stablehlo.compare"(%84, %85) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      %87 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %88 = stablehlo.divide %82, %87 : tensor<2x4xf32>
      %89 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi1>) -> tensor<2x4xi1>
      %90 = "stablehlo.select"(%89, %82, %88) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %91 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x3xi32>
      %92 = "stablehlo.broadcast_in_dim"(%15) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4x3xi32>
      %93 = "stablehlo.compare"(%54, %55) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %94 = "stablehlo.reshape"(%52) : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
      %95 = "stablehlo.broadcast_in_dim"(%94) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
      %96 = "stablehlo.broadcast_in_dim"(%90) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
      %97 = stablehlo.multiply %96, %95 : tensor<2x4x3xf32>
      %98 = stablehlo.subtract %64, %97 : tensor<2x4x3xf32>
      %99 = "stablehlo.broadcast_in_dim"(%90) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
      %100 = "stablehlo.compare"(%91, %92) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %101 = "stablehlo.select"(%100, %99, %98) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %102 = "stablehlo.compare"(%91, %92) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %103 = stablehlo.and %93, %102 : tensor<2x4x3xi1>
      %104 = stablehlo.add %24, %22 : tensor<i32>
      %105 = "stablehlo.broadcast_in_dim"(%104) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2xi32>
      %106 = stablehlo.constant dense<0> : tensor<2xi32>
      %107 = "stablehlo.compare"(%20, %106) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %108 = stablehlo.and %86, %107 : tensor<2xi1>
      %109 = "stablehlo.select"(%103, %101, %64) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %110 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
      %111 = "stablehlo.broadcast_in_dim"(%50) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x4xi32>
      %112 = "stablehlo.compare"(%110, %111) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %113 = stablehlo.constant dense<0> : tensor<2x4xi32>
      %114 = "stablehlo.select"(%112, %18, %113) : (tensor<2x4xi1>, tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
      %118 = "stablehlo.reduce"(%114, %25) ({
      ^bb0(%115: tensor<i32>, %116: tensor<i32>):
        %117 = stablehlo.add %115, %116 : tensor<i32>
        stablehlo.return %117 : tensor<i32>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xi32>, tensor<i32>) -> (tensor<2xi32>)
      %119 = "stablehlo.dynamic_slice"(%18, %25, %24) {slice_sizes = array<i64: 2, 1>} : (tensor<2x4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x1xi32>
      %120 = "stablehlo.reshape"(%119) : (tensor<2x1xi32>) -> tensor<2xi32>
      %121 = "stablehlo.broadcast_in_dim"(%120) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x4xi32>
      %122 = "stablehlo.select"(%112, %121, %18) : (tensor<2x4xi1>, tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
      %123 = "stablehlo.broadcast_in_dim"(%118) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x4xi32>
      %124 = "stablehlo.broadcast_in_dim"(%24) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4xi32>
      %125 = "stablehlo.compare"(%110, %124) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %126 = "stablehlo.select"(%125, %123, %122) : (tensor<2x4xi1>, tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
      %127 = stablehlo.constant dense<1> : tensor<2xi32>
      %128 = stablehlo.add %50, %127 : tensor<2xi32>
      %129 = "stablehlo.reshape"(%128) : (tensor<2xi32>) -> tensor<2x1xi32>
      %130 = "stablehlo.dynamic_update_slice"(%19, %129, %25, %24) : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xi32>
      %131 = "stablehlo.select"(%108, %105, %20) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      stablehlo.return %23, %16, %109, %126, %130, %131, %21 : tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2xi32>, tensor<i32>
    }) : (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2xi32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2xi32>, tensor<i32>)
    return %134, %136, %137 : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>
  }
}
