// in0: float32[2, 3]
// in1: int64[4]
// in2: int64[2]
// aten::_embedding_bag(weight: float32[2, 3], indices: int64[4], offsets: int64[2], scale_grad_by_freq: False, mode: 1, sparse: False, include_last_offset: False, padding_idx: -1)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   result 0 is a new tensor
//   result 1 is a new tensor
//   result 2 is a new tensor
//   result 3 is dropped
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4xi64>, %arg2: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<4xi64>, tensor<2xi64>, tensor<2xi64>) {
    %3 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
    %4 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
    %5 = stablehlo.constant dense<0> : tensor<1xi64>
    %6 = "stablehlo.compare"(%3, %5) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %7 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %8 = stablehlo.constant dense<-9223372036854775807> : tensor<1xi64>
    %9 = stablehlo.maximum %3, %8 : tensor<1xi64>
    %10 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %11 = "stablehlo.select"(%6, %9, %10) : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %15 = "stablehlo.reduce"(%11, %7) ({
    ^bb0(%12: tensor<i64>, %13: tensor<i64>):
      %14 = stablehlo.maximum %12, %13 : tensor<i64>
      stablehlo.return %14 : tensor<i64>
    }) {dimensions = array<i64: 0>} : (tensor<1xi64>, tensor<i64>) -> (tensor<i64>)
    %16 = "stablehlo.compare"(%15, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %17 = stablehlo.constant dense<4> : tensor<1xi64>
    %18 = "stablehlo.compare"(%4, %17) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %19 = stablehlo.maximum %4, %8 : tensor<1xi64>
    %20 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %21 = "stablehlo.select"(%18, %19, %20) : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %25 = "stablehlo.reduce"(%21, %7) ({
    ^bb0(%22: tensor<i64>, %23: tensor<i64>):
      %24 = stablehlo.maximum %22, %23 : tensor<i64>
      stablehlo.return %24 : tensor<i64>
    }) {dimensions = array<i64: 0>} : (tensor<1xi64>, tensor<i64>) -> (tensor<i64>)
    %26 = "stablehlo.compare"(%25, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %27 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
    %28 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
    %29 = "stablehlo.compare"(%27, %28) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %30 = stablehlo.maximum %27, %8 : tensor<1xi64>
    %31 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %32 = "stablehlo.select"(%29, %30, %31) : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %36 = "stablehlo.reduce"(%32, %7) ({
    ^bb0(%33: tensor<i64>, %34: tensor<i64>):
      %35 = stablehlo.maximum %33, %34 : tensor<i64>
      stablehlo.return %35 : tensor<i64>
    }) {dimensions = array<i64: 0>} : (tensor<1xi64>, tensor<i64>) -> (tensor<i64>)
    %37 = "stablehlo.compare"(%36, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %38 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4xi32>
    %39 = "stablehlo.convert"(%arg2) : (tensor<2xi64>) -> tensor<2xi32>
    %40 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.constant dense<0> : tensor<4xi64>
    %42 = stablehlo.constant dense<2> : tensor<4xi64>
    %71, %72, %73, %74, %75 = "stablehlo.while"(%40, %41, %42, %39, %38) ({
    ^bb0(%43: tensor<i32>, %44: tensor<4xi64>, %45: tensor<4xi64>, %46: tensor<2xi32>, %47: tensor<4xi32>):
      %48 = stablehlo.constant dense<2> : tensor<i32>
      %49 = "stablehlo.compare"(%43, %48) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %49 : tensor<i1>
    }, {
    ^bb0(%50: tensor<i32>, %51: tensor<4xi64>, %52: tensor<4xi64>, %53: tensor<2xi32>, %54: tensor<4xi32>):
      %55 = stablehlo.constant dense<1> : tensor<4xi64>
      %56 = stablehlo.subtract %52, %51 : tensor<4xi64>
      %57 = stablehlo.shift_right_arithmetic %56, %55 : tensor<4xi64>
      %58 = stablehlo.add %51, %57 : tensor<4xi64>
      %59 = "stablehlo.gather"(%53, %58) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>} : (tensor<2xi32>, tensor<4xi64>) -> tensor<4xi32>
      %60 = "stablehlo.compare"(%59, %54) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %61 = stablehlo.not %60 : tensor<4xi1>
      %62 = "stablehlo.compare"(%51, %52) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
      %63 = stablehlo.constant dense<1> : tensor<i32>
      %64 = stablehlo.add %50, %63 : tensor<i32>
      %65 = stablehlo.add %58, %55 : tensor<4xi64>
      %66 = stablehlo.and %62, %61 : tensor<4xi1>
      %67 = "stablehlo.select"(%66, %65, %51) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
      %68 = stablehlo.not %61 : tensor<4xi1>
      %69 = stablehlo.and %62, %68 : tensor<4xi1>
      %70 = "stablehlo.select"(%69, %58, %52) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
      stablehlo.return %64, %67, %70, %53, %54 : tensor<i32>, tensor<4xi64>, tensor<4xi64>, tensor<2xi32>, tensor<4xi32>
    }) : (tensor<i32>, tensor<4xi64>, tensor<4xi64>, tensor<2xi32>, tensor<4xi32>) -> (tensor<i32>, tensor<4xi64>, tensor<4xi64>, tensor<2xi32>, tensor<4xi32>)
    %76 = stablehlo.constant dense<1> : tensor<4xi32>
    %77 = "stablehlo.convert"(%72) : (tensor<4xi64>) -> tensor<4xi32>
    %78 = stablehlo.subtract %77, %76 : tensor<4xi32>
    %79 = "stablehlo.compare"(%arg1, %42) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    %80 = "stablehlo.compare"(%arg1, %41) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    %81 = stablehlo.or %80, %79 : tensor<4xi1>
    %82 = stablehlo.constant dense<-9223372036854775807> : tensor<4xi64>
    %83 = stablehlo.maximum %arg1, %82 : tensor<4xi64>
    %84 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<4xi64>
    %85 = "stablehlo.select"(%81, %83, %84) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    %89 = "stablehlo.reduce"(%85, %7) ({
    ^bb0(%86: tensor<i64>, %87: tensor<i64>):
      %88 = stablehlo.maximum %86, %87 : tensor<i64>
      stablehlo.return %88 : tensor<i64>
    }) {dimensions = array<i64: 0>} : (tensor<4xi64>, tensor<i64>) -> (tensor<i64>)
    %90 = "stablehlo.compare"(%89, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %91 = "stablehlo.convert"(%arg1) : (tensor<4xi64>) -> tensor<4xi32>
    %92 = "stablehlo.slice"(%arg2) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
    %93 = "stablehlo.concatenate"(%92, %17) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %94 = stablehlo.subtract %93, %arg2 : tensor<2xi64>
    %95 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
    %96 = stablehlo.constant dense<> : tensor<0xi64>
    %97 = "stablehlo.reshape"(%91) : (tensor<4xi32>) -> tensor<4x1xi32>
    %98 = "stablehlo.gather"(%arg0, %97) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>} : (tensor<2x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
    %102 = "stablehlo.scatter"(%95, %78, %98) ({
    ^bb0(%99: tensor<f32>, %100: tensor<f32>):
      %101 = stablehlo.add %99, %100 : tensor<f32>
      stablehlo.return %101 : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<2x3xf32>, tensor<4xi32>, tensor<4x3xf32>) -> (tensor<2x3xf32>)
    %103 = stablehlo.constant dense<1> : tensor<2xi64>
    %104 = stablehlo.maximum %94, %103 : tensor<2xi64>
    %105 = "stablehlo.convert"(%104) : (tensor<2xi64>) -> tensor<2xf32>
    %106 = "stablehlo.broadcast_in_dim"(%105) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
    %107 = stablehlo.divide %102, %106 : tensor<2x3xf32>
    %108 = "stablehlo.convert"(%78) : (tensor<4xi32>) -> tensor<4xi64>
    %109 = stablehlo.constant dense<0> : tensor<2xi64>
    %110 = stablehlo.constant dense<[4]> : tensor<1xi64>
    %111 = "stablehlo.reshape"(%89) : (tensor<i64>) -> tensor<1xi64>
    %112 = "stablehlo.concatenate"(%110, %111) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %113 = "stablehlo.select"(%90, %112, %109) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %114 = stablehlo.constant dense<[3]> : tensor<1xi64>
    %115 = "stablehlo.reshape"(%36) : (tensor<i64>) -> tensor<1xi64>
    %116 = "stablehlo.concatenate"(%114, %115) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %117 = "stablehlo.select"(%37, %116, %113) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %118 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %119 = "stablehlo.reshape"(%25) : (tensor<i64>) -> tensor<1xi64>
    %120 = "stablehlo.concatenate"(%118, %119) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %121 = "stablehlo.select"(%26, %120, %117) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %122 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %123 = "stablehlo.reshape"(%15) : (tensor<i64>) -> tensor<1xi64>
    %124 = "stablehlo.concatenate"(%122, %123) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %125 = "stablehlo.select"(%16, %124, %121) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    return %107, %108, %94, %125 : tensor<2x3xf32>, tensor<4xi64>, tensor<2xi64>, tensor<2xi64>
  }
}
