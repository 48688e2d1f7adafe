// in0: float32[5, 2, 4]
// in1: float32[2, 3]
// in2: float32[9, 4]
// in3: float32[9, 3]
// in4: float32[9]
// in5: float32[9]
// torch_tpu::rnn_layer(mode: 'gru', input: float32[5, 2, 4], hx: float32[2, 3], weight_ih: float32[9, 4], weight_hh: float32[9, 3], bias_ih: float32[9], bias_hh: float32[9], reverse: True, train: True)
//   operand 0 = in0
//   operand 1 = in1
//   operand 2 = in2
//   operand 3 = in3
//   operand 4 = in4
//   operand 5 = in5
//   result 0 is a new tensor
//   result 1 is a new tensor
//   result 2 is a new tensor
//   result 3 is a new tensor
//   result 4 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<5x2x4xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<9x4xf32>, %arg3: tensor<9x3xf32>, %arg4: tensor<9xf32>, %arg5: tensor<9xf32>) -> (tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<0xf32>, tensor<5x2x9xf32>, tensor<5x2x3xf32>) {
    %6 = "stablehlo.transpose"(%arg3) {permutation = array<i64: 1, 0>} : (tensor<9x3xf32>) -> tensor<3x9xf32>
    %7 = "stablehlo.slice"(%arg5) {limit_indices = array<i64: 3>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
    %8 = "stablehlo.slice"(%arg5) {limit_indices = array<i64: 6>, start_indices = array<i64: 3>, strides = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
    %9 = "stablehlo.slice"(%arg5) {limit_indices = array<i64: 9>, start_indices = array<i64: 6>, strides = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
    %10 = stablehlo.constant dense<0.0> : tensor<3xf32>
    %11 = "stablehlo.concatenate"(%7, %8, %10) {dimension = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<9xf32>
    %12 = stablehlo.add %arg4, %11 : tensor<9xf32>
    %13 = "stablehlo.transpose"(%arg2) {permutation = array<i64: 1, 0>} : (tensor<9x4xf32>) -> tensor<4x9xf32>
    %14 = "stablehlo.dot_general"(%arg0, %13) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<5x2x4xf32>, tensor<4x9xf32>) -> tensor<5x2x9xf32>
    %15 = "stablehlo.broadcast_in_dim"(%12) {broadcast_dimensions = array<i64: 2>} : (tensor<9xf32>) -> tensor<5x2x9xf32>
    %16 = stablehlo.add %14, %15 : tensor<5x2x9xf32>
    %17 = stablehlo.constant dense<0.0> : tensor<5x2x3xf32>
    %18 = stablehlo.constant dense<0> : tensor<i32>
    %72, %73, %74, %75, %76, %77, %78 = "stablehlo.while"(%18, %arg1, %16, %17, %17, %6, %9) ({
    ^bb0(%19: tensor<i32>, %20: tensor<2x3xf32>, %21: tensor<5x2x9xf32>, %22: tensor<5x2x3xf32>, %23: tensor<5x2x3xf32>, %24: tensor<3x9xf32>, %25: tensor<3xf32>):
      %26 = stablehlo.constant dense<5> : tensor<i32>
      %27 = "stablehlo.compare"(%19, %26) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %27 : tensor<i1>
    }, {
    ^bb0(%28: tensor<i32>, %29: tensor<2x3xf32>, %30: tensor<5x2x9xf32>, %31: tensor<5x2x3xf32>, %32: tensor<5x2x3xf32>, %33: tensor<3x9xf32>, %34: tensor<3xf32>):
      %35 = stablehlo.constant dense<4> : tensor<i32>
      %36 = stablehlo.subtract %35, %28 : tensor<i32>
      %37 = stablehlo.constant dense<0> : tensor<i32>
      %38 = "stablehlo.dynamic_slice"(%30, %36, %37, %37) {slice_sizes = array<i64: 1, 2, 9>} : (tensor<5x2x9xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x9xf32>
      %39 = "stablehlo.reshape"(%38) : (tensor<1x2x9xf32>) -> tensor<2x9xf32>
      %40 = "stablehlo.dynamic_slice"(%31, %36, %37, %37) {slice_sizes = array<i64: 1, 2, 3>} : (tensor<5x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
      %41 = "stablehlo.reshape"(%40) : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %42 = "stablehlo.dynamic_slice"(%32, %36, %37, %37) {slice_sizes = array<i64: 1, 2, 3>} : (tensor<5x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
      %43 = "stablehlo.reshape"(%42) : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %44 = "stablehlo.dot_general"(%29, %33) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x3xf32>, tensor<3x9xf32>) -> tensor<2x9xf32>
      %45 = "stablehlo.slice"(%44) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
      %46 = "stablehlo.slice"(%44) {limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 3>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
      %47 = "stablehlo.slice"(%44) {limit_indices = array<i64: 2, 9>, start_indices = array<i64: 0, 6>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
      %48 = "stablehlo.broadcast_in_dim"(%34) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
      %49 = stablehlo.add %47, %48 : tensor<2x3xf32>
      %50 = "stablehlo.slice"(%39) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
      %51 = "stablehlo.slice"(%39) {limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 3>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
      %52 = "stablehlo.slice"(%39) {limit_indices = array<i64: 2, 9>, start_indices = array<i64: 0, 6>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
      %53 = stablehlo.add %50, %45 : tensor<2x3xf32>
      %54 = stablehlo.logistic %53 : tensor<2x3xf32>
      %55 = stablehlo.add %51, %46 : tensor<2x3xf32>
      %56 = stablehlo.logistic %55 : tensor<2x3xf32>
      %57 = stablehlo.multiply %54, %49 : tensor<2x3xf32>
      %58 = stablehlo.add %52, %57 : tensor<2x3xf32>
      %59 = stablehlo.tanh %58 : tensor<2x3xf32>
      %60 = stablehlo.subtract %29, %59 : tensor<2x3xf32>
      %61 = stablehlo.multiply %56, %60 : tensor<2x3xf32>
      %62 = stablehlo.add %59, %61 : tensor<2x3xf32>
      %63 = "stablehlo.concatenate"(%54, %56, %59) {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
      %64 = stablehlo.constant dense<1> : tensor<i32>
      %65 = stablehlo.add %28, %64 : tensor<i32>
      %66 = "stablehlo.reshape"(%63) : (tensor<2x9xf32>) -> tensor<1x2x9xf32>
      %67 = "stablehlo.dynamic_update_slice"(%30, %66, %36, %37, %37) : (tensor<5x2x9xf32>, tensor<1x2x9xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x9xf32>
      %68 = "stablehlo.reshape"(%62) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
      %69 = "stablehlo.dynamic_update_slice"(%31, %68, %36, %37, %37) : (tensor<5x2x3xf32>, tensor<1x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x3xf32>
      %70 = "stablehlo.reshape"(%49) : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
      %71 = "stablehlo.dynamic_update_slice"(%32, %70, %36, %37, %37) : (tensor<5x2x3xf32>, tensor<1x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x3xf32>
      stablehlo.return %65, %62, %67, %69, %71, %33, %34 : tensor<i32>, tensor<2x3xf32>, tensor<5x2x9xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<3x9xf32>, tensor<3xf32>
    }) : (tensor<i32>, tensor<2x3xf32>, tensor<5x2x9xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<3x9xf32>, tensor<3xf32>) -> (tensor<i32>, tensor<2x3xf32>, tensor<5x2x9xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<3x9xf32>, tensor<3xf32>)
    %79 = stablehlo.constant dense<> : tensor<0xf32>
    return %75, %73, %79, %74, %76 : tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<0xf32>, tensor<5x2x9xf32>, tensor<5x2x3xf32>
  }
}
