// in0: float32[2, 3]
// in1: int64[2]
// aten::nll_loss_forward.output(self: float32[2, 3], target: int64[2], reduction: 1, ignore_index: -100)
//   operand 0 = in0
//   operand 1 = in1
//   result 0 replaces float32[]
//   result 1 replaces float32[]
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi64>) -> (tensor<f32>, tensor<f32>, tensor<2xi64>) {
    %2 = "stablehlo.reshape"(%arg1) : (tensor<2xi64>) -> tensor<2x1xi64>
    %3 = stablehlo.constant dense<-100> : tensor<2x1xi64>
    %4 = "stablehlo.compare"(%2, %3) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi1>
    %5 = "stablehlo.convert"(%4) : (tensor<2x1xi1>) -> tensor<2x1xf32>
    %6 = stablehlo.constant dense<0> : tensor<2x1xi64>
    %7 = "stablehlo.compare"(%2, %6) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi1>
    %8 = stablehlo.constant dense<3> : tensor<2x1xi64>
    %9 = "stablehlo.compare"(%2, %8) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi1>
    %10 = stablehlo.or %7, %9 : tensor<2x1xi1>
    %11 = stablehlo.and %4, %10 : tensor<2x1xi1>
    %12 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %13 = stablehlo.constant dense<-9223372036854775807> : tensor<2x1xi64>
    %14 = stablehlo.maximum %2, %13 : tensor<2x1xi64>
    %15 = "stablehlo.broadcast_in_dim"(%12) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<2x1xi64>
    %16 = "stablehlo.select"(%11, %14, %15) : (tensor<2x1xi1>, tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x1xi64>
    %20 = "stablehlo.reduce"(%16, %12) ({
    ^bb0(%17: tensor<i64>, %18: tensor<i64>):
      %19 = stablehlo.maximum %17, %18 : tensor<i64>
      stablehlo.return %19 : tensor<i64>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x1xi64>, tensor<i64>) -> (tensor<i64>)
    %21 = "stablehlo.compare"(%20, %12) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %22 = "stablehlo.reshape"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %23 = "stablehlo.reshape"(%2) : (tensor<2x1xi64>) -> tensor<2x1x1xi64>
    %24 = "stablehlo.gather"(%22, %23) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [0, 2], start_index_map = [1], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>} : (tensor<2x3x1xf32>, tensor<2x1x1xi64>) -> tensor<2x1x1xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<2x1x1xf32>) -> tensor<2x1xf32>
    %26 = stablehlo.multiply %25, %5 : tensor<2x1xf32>
    %27 = stablehlo.negate %26 : tensor<2x1xf32>
    %28 = stablehlo.constant dense<0.0> : tensor<2x1xf32>
    %29 = "stablehlo.select"(%4, %27, %28) : (tensor<2x1xi1>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %30 = "stablehlo.reshape"(%29) : (tensor<2x1xf32>) -> tensor<2xf32>
    %31 = stablehlo.constant dense<0.0> : tensor<f32>
    %35 = "stablehlo.reduce"(%30, %31) ({
    ^bb0(%32: tensor<f32>, %33: tensor<f32>):
      %34 = stablehlo.add %32, %33 : tensor<f32>
      stablehlo.return %34 : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>)
    %36 = "stablehlo.reshape"(%5) : (tensor<2x1xf32>) -> tensor<2xf32>
    %40 = "stablehlo.reduce"(%36, %31) ({
    ^bb0(%37: tensor<f32>, %38: tensor<f32>):
      %39 = stablehlo.add %37, %38 : tensor<f32>
      stablehlo.return %39 : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>)
    %41 = stablehlo.divide %35, %40 : tensor<f32>
    %42 = stablehlo.constant dense<0> : tensor<2xi64>
    %43 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %44 = "stablehlo.reshape"(%20) : (tensor<i64>) -> tensor<1xi64>
    %45 = "stablehlo.concatenate"(%43, %44) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %46 = "stablehlo.select"(%21, %45, %42) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    return %41, %40, %46 : tensor<f32>, tensor<f32>, tensor<2xi64>
  }
}
