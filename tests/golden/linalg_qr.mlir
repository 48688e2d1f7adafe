// in0: float32[2, 4, 3]
// aten::linalg_qr.out(A: float32[2, 4, 3], mode: 'reduced')
//   operand 0 = in0
//   result 0 replaces float32[2, 4, 3]
//   result 1 replaces float32[2, 3, 3]
module @main {
  func.func public @main(%arg0: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3x3xf32>) {
    %1 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
    %2 = stablehlo.constant dense<3> : tensor<i32>
    %3 = stablehlo.constant dense<0> : tensor<i32>
    %91, %92, %93, %94 = "stablehlo.while"(%3, %2, %arg0, %1) ({
    ^bb0(%4: tensor<i32>, %5: tensor<i32>, %6: tensor<2x4x3xf32>, %7: tensor<2x3xf32>):
      %8 = "stablehlo.compare"(%4, %5) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    }, {
    ^bb0(%9: tensor<i32>, %10: tensor<i32>, %11: tensor<2x4x3xf32>, %12: tensor<2x3xf32>):
      %13 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %9, %13 : tensor<i32>
      %15 = stablehlo.constant dense<0> : tensor<i32>
      %16 = "stablehlo.dynamic_slice"(%11, %15, %15, %9) {slice_sizes = array<i64: 2, 4, 1>} : (tensor<2x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x1xf32>
      %17 = "stablehlo.reshape"(%16) : (tensor<2x4x1xf32>) -> tensor<2x4xf32>
      %18 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
      %19 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4xi32>
      %20 = stablehlo.constant dense<0.0> : tensor<2x4xf32>
      %21 = "stablehlo.compare"(%18, %19) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %22 = "stablehlo.select"(%21, %17, %20) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %23 = "stablehlo.compare"(%18, %19) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %24 = "stablehlo.select"(%23, %17, %20) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %25 = stablehlo.abs %24 : tensor<2x4xf32>
      %26 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %30 = "stablehlo.reduce"(%25, %26) ({
      ^bb0(%27: tensor<f32>, %28: tensor<f32>):
        %29 = stablehlo.maximum %27, %28 : tensor<f32>
        stablehlo.return %29 : tensor<f32>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %31 = stablehlo.constant dense<1.0> : tensor<2xf32>
      %32 = stablehlo.constant dense<0.0> : tensor<2xf32>
      %33 = "stablehlo.compare"(%30, %32) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      %34 = "stablehlo.select"(%33, %31, %30) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %35 = "stablehlo.broadcast_in_dim"(%34) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %36 = stablehlo.divide %25, %35 : tensor<2x4xf32>
      %37 = stablehlo.multiply %36, %36 : tensor<2x4xf32>
      %38 = stablehlo.constant dense<0.0> : tensor<f32>
      %42 = "stablehlo.reduce"(%37, %38) ({
      ^bb0(%39: tensor<f32>, %40: tensor<f32>):
        %41 = stablehlo.add %39, %40 : tensor<f32>
        stablehlo.return %41 : tensor<f32>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %43 = stablehlo.sqrt %42 : tensor<2xf32>
      %44 = stablehlo.multiply %34, %43 : tensor<2xf32>
      %45 = "stablehlo.dynamic_slice"(%17, %15, %9) {slice_sizes = array<i64: 2, 1>} : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
      %46 = "stablehlo.reshape"(%45) : (tensor<2x1xf32>) -> tensor<2xf32>
      %47 = "stablehlo.compare"(%22, %20) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
      %48 = stablehlo.constant dense<false> : tensor<i1>
      %52 = "stablehlo.reduce"(%47, %48) ({
      ^bb0(%49: tensor<i1>, %50: tensor<i1>):
        %51 = stablehlo.or %49, %50 : tensor<i1>
        stablehlo.return %51 : tensor<i1>
      }) {dimensions = array<i64: 1>} : (tensor<2x4xi1>, tensor<i1>) -> (tensor<2xi1>)
      %53 = stablehlo.not %52 : tensor<2xi1>
      %54 = stablehlo.negate %44 : tensor<2xf32>
      %55 = "stablehlo.compare"(%46, %32) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      %56 = "stablehlo.select"(%55, %44, %54) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %57 = stablehlo.subtract %46, %56 : tensor<2xf32>
      %58 = "stablehlo.select"(%53, %31, %57) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %59 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %60 = stablehlo.divide %22, %59 : tensor<2x4xf32>
      %61 = stablehlo.constant dense<1.0> : tensor<2x4xf32>
      %62 = "stablehlo.compare"(%18, %19) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %63 = "stablehlo.select"(%62, %61, %60) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %64 = "stablehlo.select"(%53, %31, %56) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %65 = stablehlo.subtract %56, %46 : tensor<2xf32>
      %66 = stablehlo.divide %65, %64 : tensor<2xf32>
      %67 = "stablehlo.select"(%53, %32, %66) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %68 = "stablehlo.select"(%53, %46, %56) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %69 = "stablehlo.dot_general"(%63, %11) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3xf32>
      %70 = "stablehlo.broadcast_in_dim"(%69) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
      %71 = "stablehlo.broadcast_in_dim"(%67) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %72 = stablehlo.multiply %63, %71 : tensor<2x4xf32>
      %73 = "stablehlo.broadcast_in_dim"(%72) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
      %74 = stablehlo.multiply %73, %70 : tensor<2x4x3xf32>
      %75 = stablehlo.subtract %11, %74 : tensor<2x4x3xf32>
      %76 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x3xi32>
      %77 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x3xi32>
      %78 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4x3xi32>
      %79 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
      %80 = "stablehlo.compare"(%76, %78) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %81 = "stablehlo.select"(%80, %79, %11) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %82 = "stablehlo.broadcast_in_dim"(%68) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4x3xf32>
      %83 = "stablehlo.compare"(%76, %78) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %84 = "stablehlo.select"(%83, %82, %81) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %85 = "stablehlo.compare"(%77, %78) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %86 = "stablehlo.select"(%85, %84, %11) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %87 = "stablehlo.compare"(%77, %78) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
      %88 = "stablehlo.select"(%87, %75, %86) : (tensor<2x4x3xi1>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
      %89 = "stablehlo.reshape"(%67) : (tensor<2xf32>) -> tensor<2x1xf32>
      %90 = "stablehlo.dynamic_update_slice"(%12, %89, %15, %9) : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
      stablehlo.return %14, %10, %88, %90 : tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x3xf32>
    }) : (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x3xf32>) -> (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x3xf32>)
    %95 = "stablehlo.slice"(%93) {limit_indices = array<i64: 2, 3, 3>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
    %96 = stablehlo.constant dense<0.0> : tensor<2x3x3xf32>
    %97 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3x3xi32>
    %98 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x3x3xi32>
    %99 = "stablehlo.compare"(%97, %98) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
    %100 = "stablehlo.select"(%99, %95, %96) : (tensor<2x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %101 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x3xi32>
    %102 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x3xi32>
    %103 = "stablehlo.compare"(%102, %101) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x3xi32>, tensor<2x4x3xi32>) -> tensor<2x4x3xi1>
    %104 = "stablehlo.convert"(%103) : (tensor<2x4x3xi1>) -> tensor<2x4x3xf32>
    %140, %141, %142, %143, %144 = "stablehlo.while"(%3, %2, %104, %93, %94) ({
    ^bb0(%105: tensor<i32>, %106: tensor<i32>, %107: tensor<2x4x3xf32>, %108: tensor<2x4x3xf32>, %109: tensor<2x3xf32>):
      %110 = "stablehlo.compare"(%105, %106) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %110 : tensor<i1>
    }, {
    ^bb0(%111: tensor<i32>, %112: tensor<i32>, %113: tensor<2x4x3xf32>, %114: tensor<2x4x3xf32>, %115: tensor<2x3xf32>):
      %116 = stablehlo.constant dense<1> : tensor<i32>
      %117 = stablehlo.add %111, %116 : tensor<i32>
      %118 = stablehlo.constant dense<2> : tensor<i32>
      %119 = stablehlo.subtract %118, %111 : tensor<i32>
      %120 = stablehlo.constant dense<0> : tensor<i32>
      %121 = "stablehlo.dynamic_slice"(%114, %120, %120, %119) {slice_sizes = array<i64: 2, 4, 1>} : (tensor<2x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x1xf32>
      %122 = "stablehlo.reshape"(%121) : (tensor<2x4x1xf32>) -> tensor<2x4xf32>
      %123 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
      %124 = "stablehlo.broadcast_in_dim"(%119) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x4xi32>
      %125 = stablehlo.constant dense<0.0> : tensor<2x4xf32>
      %126 = "stablehlo.compare"(%123, %124) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %127 = "stablehlo.select"(%126, %122, %125) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %128 = stablehlo.constant dense<1.0> : tensor<2x4xf32>
      %129 = "stablehlo.compare"(%123, %124) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi1>
      %130 = "stablehlo.select"(%129, %128, %127) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %131 = "stablehlo.dynamic_slice"(%115, %120, %119) {slice_sizes = array<i64: 2, 1>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
      %132 = "stablehlo.reshape"(%131) : (tensor<2x1xf32>) -> tensor<2xf32>
      %133 = "stablehlo.dot_general"(%130, %113) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3xf32>
      %134 = "stablehlo.broadcast_in_dim"(%133) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
      %135 = "stablehlo.broadcast_in_dim"(%132) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
      %136 = stablehlo.multiply %130, %135 : tensor<2x4xf32>
      %137 = "stablehlo.broadcast_in_dim"(%136) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
      %138 = stablehlo.multiply %137, %134 : tensor<2x4x3xf32>
      %139 = stablehlo.subtract %113, %138 : tensor<2x4x3xf32>
      stablehlo.return %117, %112, %139, %114, %115 : tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x3xf32>
    }) : (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x3xf32>) -> (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x3xf32>)
    return %142, %100 : tensor<2x4x3xf32>, tensor<2x3x3xf32>
  }
}
