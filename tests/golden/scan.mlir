// in0: float32[2, 3]
// aten::cumsum.out(self: float32[2, 3], dim: 1)
//   operand 0 = in0
//   result 0 replaces float32[2, 3]
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
    %1 = stablehlo.constant dense<0.0> : tensor<f64>
    %2 = "stablehlo.reshape"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<2x3x1xf32>) -> tensor<2x1x3x1xf32>
    %4 = "stablehlo.reshape"(%3) : (tensor<2x1x3x1xf32>) -> tensor<2x3xf32>
    %5 = "stablehlo.transpose"(%4) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %6 = "stablehlo.reshape"(%5) : (tensor<3x2xf32>) -> tensor<3x1x2x1xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<3x1x2x1xf32>) -> tensor<3x2xf32>
    %8 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<3x3x2xi32>
    %9 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<3x3x2xi32>
    %10 = "stablehlo.compare"(%9, %8) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<3x3x2xi32>, tensor<3x3x2xi32>) -> tensor<3x3x2xi1>
    %11 = "stablehlo.convert"(%7) : (tensor<3x2xf32>) -> tensor<3x2xf64>
    %12 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<3x2xf64>) -> tensor<3x3x2xf64>
    %13 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x3x2xf64>
    %14 = "stablehlo.select"(%10, %12, %13) : (tensor<3x3x2xi1>, tensor<3x3x2xf64>, tensor<3x3x2xf64>) -> tensor<3x3x2xf64>
    %18 = "stablehlo.reduce"(%14, %1) ({
    ^bb0(%15: tensor<f64>, %16: tensor<f64>):
      %17 = stablehlo.add %15, %16 : tensor<f64>
      stablehlo.return %17 : tensor<f64>
    }) {dimensions = array<i64: 1>} : (tensor<3x3x2xf64>, tensor<f64>) -> (tensor<3x2xf64>)
    %19 = "stablehlo.convert"(%18) : (tensor<3x2xf64>) -> tensor<3x2xf32>
    %20 = "stablehlo.reshape"(%19) : (tensor<3x2xf32>) -> tensor<3x1x2x1xf32>
    %21 = "stablehlo.reshape"(%20) : (tensor<3x1x2x1xf32>) -> tensor<3x2xf32>
    %22 = "stablehlo.transpose"(%21) {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %23 = "stablehlo.reshape"(%22) : (tensor<2x3xf32>) -> tensor<2x1x3x1xf32>
    %24 = "stablehlo.reshape"(%23) : (tensor<2x1x3x1xf32>) -> tensor<2x3x1xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<2x3x1xf32>) -> tensor<2x3xf32>
    return %25 : tensor<2x3xf32>
  }
}
