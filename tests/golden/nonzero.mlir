// in0: float32[2, 3]
// aten::nonzero_static(self: float32[2, 3], size: 4, fill_value: -1)
//   operand 0 = in0
//   result 0 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<4x2xi64>) {
    %1 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
    %2 = "stablehlo.compare"(%arg0, %1) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %3 = "stablehlo.reshape"(%2) : (tensor<2x3xi1>) -> tensor<6xi1>
    %4 = stablehlo.constant dense<1> : tensor<6xi32>
    %5 = "stablehlo.convert"(%3) : (tensor<6xi1>) -> tensor<6xi32>
    %6 = stablehlo.constant dense<0> : tensor<i32>
    %7 = "stablehlo.reshape"(%5) : (tensor<6xi32>) -> tensor<1x6x1xi32>
    %8 = "stablehlo.reshape"(%7) : (tensor<1x6x1xi32>) -> tensor<1x1x6x1xi32>
    %9 = "stablehlo.reshape"(%8) : (tensor<1x1x6x1xi32>) -> tensor<6xi32>
    %10 = "stablehlo.reshape"(%9) : (tensor<6xi32>) -> tensor<6x1x1x1xi32>
    %11 = "stablehlo.reshape"(%10) : (tensor<6x1x1x1xi32>) -> tensor<6x1xi32>
    %12 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6x6x1xi32>
    %13 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<6x6x1xi32>
    %14 = "stablehlo.compare"(%13, %12) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<6x6x1xi32>, tensor<6x6x1xi32>) -> tensor<6x6x1xi1>
    %15 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<6x1xi32>) -> tensor<6x6x1xi32>
    %16 = "stablehlo.broadcast_in_dim"(%6) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<6x6x1xi32>
    %17 = "stablehlo.select"(%14, %15, %16) : (tensor<6x6x1xi1>, tensor<6x6x1xi32>, tensor<6x6x1xi32>) -> tensor<6x6x1xi32>
    %21 = "stablehlo.reduce"(%17, %6) ({
    ^bb0(%18: tensor<i32>, %19: tensor<i32>):
      %20 = stablehlo.add %18, %19 : tensor<i32>
      stablehlo.return %20 : tensor<i32>
    }) {dimensions = array<i64: 1>} : (tensor<6x6x1xi32>, tensor<i32>) -> (tensor<6x1xi32>)
    %22 = "stablehlo.reshape"(%21) : (tensor<6x1xi32>) -> tensor<6x1x1x1xi32>
    %23 = "stablehlo.reshape"(%22) : (tensor<6x1x1x1xi32>) -> tensor<6xi32>
    %24 = "stablehlo.reshape"(%23) : (tensor<6xi32>) -> tensor<1x1x6x1xi32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1x1x6x1xi32>) -> tensor<1x6x1xi32>
    %26 = "stablehlo.reshape"(%25) : (tensor<1x6x1xi32>) -> tensor<6xi32>
    %27 = stablehlo.subtract %26, %4 : tensor<6xi32>
    %28 = stablehlo.constant dense<4> : tensor<6xi32>
    %29 = "stablehlo.select"(%3, %27, %28) : (tensor<6xi1>, tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
    %30 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %31 = stablehlo.constant dense<-1> : tensor<4xi32>
    %34 = "stablehlo.scatter"(%31, %29, %30) ({
    ^bb0(%32: tensor<i32>, %33: tensor<i32>):
      stablehlo.return %33 : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<4xi32>, tensor<6xi32>, tensor<6xi32>) -> (tensor<4xi32>)
    %35 = stablehlo.constant dense<0> : tensor<4xi32>
    %36 = "stablehlo.compare"(%34, %35) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %37 = stablehlo.constant dense<2> : tensor<4xi32>
    %38 = stablehlo.constant dense<3> : tensor<4xi32>
    %39 = stablehlo.divide %34, %38 : tensor<4xi32>
    %40 = stablehlo.remainder %39, %37 : tensor<4xi32>
    %41 = "stablehlo.select"(%36, %40, %35) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %42 = "stablehlo.convert"(%41) : (tensor<4xi32>) -> tensor<4xi64>
    %43 = stablehlo.constant dense<-1> : tensor<4xi64>
    %44 = "stablehlo.select"(%36, %42, %43) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    %45 = "stablehlo.reshape"(%44) : (tensor<4xi64>) -> tensor<4x1xi64>
    %46 = stablehlo.constant dense<1> : tensor<4xi32>
    %47 = stablehlo.divide %34, %46 : tensor<4xi32>
    %48 = stablehlo.remainder %47, %38 : tensor<4xi32>
    %49 = "stablehlo.select"(%36, %48, %35) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %50 = "stablehlo.convert"(%49) : (tensor<4xi32>) -> tensor<4xi64>
    %51 = "stablehlo.select"(%36, %50, %43) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    %52 = "stablehlo.reshape"(%51) : (tensor<4xi64>) -> tensor<4x1xi64>
    %53 = "stablehlo.concatenate"(%45, %52) {dimension = 1 : i64} : (tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x2xi64>
    return %53 : tensor<4x2xi64>
  }
}
