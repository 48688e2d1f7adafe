// aten::uniform_(self: float32[2, 3], from: 0, to: 1)
//   operand 0 = zeros as float32[2, 3] strides [3, 1]
//   result 0 replaces float32[2, 3]
module @main {
  func.func public @main(%arg0: tensor<3xui64>) -> (tensor<2x3xf32>) {
    %0 = stablehlo.constant dense<0.0> : tensor<6xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<6xf32>) -> tensor<2x3xf32>
    %3 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xui64>
    %4 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
    %5 = "stablehlo.reshape"(%4) : (tensor<1xui64>) -> tensor<ui64>
    %6 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64>} : (tensor<ui64>) -> tensor<6xui64>
    %7 = stablehlo.add %6, %3 : tensor<6xui64>
    %8 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
    %9 = "stablehlo.reshape"(%8) : (tensor<1xui64>) -> tensor<ui64>
    %10 = "stablehlo.slice"(%arg0) {limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
    %11 = "stablehlo.reshape"(%10) : (tensor<1xui64>) -> tensor<ui64>
    %12 = "stablehlo.convert"(%7) : (tensor<6xui64>) -> tensor<6xui32>
    %13 = stablehlo.constant dense<32> : tensor<6xui64>
    %14 = stablehlo.shift_right_logical %7, %13 : tensor<6xui64>
    %15 = "stablehlo.convert"(%14) : (tensor<6xui64>) -> tensor<6xui32>
    %16 = "stablehlo.convert"(%11) : (tensor<ui64>) -> tensor<ui32>
    %17 = "stablehlo.broadcast_in_dim"(%16) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %18 = stablehlo.constant dense<32> : tensor<ui64>
    %19 = stablehlo.shift_right_logical %11, %18 : tensor<ui64>
    %20 = "stablehlo.convert"(%19) : (tensor<ui64>) -> tensor<ui32>
    %21 = "stablehlo.broadcast_in_dim"(%20) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %22 = "stablehlo.convert"(%9) : (tensor<ui64>) -> tensor<ui32>
    %23 = stablehlo.shift_right_logical %9, %18 : tensor<ui64>
    %24 = "stablehlo.convert"(%23) : (tensor<ui64>) -> tensor<ui32>
    %25 = "stablehlo.convert"(%12) : (tensor<6xui32>) -> tensor<6xui64>
    %26 = stablehlo.constant dense<3528531795> : tensor<6xui64>
    %27 = stablehlo.multiply %25, %26 : tensor<6xui64>
    %28 = stablehlo.shift_right_logical %27, %13 : tensor<6xui64>
    %29 = "stablehlo.convert"(%28) : (tensor<6xui64>) -> tensor<6xui32>
    %30 = "stablehlo.convert"(%27) : (tensor<6xui64>) -> tensor<6xui32>
    %31 = "stablehlo.convert"(%17) : (tensor<6xui32>) -> tensor<6xui64>
    %32 = stablehlo.constant dense<3449720151> : tensor<6xui64>
    %33 = stablehlo.multiply %31, %32 : tensor<6xui64>
    %34 = stablehlo.shift_right_logical %33, %13 : tensor<6xui64>
    %35 = "stablehlo.convert"(%34) : (tensor<6xui64>) -> tensor<6xui32>
    %36 = "stablehlo.convert"(%33) : (tensor<6xui64>) -> tensor<6xui32>
    %37 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %38 = stablehlo.xor %35, %15 : tensor<6xui32>
    %39 = stablehlo.xor %38, %37 : tensor<6xui32>
    %40 = "stablehlo.broadcast_in_dim"(%24) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %41 = stablehlo.xor %29, %21 : tensor<6xui32>
    %42 = stablehlo.xor %41, %40 : tensor<6xui32>
    %43 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %44 = stablehlo.add %22, %43 : tensor<ui32>
    %45 = stablehlo.constant dense<3144134277> : tensor<ui32>
    %46 = stablehlo.add %24, %45 : tensor<ui32>
    %47 = "stablehlo.convert"(%39) : (tensor<6xui32>) -> tensor<6xui64>
    %48 = stablehlo.multiply %47, %26 : tensor<6xui64>
    %49 = stablehlo.shift_right_logical %48, %13 : tensor<6xui64>
    %50 = "stablehlo.convert"(%49) : (tensor<6xui64>) -> tensor<6xui32>
    %51 = "stablehlo.convert"(%48) : (tensor<6xui64>) -> tensor<6xui32>
    %52 = "stablehlo.convert"(%42) : (tensor<6xui32>) -> tensor<6xui64>
    %53 = stablehlo.multiply %52, %32 : tensor<6xui64>
    %54 = stablehlo.shift_right_logical %53, %13 : tensor<6xui64>
    %55 = "stablehlo.convert"(%54) : (tensor<6xui64>) -> tensor<6xui32>
    %56 = "stablehlo.convert"(%53) : (tensor<6xui64>) -> tensor<6xui32>
    %57 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %58 = stablehlo.xor %55, %36 : tensor<6xui32>
    %59 = stablehlo.xor %58, %57 : tensor<6xui32>
    %60 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %61 = stablehlo.xor %50, %30 : tensor<6xui32>
    %62 = stablehlo.xor %61, %60 : tensor<6xui32>
    %63 = stablehlo.add %44, %43 : tensor<ui32>
    %64 = stablehlo.add %46, %45 : tensor<ui32>
    %65 = "stablehlo.convert"(%59) : (tensor<6xui32>) -> tensor<6xui64>
    %66 = stablehlo.multiply %65, %26 : tensor<6xui64>
    %67 = stablehlo.shift_right_logical %66, %13 : tensor<6xui64>
    %68 = "stablehlo.convert"(%67) : (tensor<6xui64>) -> tensor<6xui32>
    %69 = "stablehlo.convert"(%66) : (tensor<6xui64>) -> tensor<6xui32>
    %70 = "stablehlo.convert"(%62) : (tensor<6xui32>) -> tensor<6xui64>
    %71 = stablehlo.multiply %70, %32 : tensor<6xui64>
    %72 = stablehlo.shift_right_logical %71, %13 : tensor<6xui64>
    %73 = "stablehlo.convert"(%72) : (tensor<6xui64>) -> tensor<6xui32>
    %74 = "stablehlo.convert"(%71) : (tensor<6xui64>) -> tensor<6xui32>
    %75 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %76 = stablehlo.xor %73, %56 : tensor<6xui32>
    %77 = stablehlo.xor %76, %75 : tensor<6xui32>
    %78 = "stablehlo.broadcast_in_dim"(%64) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %79 = stablehlo.xor %68, %51 : tensor<6xui32>
    %80 = stablehlo.xor %79, %78 : tensor<6xui32>
    %81 = stablehlo.add %63, %43 : tensor<ui32>
    %82 = stablehlo.add %64, %45 : tensor<ui32>
    %83 = "stablehlo.convert"(%77) : (tensor<6xui32>) -> tensor<6xui64>
    %84 = stablehlo.multiply %83, %26 : tensor<6xui64>
    %85 = stablehlo.shift_right_logical %84, %13 : tensor<6xui64>
    %86 = "stablehlo.convert"(%85) : (tensor<6xui64>) -> tensor<6xui32>
    %87 = "stablehlo.convert"(%84) : (tensor<6xui64>) -> tensor<6xui32>
    %88 = "stablehlo.convert"(%80) : (tensor<6xui32>) -> tensor<6xui64>
    %89 = stablehlo.multiply %88, %32 : tensor<6xui64>
    %90 = stablehlo.shift_right_logical %89, %13 : tensor<6xui64>
    %91 = "stablehlo.convert"(%90) : (tensor<6xui64>) -> tensor<6xui32>
    %92 = "stablehlo.convert"(%89) : (tensor<6xui64>) -> tensor<6xui32>
    %93 = "stablehlo.broadcast_in_dim"(%81) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %94 = stablehlo.xor %91, %74 : tensor<6xui32>
    %95 = stablehlo.xor %94, %93 : tensor<6xui32>
    %96 = "stablehlo.broadcast_in_dim"(%82) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %97 = stablehlo.xor %86, %69 : tensor<6xui32>
    %98 = stablehlo.xor %97, %96 : tensor<6xui32>
    %99 = stablehlo.add %81, %43 : tensor<ui32>
    %100 = stablehlo.add %82, %45 : tensor<ui32>
    %101 = "stablehlo.convert"(%95) : (tensor<6xui32>) -> tensor<6xui64>
    %102 = stablehlo.multiply %101, %26 : tensor<6xui64>
    %103 = stablehlo.shift_right_logical %102, %13 : tensor<6xui64>
    %104 = "stablehlo.convert"(%103) : (tensor<6xui64>) -> tensor<6xui32>
    %105 = "stablehlo.convert"(%102) : (tensor<6xui64>) -> tensor<6xui32>
    %106 = "stablehlo.convert"(%98) : (tensor<6xui32>) -> tensor<6xui64>
    %107 = stablehlo.multiply %106, %32 : tensor<6xui64>
    %108 = stablehlo.shift_right_logical %107, %13 : tensor<6xui64>
    %109 = "stablehlo.convert"(%108) : (tensor<6xui64>) -> tensor<6xui32>
    %110 = "stablehlo.convert"(%107) : (tensor<6xui64>) -> tensor<6xui32>
    %111 = "stablehlo.broadcast_in_dim"(%99) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %112 = stablehlo.xor %109, %92 : tensor<6xui32>
    %113 = stablehlo.xor %112, %111 : tensor<6xui32>
    %114 = "stablehlo.broadcast_in_dim"(%100) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %115 = stablehlo.xor %104, %87 : tensor<6xui32>
    %116 = stablehlo.xor %115, %114 : tensor<6xui32>
    %117 = stablehlo.add %99, %43 : tensor<ui32>
    %118 = stablehlo.add %100, %45 : tensor<ui32>
    %119 = "stablehlo.convert"(%113) : (tensor<6xui32>) -> tensor<6xui64>
    %120 = stablehlo.multiply %119, %26 : tensor<6xui64>
    %121 = stablehlo.shift_right_logical %120, %13 : tensor<6xui64>
    %122 = "stablehlo.convert"(%121) : (tensor<6xui64>) -> tensor<6xui32>
    %123 = "stablehlo.convert"(%120) : (tensor<6xui64>) -> tensor<6xui32>
    %124 = "stablehlo.convert"(%116) : (tensor<6xui32>) -> tensor<6xui64>
    %125 = stablehlo.multiply %124, %32 : tensor<6xui64>
    %126 = stablehlo.shift_right_logical %125, %13 : tensor<6xui64>
    %127 = "stablehlo.convert"(%126) : (tensor<6xui64>) -> tensor<6xui32>
    %128 = "stablehlo.convert"(%125) : (tensor<6xui64>) -> tensor<6xui32>
    %129 = "stablehlo.broadcast_in_dim"(%117) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %130 = stablehlo.xor %127, %110 : tensor<6xui32>
    %131 = stablehlo.xor %130, %129 : tensor<6xui32>
    %132 = "stablehlo.broadcast_in_dim"(%118) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %133 = stablehlo.xor %122, %105 : tensor<6xui32>
    %134 = stablehlo.xor %133, %132 : tensor<6xui32>
    %135 = stablehlo.add %117, %43 : tensor<ui32>
    %136 = stablehlo.add %118, %45 : tensor<ui32>
    %137 = "stablehlo.convert"(%131) : (tensor<6xui32>) -> tensor<6xui64>
    %138 = stablehlo.multiply %137, %26 : tensor<6xui64>
    %139 = stablehlo.shift_right_logical %138, %13 : tensor<6xui64>
    %140 = "stablehlo.convert"(%139) : (tensor<6xui64>) -> tensor<6xui32>
    %141 = "stablehlo.convert"(%138) : (tensor<6xui64>) -> tensor<6xui32>
    %142 = "stablehlo.convert"(%134) : (tensor<6xui32>) -> tensor<6xui64>
    %143 = stablehlo.multiply %142, %32 : tensor<6xui64>
    %144 = stablehlo.shift_right_logical %143, %13 : tensor<6xui64>
    %145 = "stablehlo.convert"(%144) : (tensor<6xui64>) -> tensor<6xui32>
    %146 = "stablehlo.convert"(%143) : (tensor<6xui64>) -> tensor<6xui32>
    %147 = "stablehlo.broadcast_in_dim"(%135) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %148 = stablehlo.xor %145, %128 : tensor<6xui32>
    %149 = stablehlo.xor %148, %147 : tensor<6xui32>
    %150 = "stablehlo.broadcast_in_dim"(%136) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %151 = stablehlo.xor %140, %123 : tensor<6xui32>
    %152 = stablehlo.xor %151, %150 : tensor<6xui32>
    %153 = stablehlo.add %135, %43 : tensor<ui32>
    %154 = stablehlo.add %136, %45 : tensor<ui32>
    %155 = "stablehlo.convert"(%149) : (tensor<6xui32>) -> tensor<6xui64>
    %156 = stablehlo.multiply %155, %26 : tensor<6xui64>
    %157 = stablehlo.shift_right_logical %156, %13 : tensor<6xui64>
    %158 = "stablehlo.convert"(%157) : (tensor<6xui64>) -> tensor<6xui32>
    %159 = "stablehlo.convert"(%156) : (tensor<6xui64>) -> tensor<6xui32>
    %160 = "stablehlo.convert"(%152) : (tensor<6xui32>) -> tensor<6xui64>
    %161 = stablehlo.multiply %160, %32 : tensor<6xui64>
    %162 = stablehlo.shift_right_logical %161, %13 : tensor<6xui64>
    %163 = "stablehlo.convert"(%162) : (tensor<6xui64>) -> tensor<6xui32>
    %164 = "stablehlo.convert"(%161) : (tensor<6xui64>) -> tensor<6xui32>
    %165 = "stablehlo.broadcast_in_dim"(%153) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %166 = stablehlo.xor %163, %146 : tensor<6xui32>
    %167 = stablehlo.xor %166, %165 : tensor<6xui32>
    %168 = "stablehlo.broadcast_in_dim"(%154) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %169 = stablehlo.xor %158, %141 : tensor<6xui32>
    %170 = stablehlo.xor %169, %168 : tensor<6xui32>
    %171 = stablehlo.add %153, %43 : tensor<ui32>
    %172 = stablehlo.add %154, %45 : tensor<ui32>
    %173 = "stablehlo.convert"(%167) : (tensor<6xui32>) -> tensor<6xui64>
    %174 = stablehlo.multiply %173, %26 : tensor<6xui64>
    %175 = stablehlo.shift_right_logical %174, %13 : tensor<6xui64>
    %176 = "stablehlo.convert"(%175) : (tensor<6xui64>) -> tensor<6xui32>
    %177 = "stablehlo.convert"(%174) : (tensor<6xui64>) -> tensor<6xui32>
    %178 = "stablehlo.convert"(%170) : (tensor<6xui32>) -> tensor<6xui64>
    %179 = stablehlo.multiply %178, %32 : tensor<6xui64>
    %180 = stablehlo.shift_right_logical %179, %13 : tensor<6xui64>
    %181 = "stablehlo.convert"(%180) : (tensor<6xui64>) -> tensor<6xui32>
    %182 = "stablehlo.convert"(%179) : (tensor<6xui64>) -> tensor<6xui32>
    %183 = "stablehlo.broadcast_in_dim"(%171) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %184 = stablehlo.xor %181, %164 : tensor<6xui32>
    %185 = stablehlo.xor %184, %183 : tensor<6xui32>
    %186 = "stablehlo.broadcast_in_dim"(%172) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %187 = stablehlo.xor %176, %159 : tensor<6xui32>
    %188 = stablehlo.xor %187, %186 : tensor<6xui32>
    %189 = stablehlo.add %171, %43 : tensor<ui32>
    %190 = stablehlo.add %172, %45 : tensor<ui32>
    %191 = "stablehlo.convert"(%185) : (tensor<6xui32>) -> tensor<6xui64>
    %192 = stablehlo.multiply %191, %26 : tensor<6xui64>
    %193 = stablehlo.shift_right_logical %192, %13 : tensor<6xui64>
    %194 = "stablehlo.convert"(%193) : (tensor<6xui64>) -> tensor<6xui32>
    %195 = "stablehlo.convert"(%192) : (tensor<6xui64>) -> tensor<6xui32>
    %196 = "stablehlo.convert"(%188) : (tensor<6xui32>) -> tensor<6xui64>
    %197 = stablehlo.multiply %196, %32 : tensor<6xui64>
    %198 = stablehlo.shift_right_logical %197, %13 : tensor<6xui64>
    %199 = "stablehlo.convert"(%198) : (tensor<6xui64>) -> tensor<6xui32>
    %200 = "stablehlo.convert"(%197) : (tensor<6xui64>) -> tensor<6xui32>
    %201 = "stablehlo.broadcast_in_dim"(%189) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %202 = stablehlo.xor %199, %182 : tensor<6xui32>
    %203 = stablehlo.xor %202, %201 : tensor<6xui32>
    %204 = "stablehlo.broadcast_in_dim"(%190) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %205 = stablehlo.xor %194, %177 : tensor<6xui32>
    %206 = stablehlo.xor %205, %204 : tensor<6xui32>
    %207 = stablehlo.add %189, %43 : tensor<ui32>
    %208 = stablehlo.add %190, %45 : tensor<ui32>
    %209 = "stablehlo.reshape"(%203) : (tensor<6xui32>) -> tensor<2x3xui32>
    %210 = stablehlo.constant dense<8> : tensor<2x3xui32>
    %211 = stablehlo.shift_right_logical %209, %210 : tensor<2x3xui32>
    %212 = "stablehlo.convert"(%211) : (tensor<2x3xui32>) -> tensor<2x3xf32>
    %213 = stablehlo.constant dense<5.9604645e-08> : tensor<2x3xf32>
    %214 = stablehlo.multiply %212, %213 : tensor<2x3xf32>
    return %214 : tensor<2x3xf32>
  }
}
