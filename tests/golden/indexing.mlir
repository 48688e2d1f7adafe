// in0: float32[2, 3]
// in1: int64[2, 2]
// aten::gather.out(self: float32[2, 3], dim: 1, index: int64[2, 2], sparse_grad: False)
//   operand 0 = in0
//   operand 1 = in1
//   result 0 replaces float32[2, 2]
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x2xi64>) -> (tensor<2x2xf32>, tensor<2xi64>) {
    %2 = stablehlo.constant dense<3> : tensor<2x2xi64>
    %3 = stablehlo.constant dense<0> : tensor<2x2xi64>
    %4 = "stablehlo.compare"(%arg1, %2) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi1>
    %5 = "stablehlo.compare"(%arg1, %3) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi1>
    %6 = stablehlo.or %5, %4 : tensor<2x2xi1>
    %7 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %8 = stablehlo.constant dense<-9223372036854775807> : tensor<2x2xi64>
    %9 = stablehlo.maximum %arg1, %8 : tensor<2x2xi64>
    %10 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<2x2xi64>
    %11 = "stablehlo.select"(%6, %9, %10) : (tensor<2x2xi1>, tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
    %15 = "stablehlo.reduce"(%11, %7) ({
    ^bb0(%12: tensor<i64>, %13: tensor<i64>):
      %14 = stablehlo.maximum %12, %13 : tensor<i64>
      stablehlo.return %14 : tensor<i64>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi64>, tensor<i64>) -> (tensor<i64>)
    %16 = "stablehlo.compare"(%15, %7) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %17 = "stablehlo.convert"(%arg1) : (tensor<2x2xi64>) -> tensor<2x2xi32>
    %18 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<2x2xi32>
    %19 = "stablehlo.reshape"(%18) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %20 = "stablehlo.reshape"(%17) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %21 = "stablehlo.concatenate"(%19, %20) {dimension = 2 : i64} : (tensor<2x2x1xi32>, tensor<2x2x1xi32>) -> tensor<2x2x2xi32>
    %22 = "stablehlo.gather"(%arg0, %21) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<2x2x2xi32>) -> tensor<2x2xf32>
    %23 = stablehlo.constant dense<0> : tensor<2xi64>
    %24 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %25 = "stablehlo.reshape"(%15) : (tensor<i64>) -> tensor<1xi64>
    %26 = "stablehlo.concatenate"(%24, %25) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %27 = "stablehlo.select"(%16, %26, %23) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    return %22, %27 : tensor<2x2xf32>, tensor<2xi64>
  }
}
