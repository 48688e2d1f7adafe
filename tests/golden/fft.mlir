// in0: float32[4, 2, 6]
// aten::_fft_r2c(self: float32[4, 2, 6], dim: [0, 2], normalization: 1, onesided: False)
//   operand 0 = in0
//   result 0 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<4x2x6xf32>) -> (tensor<2x4x6xcomplex<f32>>) {
    %1 = "stablehlo.transpose"(%arg0) {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x6xf32>) -> tensor<2x4x6xf32>
    %2 = "stablehlo.fft"(%1) {fft_length = array<i64: 4, 6>, fft_type = #stablehlo<fft_type RFFT>} : (tensor<2x4x6xf32>) -> tensor<2x4x4xcomplex<f32>>
    %3 = "stablehlo.transpose"(%2) {permutation = array<i64: 1, 0, 2>} : (tensor<2x4x4xcomplex<f32>>) -> tensor<4x2x4xcomplex<f32>>
    %4 = "stablehlo.real"(%3) : (tensor<4x2x4xcomplex<f32>>) -> tensor<4x2x4xf32>
    %5 = stablehlo.constant dense<0.20412415> : tensor<4x2x4xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<4x2x4xf32>
    %7 = "stablehlo.imag"(%3) : (tensor<4x2x4xcomplex<f32>>) -> tensor<4x2x4xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x2x4xf32>
    %9 = "stablehlo.complex"(%6, %8) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xcomplex<f32>>
    %10 = "stablehlo.slice"(%9) {limit_indices = array<i64: 4, 2, 3>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 1>} : (tensor<4x2x4xcomplex<f32>>) -> tensor<4x2x2xcomplex<f32>>
    %11 = "stablehlo.reverse"(%10) {dimensions = array<i64: 2>} : (tensor<4x2x2xcomplex<f32>>) -> tensor<4x2x2xcomplex<f32>>
    %12 = "stablehlo.slice"(%11) {limit_indices = array<i64: 1, 2, 2>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<4x2x2xcomplex<f32>>) -> tensor<1x2x2xcomplex<f32>>
    %13 = "stablehlo.slice"(%11) {limit_indices = array<i64: 4, 2, 2>, start_indices = array<i64: 1, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<4x2x2xcomplex<f32>>) -> tensor<3x2x2xcomplex<f32>>
    %14 = "stablehlo.reverse"(%13) {dimensions = array<i64: 0>} : (tensor<3x2x2xcomplex<f32>>) -> tensor<3x2x2xcomplex<f32>>
    %15 = "stablehlo.concatenate"(%12, %14) {dimension = 0 : i64} : (tensor<1x2x2xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>) -> tensor<4x2x2xcomplex<f32>>
    %16 = "chlo.conj"(%15) : (tensor<4x2x2xcomplex<f32>>) -> tensor<4x2x2xcomplex<f32>>
    %17 = "stablehlo.concatenate"(%9, %16) {dimension = 2 : i64} : (tensor<4x2x4xcomplex<f32>>, tensor<4x2x2xcomplex<f32>>) -> tensor<4x2x6xcomplex<f32>>
    %18 = "stablehlo.transpose"(%17) {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x6xcomplex<f32>>) -> tensor<2x4x6xcomplex<f32>>
    return %18 : tensor<2x4x6xcomplex<f32>>
  }
}
