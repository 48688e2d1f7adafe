// aten::arange.start_out(start: 0, end: 10, step: 2)
//   result 0 replaces int64[5]
module @main {
  func.func public @main(%arg0: tensor<3xi64>) -> (tensor<5xi64>) {
    %1 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
    %2 = "stablehlo.reshape"(%1) : (tensor<1xi64>) -> tensor<i64>
    %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<5xi64>
    %4 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<5xi64>
    %5 = stablehlo.multiply %3, %4 : tensor<5xi64>
    %6 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
    %7 = "stablehlo.reshape"(%6) : (tensor<1xi64>) -> tensor<i64>
    %8 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<5xi64>
    %9 = stablehlo.add %8, %5 : tensor<5xi64>
    return %9 : tensor<5xi64>
  }
}
