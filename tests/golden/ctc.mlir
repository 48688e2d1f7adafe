// in0: float32[5, 2, 4]
// in1: int64[2, 3]
// in2: int64[2]
// in3: int64[2]
// aten::_ctc_loss.Tensor(log_probs: float32[5, 2, 4], targets: int64[2, 3], input_lengths: int64[2], target_lengths: int64[2], blank: 0, zero_infinity: False)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   operand 3 = in3
//   result 0 is a new tensor
//   result 1 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<5x2x4xf32>, %arg1: tensor<2x3xi64>, %arg2: tensor<2xi64>, %arg3: tensor<2xi64>) -> (tensor<2xf32>, tensor<2x5x7xf32>) {
    %4 = "stablehlo.convert"(%arg2) : (tensor<2xi64>) -> tensor<2xi32>
    %5 = "stablehlo.convert"(%arg3) : (tensor<2xi64>) -> tensor<2xi32>
    %6 = stablehlo.constant dense<1> : tensor<2xi32>
    %7 = stablehlo.subtract %4, %6 : tensor<2xi32>
    %8 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x7xi32>
    %9 = stablehlo.add %5, %5 : tensor<2xi32>
    %10 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x7xi32>
    %11 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x7xi32>
    %12 = "stablehlo.compare"(%11, %10) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %13 = stablehlo.constant dense<0> : tensor<i32>
    %14 = "stablehlo.convert"(%arg1) : (tensor<2x3xi64>) -> tensor<2x3xi32>
    %15 = "stablehlo.pad"(%14, %13) {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x7xi32>
    %16 = stablehlo.constant dense<4> : tensor<2x7xi32>
    %17 = "stablehlo.compare"(%15, %16) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %18 = stablehlo.constant dense<0> : tensor<2x7xi32>
    %19 = "stablehlo.compare"(%15, %18) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %20 = stablehlo.and %19, %17 : tensor<2x7xi1>
    %21 = "stablehlo.broadcast_in_dim"(%13) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x7xi32>
    %22 = stablehlo.and %12, %20 : tensor<2x7xi1>
    %23 = "stablehlo.select"(%22, %15, %21) : (tensor<2x7xi1>, tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi32>
    %24 = "stablehlo.pad"(%23, %13) {edge_padding_low = array<i64: 0, 2>, edge_padding_high = array<i64: 0, -2>, interior_padding = array<i64: 0, 0>} : (tensor<2x7xi32>, tensor<i32>) -> tensor<2x7xi32>
    %25 = stablehlo.constant dense<1> : tensor<2x7xi32>
    %26 = stablehlo.and %11, %25 : tensor<2x7xi32>
    %27 = "stablehlo.compare"(%26, %18) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %28 = "stablehlo.compare"(%23, %24) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %29 = stablehlo.and %27, %28 : tensor<2x7xi1>
    %30 = "stablehlo.compare"(%11, %25) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %31 = stablehlo.and %29, %30 : tensor<2x7xi1>
    %32 = "stablehlo.broadcast_in_dim"(%23) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<2x7xi32>) -> tensor<5x2x7xi32>
    %33 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<5x2x7xi32>
    %34 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<5x2x7xi32>
    %35 = "stablehlo.reshape"(%33) : (tensor<5x2x7xi32>) -> tensor<5x2x7x1xi32>
    %36 = "stablehlo.reshape"(%34) : (tensor<5x2x7xi32>) -> tensor<5x2x7x1xi32>
    %37 = "stablehlo.reshape"(%32) : (tensor<5x2x7xi32>) -> tensor<5x2x7x1xi32>
    %38 = "stablehlo.concatenate"(%35, %36, %37) {dimension = 3 : i64} : (tensor<5x2x7x1xi32>, tensor<5x2x7x1xi32>, tensor<5x2x7x1xi32>) -> tensor<5x2x7x3xi32>
    %39 = "stablehlo.gather"(%arg0, %38) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>} : (tensor<5x2x4xf32>, tensor<5x2x7x3xi32>) -> tensor<5x2x7xf32>
    %40 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x7xi32>
    %41 = "stablehlo.dynamic_slice"(%39, %13, %13, %13) {slice_sizes = array<i64: 1, 2, 7>} : (tensor<5x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x7xf32>
    %42 = "stablehlo.reshape"(%41) : (tensor<1x2x7xf32>) -> tensor<2x7xf32>
    %43 = stablehlo.constant dense<0xFF800000> : tensor<2x7xf32>
    %44 = "stablehlo.compare"(%40, %25) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %45 = stablehlo.and %44, %12 : tensor<2x7xi1>
    %46 = "stablehlo.select"(%45, %42, %43) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
    %47 = stablehlo.constant dense<0xFF800000> : tensor<5x2x7xf32>
    %48 = "stablehlo.reshape"(%46) : (tensor<2x7xf32>) -> tensor<1x2x7xf32>
    %49 = "stablehlo.dynamic_update_slice"(%47, %48, %13, %13, %13) : (tensor<5x2x7xf32>, tensor<1x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x7xf32>
    %50 = stablehlo.constant dense<1> : tensor<i32>
    %94, %95, %96, %97, %98, %99 = "stablehlo.while"(%50, %46, %49, %39, %31, %12) ({
    ^bb0(%51: tensor<i32>, %52: tensor<2x7xf32>, %53: tensor<5x2x7xf32>, %54: tensor<5x2x7xf32>, %55: tensor<2x7xi1>, %56: tensor<2x7xi1>):
      %57 = stablehlo.constant dense<5> : tensor<i32>
      %58 = "stablehlo.compare"(%51, %57) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %58 : tensor<i1>
    }, {
    ^bb0(%59: tensor<i32>, %60: tensor<2x7xf32>, %61: tensor<5x2x7xf32>, %62: tensor<5x2x7xf32>, %63: tensor<2x7xi1>, %64: tensor<2x7xi1>):
      %65 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %66 = stablehlo.constant dense<0xFF800000> : tensor<2x7xf32>
      %67 = "stablehlo.pad"(%60, %65) {edge_padding_low = array<i64: 0, 2>, edge_padding_high = array<i64: 0, -2>, interior_padding = array<i64: 0, 0>} : (tensor<2x7xf32>, tensor<f32>) -> tensor<2x7xf32>
      %68 = "stablehlo.select"(%63, %67, %66) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
      %69 = stablehlo.constant dense<0> : tensor<i32>
      %70 = "stablehlo.dynamic_slice"(%62, %59, %69, %69) {slice_sizes = array<i64: 1, 2, 7>} : (tensor<5x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x7xf32>
      %71 = "stablehlo.reshape"(%70) : (tensor<1x2x7xf32>) -> tensor<2x7xf32>
      %72 = "stablehlo.pad"(%60, %65) {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0, -1>, interior_padding = array<i64: 0, 0>} : (tensor<2x7xf32>, tensor<f32>) -> tensor<2x7xf32>
      %73 = stablehlo.maximum %60, %72 : tensor<2x7xf32>
      %74 = stablehlo.maximum %73, %68 : tensor<2x7xf32>
      %75 = stablehlo.constant dense<0.0> : tensor<2x7xf32>
      %76 = "stablehlo.compare"(%74, %66) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xi1>
      %77 = "stablehlo.select"(%76, %75, %74) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
      %78 = stablehlo.subtract %68, %77 : tensor<2x7xf32>
      %79 = stablehlo.exponential %78 : tensor<2x7xf32>
      %80 = stablehlo.subtract %72, %77 : tensor<2x7xf32>
      %81 = stablehlo.exponential %80 : tensor<2x7xf32>
      %82 = stablehlo.subtract %60, %77 : tensor<2x7xf32>
      %83 = stablehlo.exponential %82 : tensor<2x7xf32>
      %84 = stablehlo.add %83, %81 : tensor<2x7xf32>
      %85 = stablehlo.add %84, %79 : tensor<2x7xf32>
      %86 = stablehlo.log %85 : tensor<2x7xf32>
      %87 = stablehlo.add %86, %77 : tensor<2x7xf32>
      %88 = stablehlo.add %87, %71 : tensor<2x7xf32>
      %89 = "stablehlo.select"(%64, %88, %66) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
      %90 = stablehlo.constant dense<1> : tensor<i32>
      %91 = stablehlo.add %59, %90 : tensor<i32>
      %92 = "stablehlo.reshape"(%89) : (tensor<2x7xf32>) -> tensor<1x2x7xf32>
      %93 = "stablehlo.dynamic_update_slice"(%61, %92, %59, %69, %69) : (tensor<5x2x7xf32>, tensor<1x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x7xf32>
      stablehlo.return %91, %89, %93, %62, %63, %64 : tensor<i32>, tensor<2x7xf32>, tensor<5x2x7xf32>, tensor<5x2x7xf32>, tensor<2x7xi1>, tensor<2x7xi1>
    }) : (tensor<i32>, tensor<2x7xf32>, tensor<5x2x7xf32>, tensor<5x2x7xf32>, tensor<2x7xi1>, tensor<2x7xi1>) -> (tensor<i32>, tensor<2x7xf32>, tensor<5x2x7xf32>, tensor<5x2x7xf32>, tensor<2x7xi1>, tensor<2x7xi1>)
    %100 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x7xi32>
    %101 = stablehlo.subtract %10, %25 : tensor<2x7xi32>
    %102 = "stablehlo.compare"(%100, %101) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi1>
    %103 = stablehlo.and %102, %12 : tensor<2x7xi1>
    %104 = stablehlo.constant dense<0> : tensor<2xi32>
    %105 = stablehlo.subtract %4, %6 : tensor<2xi32>
    %106 = stablehlo.maximum %105, %104 : tensor<2xi32>
    %107 = "stablehlo.broadcast_in_dim"(%106) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x7xi32>
    %108 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<2x7xi32>
    %109 = "stablehlo.reshape"(%107) : (tensor<2x7xi32>) -> tensor<2x7x1xi32>
    %110 = "stablehlo.reshape"(%108) : (tensor<2x7xi32>) -> tensor<2x7x1xi32>
    %111 = "stablehlo.reshape"(%100) : (tensor<2x7xi32>) -> tensor<2x7x1xi32>
    %112 = "stablehlo.concatenate"(%109, %110, %111) {dimension = 2 : i64} : (tensor<2x7x1xi32>, tensor<2x7x1xi32>, tensor<2x7x1xi32>) -> tensor<2x7x3xi32>
    %113 = "stablehlo.gather"(%96, %112) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>} : (tensor<5x2x7xf32>, tensor<2x7x3xi32>) -> tensor<2x7xf32>
    %114 = "stablehlo.select"(%103, %113, %43) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
    %115 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %119 = "stablehlo.reduce"(%114, %115) ({
    ^bb0(%116: tensor<f32>, %117: tensor<f32>):
      %118 = stablehlo.maximum %116, %117 : tensor<f32>
      stablehlo.return %118 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x7xf32>, tensor<f32>) -> (tensor<2xf32>)
    %120 = stablehlo.constant dense<0.0> : tensor<2xf32>
    %121 = stablehlo.constant dense<0xFF800000> : tensor<2xf32>
    %122 = "stablehlo.compare"(%119, %121) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %123 = "stablehlo.select"(%122, %120, %119) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %124 = "stablehlo.broadcast_in_dim"(%123) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x7xf32>
    %125 = stablehlo.subtract %114, %124 : tensor<2x7xf32>
    %126 = stablehlo.exponential %125 : tensor<2x7xf32>
    %127 = stablehlo.constant dense<0.0> : tensor<f32>
    %131 = "stablehlo.reduce"(%126, %127) ({
    ^bb0(%128: tensor<f32>, %129: tensor<f32>):
      %130 = stablehlo.add %128, %129 : tensor<f32>
      stablehlo.return %130 : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<2x7xf32>, tensor<f32>) -> (tensor<2xf32>)
    %132 = stablehlo.log %131 : tensor<2xf32>
    %133 = stablehlo.add %132, %123 : tensor<2xf32>
    %134 = stablehlo.negate %133 : tensor<2xf32>
    %135 = stablehlo.constant dense<0x7F800000> : tensor<2xf32>
    %136 = "stablehlo.compare"(%5, %104) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %137 = "stablehlo.select"(%136, %120, %135) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %138 = "stablehlo.compare"(%4, %104) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %139 = "stablehlo.select"(%138, %137, %134) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %140 = "stablehlo.transpose"(%96) {permutation = array<i64: 1, 0, 2>} : (tensor<5x2x7xf32>) -> tensor<2x5x7xf32>
    return %139, %140 : tensor<2xf32>, tensor<2x5x7xf32>
  }
}
