// in0: float32[2, 3]
// aten::poisson(self: float32[2, 3])
//   operand 0 = in0
//   result 0 is a new tensor
module @main {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xui64>) -> (tensor<2x3xf32>, tensor<2xi64>) {
    %1 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
    %2 = "stablehlo.compare"(%arg0, %1) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %3 = stablehlo.not %2 : tensor<2x3xi1>
    %4 = "stablehlo.convert"(%3) : (tensor<2x3xi1>) -> tensor<2x3xi64>
    %5 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %6 = stablehlo.constant dense<-9223372036854775807> : tensor<2x3xi64>
    %7 = stablehlo.maximum %4, %6 : tensor<2x3xi64>
    %8 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<2x3xi64>
    %9 = "stablehlo.select"(%3, %7, %8) : (tensor<2x3xi1>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
    %13 = "stablehlo.reduce"(%9, %5) ({
    ^bb0(%10: tensor<i64>, %11: tensor<i64>):
      %12 = stablehlo.maximum %10, %11 : tensor<i64>
      stablehlo.return %12 : tensor<i64>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xi64>, tensor<i64>) -> (tensor<i64>)
    %14 = "stablehlo.compare"(%13, %5) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %16 = stablehlo.constant dense<10.0> : tensor<2x3xf32>
    %17 = "stablehlo.compare"(%arg0, %16) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %18 = "stablehlo.is_finite"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %19 = stablehlo.not %17 : tensor<2x3xi1>
    %20 = stablehlo.and %19, %18 : tensor<2x3xi1>
    %21 = "stablehlo.select"(%17, %arg0, %1) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %22 = stablehlo.negate %21 : tensor<2x3xf32>
    %23 = stablehlo.exponential %22 : tensor<2x3xf32>
    %24 = stablehlo.constant dense<0> : tensor<i32>
    %25 = "stablehlo.convert"(%24) : (tensor<i32>) -> tensor<ui64>
    %26 = "stablehlo.reshape"(%25) : (tensor<ui64>) -> tensor<1xui64>
    %27 = "stablehlo.slice"(%arg1) {limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<2xui64>
    %28 = "stablehlo.concatenate"(%27, %26) {dimension = 0 : i64} : (tensor<2xui64>, tensor<1xui64>) -> tensor<3xui64>
    %29 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xui64>
    %30 = "stablehlo.slice"(%28) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
    %31 = "stablehlo.reshape"(%30) : (tensor<1xui64>) -> tensor<ui64>
    %32 = "stablehlo.broadcast_in_dim"(%31) {broadcast_dimensions = array<i64>} : (tensor<ui64>) -> tensor<6xui64>
    %33 = stablehlo.add %32, %29 : tensor<6xui64>
    %34 = "stablehlo.slice"(%28) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
    %35 = "stablehlo.reshape"(%34) : (tensor<1xui64>) -> tensor<ui64>
    %36 = "stablehlo.slice"(%28) {limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
    %37 = "stablehlo.reshape"(%36) : (tensor<1xui64>) -> tensor<ui64>
    %38 = "stablehlo.convert"(%33) : (tensor<6xui64>) -> tensor<6xui32>
    %39 = stablehlo.constant dense<32> : tensor<6xui64>
    %40 = stablehlo.shift_right_logical %33, %39 : tensor<6xui64>
    %41 = "stablehlo.convert"(%40) : (tensor<6xui64>) -> tensor<6xui32>
    %42 = "stablehlo.convert"(%37) : (tensor<ui64>) -> tensor<ui32>
    %43 = "stablehlo.broadcast_in_dim"(%42) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %44 = stablehlo.constant dense<32> : tensor<ui64>
    %45 = stablehlo.shift_right_logical %37, %44 : tensor<ui64>
    %46 = "stablehlo.convert"(%45) : (tensor<ui64>) -> tensor<ui32>
    %47 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %48 = "stablehlo.convert"(%35) : (tensor<ui64>) -> tensor<ui32>
    %49 = stablehlo.shift_right_logical %35, %44 : tensor<ui64>
    %50 = "stablehlo.convert"(%49) : (tensor<ui64>) -> tensor<ui32>
    %51 = "stablehlo.convert"(%38) : (tensor<6xui32>) -> tensor<6xui64>
    %52 = stablehlo.constant dense<3528531795> : tensor<6xui64>
    %53 = stablehlo.multiply %51, %52 : tensor<6xui64>
    %54 = stablehlo.shift_right_logical %53, %39 : tensor<6xui64>
    %55 = "stablehlo.convert"(%54) : (tensor<6xui64>) -> tensor<6xui32>
    %56 = "stablehlo.convert"(%53) : (tensor<6xui64>) -> tensor<6xui32>
    %57 = "stablehlo.convert"(%43) : (tensor<6xui32>) -> tensor<6xui64>
    %58 = stablehlo.constant dense<3449720151> : tensor<6xui64>
    %59 = stablehlo.multiply %57, %58 : tensor<6xui64>
    %60 = stablehlo.shift_right_logical %59, %39 : tensor<6xui64>
    %61 = "stablehlo.convert"(%60) : (tensor<6xui64>) -> tensor<6xui32>
    %62 = "stablehlo.convert"(%59) : (tensor<6xui64>) -> tensor<6xui32>
    %63 = "stablehlo.broadcast_in_dim"(%48) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %64 = stablehlo.xor %61, %41 : tensor<6xui32>
    %65 = stablehlo.xor %64, %63 : tensor<6xui32>
    %66 = "stablehlo.broadcast_in_dim"(%50) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %67 = stablehlo.xor %55, %47 : tensor<6xui32>
    %68 = stablehlo.xor %67, %66 : tensor<6xui32>
    %69 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %70 = stablehlo.add %48, %69 : tensor<ui32>
    %71 = stablehlo.constant dense<3144134277> : tensor<ui32>
    %72 = stablehlo.add %50, %71 : tensor<ui32>
    %73 = "stablehlo.convert"(%65) : (tensor<6xui32>) -> tensor<6xui64>
    %74 = stablehlo.multiply %73, %52 : tensor<6xui64>
    %75 = stablehlo.shift_right_logical %74, %39 : tensor<6xui64>
    %76 = "stablehlo.convert"(%75) : (tensor<6xui64>) -> tensor<6xui32>
    %77 = "stablehlo.convert"(%74) : (tensor<6xui64>) -> tensor<6xui32>
    %78 = "stablehlo.convert"(%68) : (tensor<6xui32>) -> tensor<6xui64>
    %79 = stablehlo.multiply %78, %58 : tensor<6xui64>
    %80 = stablehlo.shift_right_logical %79, %39 : tensor<6xui64>
    %81 = "stablehlo.convert"(%80) : (tensor<6xui64>) -> tensor<6xui32>
    %82 = "stablehlo.convert"(%79) : (tensor<6xui64>) -> tensor<6xui32>
    %83 = "stablehlo.broadcast_in_dim"(%70) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %84 = stablehlo.xor %81, %62 : tensor<6xui32>
    %85 = stablehlo.xor %84, %83 : tensor<6xui32>
    %86 = "stablehlo.broadcast_in_dim"(%72) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %87 = stablehlo.xor %76, %56 : tensor<6xui32>
    %88 = stablehlo.xor %87, %86 : tensor<6xui32>
    %89 = stablehlo.add %70, %69 : tensor<ui32>
    %90 = stablehlo.add %72, %71 : tensor<ui32>
    %91 = "stablehlo.convert"(%85) : (tensor<6xui32>) -> tensor<6xui64>
    %92 = stablehlo.multiply %91, %52 : tensor<6xui64>
    %93 = stablehlo.shift_right_logical %92, %39 : tensor<6xui64>
    %94 = "stablehlo.convert"(%93) : (tensor<6xui64>) -> tensor<6xui32>
    %95 = "stablehlo.convert"(%92) : (tensor<6xui64>) -> tensor<6xui32>
    %96 = "stablehlo.convert"(%88) : (tensor<6xui32>) -> tensor<6xui64>
    %97 = stablehlo.multiply %96, %58 : tensor<6xui64>
    %98 = stablehlo.shift_right_logical %97, %39 : tensor<6xui64>
    %99 = "stablehlo.convert"(%98) : (tensor<6xui64>) -> tensor<6xui32>
    %100 = "stablehlo.convert"(%97) : (tensor<6xui64>) -> tensor<6xui32>
    %101 = "stablehlo.broadcast_in_dim"(%89) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %102 = stablehlo.xor %99, %82 : tensor<6xui32>
    %103 = stablehlo.xor %102, %101 : tensor<6xui32>
    %104 = "stablehlo.broadcast_in_dim"(%90) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %105 = stablehlo.xor %94, %77 : tensor<6xui32>
    %106 = stablehlo.xor %105, %104 : tensor<6xui32>
    %107 = stablehlo.add %89, %69 : tensor<ui32>
    %108 = stablehlo.add %90, %71 : tensor<ui32>
    %109 = "stablehlo.convert"(%103) : (tensor<6xui32>) -> tensor<6xui64>
    %110 = stablehlo.multiply %109, %52 : tensor<6xui64>
    %111 = stablehlo.shift_right_logical %110, %39 : tensor<6xui64>
    %112 = "stablehlo.convert"(%111) : (tensor<6xui64>) -> tensor<6xui32>
    %113 = "stablehlo.convert"(%110) : (tensor<6xui64>) -> tensor<6xui32>
    %114 = "stablehlo.convert"(%106) : (tensor<6xui32>) -> tensor<6xui64>
    %115 = stablehlo.multiply %114, %58 : tensor<6xui64>
    %116 = stablehlo.shift_right_logical %115, %39 : tensor<6xui64>
    %117 = "stablehlo.convert"(%116) : (tensor<6xui64>) -> tensor<6xui32>
    %118 = "stablehlo.convert"(%115) : (tensor<6xui64>) -> tensor<6xui32>
    %119 = "stablehlo.broadcast_in_dim"(%107) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %120 = stablehlo.xor %117, %100 : tensor<6xui32>
    %121 = stablehlo.xor %120, %119 : tensor<6xui32>
    %122 = "stablehlo.broadcast_in_dim"(%108) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %123 = stablehlo.xor %112, %95 : tensor<6xui32>
    %124 = stablehlo.xor %123, %122 : tensor<6xui32>
    %125 = stablehlo.add %107, %69 : tensor<ui32>
    %126 = stablehlo.add %108, %71 : tensor<ui32>
    %127 = "stablehlo.convert"(%121) : (tensor<6xui32>) -> tensor<6xui64>
    %128 = stablehlo.multiply %127, %52 : tensor<6xui64>
    %129 = stablehlo.shift_right_logical %128, %39 : tensor<6xui64>
    %130 = "stablehlo.convert"(%129) : (tensor<6xui64>) -> tensor<6xui32>
    %131 = "stablehlo.convert"(%128) : (tensor<6xui64>) -> tensor<6xui32>
    %132 = "stablehlo.convert"(%124) : (tensor<6xui32>) -> tensor<6xui64>
    %133 = stablehlo.multiply %132, %58 : tensor<6xui64>
    %134 = stablehlo.shift_right_logical %133, %39 : tensor<6xui64>
    %135 = "stablehlo.convert"(%134) : (tensor<6xui64>) -> tensor<6xui32>
    %136 = "stablehlo.convert"(%133) : (tensor<6xui64>) -> tensor<6xui32>
    %137 = "stablehlo.broadcast_in_dim"(%125) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %138 = stablehlo.xor %135, %118 : tensor<6xui32>
    %139 = stablehlo.xor %138, %137 : tensor<6xui32>
    %140 = "stablehlo.broadcast_in_dim"(%126) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %141 = stablehlo.xor %130, %113 : tensor<6xui32>
    %142 = stablehlo.xor %141, %140 : tensor<6xui32>
    %143 = stablehlo.add %125, %69 : tensor<ui32>
    %144 = stablehlo.add %126, %71 : tensor<ui32>
    %145 = "stablehlo.convert"(%139) : (tensor<6xui32>) -> tensor<6xui64>
    %146 = stablehlo.multiply %145, %52 : tensor<6xui64>
    %147 = stablehlo.shift_right_logical %146, %39 : tensor<6xui64>
    %148 = "stablehlo.convert"(%147) : (tensor<6xui64>) -> tensor<6xui32>
    %149 = "stablehlo.convert"(%146) : (tensor<6xui64>) -> tensor<6xui32>
    %150 = "stablehlo.convert"(%142) : (tensor<6xui32>) -> tensor<6xui64>
    %151 = stablehlo.multiply %150, %58 : tensor<6xui64>
    %152 = stablehlo.shift_right_logical %151, %39 : tensor<6xui64>
    %153 = "stablehlo.convert"(%152) : (tensor<6xui64>) -> tensor<6xui32>
    %154 = "stablehlo.convert"(%151) : (tensor<6xui64>) -> tensor<6xui32>
    %155 = "stablehlo.broadcast_in_dim"(%143) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %156 = stablehlo.xor %153, %136 : tensor<6xui32>
    %157 = stablehlo.xor %156, %155 : tensor<6xui32>
    %158 = "stablehlo.broadcast_in_dim"(%144) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %159 = stablehlo.xor %148, %131 : tensor<6xui32>
    %160 = stablehlo.xor %159, %158 : tensor<6xui32>
    %161 = stablehlo.add %143, %69 : tensor<ui32>
    %162 = stablehlo.add %144, %71 : tensor<ui32>
    %163 = "stablehlo.convert"(%157) : (tensor<6xui32>) -> tensor<6xui64>
    %164 = stablehlo.multiply %163, %52 : tensor<6xui64>
    %165 = stablehlo.shift_right_logical %164, %39 : tensor<6xui64>
    %166 = "stablehlo.convert"(%165) : (tensor<6xui64>) -> tensor<6xui32>
    %167 = "stablehlo.convert"(%164) : (tensor<6xui64>) -> tensor<6xui32>
    %168 = "stablehlo.convert"(%160) : (tensor<6xui32>) -> tensor<6xui64>
    %169 = stablehlo.multiply %168, %58 : tensor<6xui64>
    %170 = stablehlo.shift_right_logical %169, %39 : tensor<6xui64>
    %171 = "stablehlo.convert"(%170) : (tensor<6xui64>) -> tensor<6xui32>
    %172 = "stablehlo.convert"(%169) : (tensor<6xui64>) -> tensor<6xui32>
    %173 = "stablehlo.broadcast_in_dim"(%161) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %174 = stablehlo.xor %171, %154 : tensor<6xui32>
    %175 = stablehlo.xor %174, %173 : tensor<6xui32>
    %176 = "stablehlo.broadcast_in_dim"(%162) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %177 = stablehlo.xor %166, %149 : tensor<6xui32>
    %178 = stablehlo.xor %177, %176 : tensor<6xui32>
    %179 = stablehlo.add %161, %69 : tensor<ui32>
    %180 = stablehlo.add %162, %71 : tensor<ui32>
    %181 = "stablehlo.convert"(%175) : (tensor<6xui32>) -> tensor<6xui64>
    %182 = stablehlo.multiply %181, %52 : tensor<6xui64>
    %183 = stablehlo.shift_right_logical %182, %39 : tensor<6xui64>
    %184 = "stablehlo.convert"(%183) : (tensor<6xui64>) -> tensor<6xui32>
    %185 = "stablehlo.convert"(%182) : (tensor<6xui64>) -> tensor<6xui32>
    %186 = "stablehlo.convert"(%178) : (tensor<6xui32>) -> tensor<6xui64>
    %187 = stablehlo.multiply %186, %58 : tensor<6xui64>
    %188 = stablehlo.shift_right_logical %187, %39 : tensor<6xui64>
    %189 = "stablehlo.convert"(%188) : (tensor<6xui64>) -> tensor<6xui32>
    %190 = "stablehlo.convert"(%187) : (tensor<6xui64>) -> tensor<6xui32>
    %191 = "stablehlo.broadcast_in_dim"(%179) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %192 = stablehlo.xor %189, %172 : tensor<6xui32>
    %193 = stablehlo.xor %192, %191 : tensor<6xui32>
    %194 = "stablehlo.broadcast_in_dim"(%180) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %195 = stablehlo.xor %184, %167 : tensor<6xui32>
    %196 = stablehlo.xor %195, %194 : tensor<6xui32>
    %197 = stablehlo.add %179, %69 : tensor<ui32>
    %198 = stablehlo.add %180, %71 : tensor<ui32>
    %199 = "stablehlo.convert"(%193) : (tensor<6xui32>) -> tensor<6xui64>
    %200 = stablehlo.multiply %199, %52 : tensor<6xui64>
    %201 = stablehlo.shift_right_logical %200, %39 : tensor<6xui64>
    %202 = "stablehlo.convert"(%201) : (tensor<6xui64>) -> tensor<6xui32>
    %203 = "stablehlo.convert"(%200) : (tensor<6xui64>) -> tensor<6xui32>
    %204 = "stablehlo.convert"(%196) : (tensor<6xui32>) -> tensor<6xui64>
    %205 = stablehlo.multiply %204, %58 : tensor<6xui64>
    %206 = stablehlo.shift_right_logical %205, %39 : tensor<6xui64>
    %207 = "stablehlo.convert"(%206) : (tensor<6xui64>) -> tensor<6xui32>
    %208 = "stablehlo.convert"(%205) : (tensor<6xui64>) -> tensor<6xui32>
    %209 = "stablehlo.broadcast_in_dim"(%197) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %210 = stablehlo.xor %207, %190 : tensor<6xui32>
    %211 = stablehlo.xor %210, %209 : tensor<6xui32>
    %212 = "stablehlo.broadcast_in_dim"(%198) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %213 = stablehlo.xor %202, %185 : tensor<6xui32>
    %214 = stablehlo.xor %213, %212 : tensor<6xui32>
    %215 = stablehlo.add %197, %69 : tensor<ui32>
    %216 = stablehlo.add %198, %71 : tensor<ui32>
    %217 = "stablehlo.convert"(%211) : (tensor<6xui32>) -> tensor<6xui64>
    %218 = stablehlo.multiply %217, %52 : tensor<6xui64>
    %219 = stablehlo.shift_right_logical %218, %39 : tensor<6xui64>
    %220 = "stablehlo.convert"(%219) : (tensor<6xui64>) -> tensor<6xui32>
    %221 = "stablehlo.convert"(%218) : (tensor<6xui64>) -> tensor<6xui32>
    %222 = "stablehlo.convert"(%214) : (tensor<6xui32>) -> tensor<6xui64>
    %223 = stablehlo.multiply %222, %58 : tensor<6xui64>
    %224 = stablehlo.shift_right_logical %223, %39 : tensor<6xui64>
    %225 = "stablehlo.convert"(%224) : (tensor<6xui64>) -> tensor<6xui32>
    %226 = "stablehlo.convert"(%223) : (tensor<6xui64>) -> tensor<6xui32>
    %227 = "stablehlo.broadcast_in_dim"(%215) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %228 = stablehlo.xor %225, %208 : tensor<6xui32>
    %229 = stablehlo.xor %228, %227 : tensor<6xui32>
    %230 = "stablehlo.broadcast_in_dim"(%216) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
    %231 = stablehlo.xor %220, %203 : tensor<6xui32>
    %232 = stablehlo.xor %231, %230 : tensor<6xui32>
    %233 = stablehlo.add %215, %69 : tensor<ui32>
    %234 = stablehlo.add %216, %71 : tensor<ui32>
    %235 = "stablehlo.reshape"(%229) : (tensor<6xui32>) -> tensor<2x3xui32>
    %236 = "stablehlo.reshape"(%226) : (tensor<6xui32>) -> tensor<2x3xui32>
    %237 = stablehlo.constant dense<9> : tensor<2x3xui32>
    %238 = stablehlo.shift_right_logical %235, %237 : tensor<2x3xui32>
    %239 = "stablehlo.convert"(%238) : (tensor<2x3xui32>) -> tensor<2x3xf32>
    %240 = stablehlo.constant dense<1.1920929e-07> : tensor<2x3xf32>
    %241 = stablehlo.constant dense<0.5> : tensor<2x3xf32>
    %242 = stablehlo.add %239, %241 : tensor<2x3xf32>
    %243 = stablehlo.multiply %242, %240 : tensor<2x3xf32>
    %244 = stablehlo.shift_right_logical %236, %237 : tensor<2x3xui32>
    %245 = "stablehlo.convert"(%244) : (tensor<2x3xui32>) -> tensor<2x3xf32>
    %246 = stablehlo.add %245, %241 : tensor<2x3xf32>
    %247 = stablehlo.multiply %246, %240 : tensor<2x3xf32>
    %289, %290, %291, %292, %293, %294 = "stablehlo.while"(%1, %243, %23, %21, %21, %1) ({
    ^bb0(%248: tensor<2x3xf32>, %249: tensor<2x3xf32>, %250: tensor<2x3xf32>, %251: tensor<2x3xf32>, %252: tensor<2x3xf32>, %253: tensor<2x3xf32>):
      %254 = stablehlo.constant dense<1.4901161e-08> : tensor<2x3xf32>
      %255 = "stablehlo.compare"(%250, %254) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %256 = "stablehlo.compare"(%248, %251) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %257 = stablehlo.and %256, %255 : tensor<2x3xi1>
      %258 = stablehlo.not %257 : tensor<2x3xi1>
      %259 = "stablehlo.compare"(%249, %250) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %260 = stablehlo.and %259, %258 : tensor<2x3xi1>
      %261 = stablehlo.constant dense<false> : tensor<i1>
      %265 = "stablehlo.reduce"(%260, %261) ({
      ^bb0(%262: tensor<i1>, %263: tensor<i1>):
        %264 = stablehlo.or %262, %263 : tensor<i1>
        stablehlo.return %264 : tensor<i1>
      }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>, tensor<i1>) -> (tensor<i1>)
      stablehlo.return %265 : tensor<i1>
    }, {
    ^bb0(%266: tensor<2x3xf32>, %267: tensor<2x3xf32>, %268: tensor<2x3xf32>, %269: tensor<2x3xf32>, %270: tensor<2x3xf32>, %271: tensor<2x3xf32>):
      %272 = stablehlo.constant dense<1.4901161e-08> : tensor<2x3xf32>
      %273 = "stablehlo.compare"(%268, %272) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %274 = "stablehlo.compare"(%266, %269) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %275 = stablehlo.and %274, %273 : tensor<2x3xi1>
      %276 = stablehlo.not %275 : tensor<2x3xi1>
      %277 = "stablehlo.compare"(%267, %268) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %278 = stablehlo.and %277, %276 : tensor<2x3xi1>
      %279 = stablehlo.constant dense<1.0> : tensor<2x3xf32>
      %280 = stablehlo.add %266, %279 : tensor<2x3xf32>
      %281 = "stablehlo.select"(%278, %280, %266) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %282 = stablehlo.subtract %267, %268 : tensor<2x3xf32>
      %283 = "stablehlo.select"(%278, %282, %267) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %284 = stablehlo.multiply %271, %266 : tensor<2x3xf32>
      %285 = stablehlo.subtract %270, %284 : tensor<2x3xf32>
      %286 = stablehlo.multiply %268, %285 : tensor<2x3xf32>
      %287 = stablehlo.divide %286, %280 : tensor<2x3xf32>
      %288 = "stablehlo.select"(%278, %287, %268) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      stablehlo.return %281, %283, %288, %269, %270, %271 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    }) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
    %295 = "stablehlo.select"(%20, %arg0, %16) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %296 = stablehlo.constant dense<1> : tensor<i32>
    %687, %688, %689, %690, %691 = "stablehlo.while"(%296, %20, %1, %arg1, %295) ({
    ^bb0(%297: tensor<i32>, %298: tensor<2x3xi1>, %299: tensor<2x3xf32>, %300: tensor<3xui64>, %301: tensor<2x3xf32>):
      %302 = stablehlo.constant dense<10000> : tensor<i32>
      %303 = "stablehlo.compare"(%297, %302) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %304 = stablehlo.constant dense<false> : tensor<i1>
      %308 = "stablehlo.reduce"(%298, %304) ({
      ^bb0(%305: tensor<i1>, %306: tensor<i1>):
        %307 = stablehlo.or %305, %306 : tensor<i1>
        stablehlo.return %307 : tensor<i1>
      }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>, tensor<i1>) -> (tensor<i1>)
      %309 = stablehlo.and %308, %303 : tensor<i1>
      stablehlo.return %309 : tensor<i1>
    }, {
    ^bb0(%310: tensor<i32>, %311: tensor<2x3xi1>, %312: tensor<2x3xf32>, %313: tensor<3xui64>, %314: tensor<2x3xf32>):
      %315 = "stablehlo.convert"(%310) : (tensor<i32>) -> tensor<ui64>
      %316 = "stablehlo.reshape"(%315) : (tensor<ui64>) -> tensor<1xui64>
      %317 = "stablehlo.slice"(%313) {limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<2xui64>
      %318 = "stablehlo.concatenate"(%317, %316) {dimension = 0 : i64} : (tensor<2xui64>, tensor<1xui64>) -> tensor<3xui64>
      %319 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xui64>
      %320 = "stablehlo.slice"(%318) {limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
      %321 = "stablehlo.reshape"(%320) : (tensor<1xui64>) -> tensor<ui64>
      %322 = "stablehlo.broadcast_in_dim"(%321) {broadcast_dimensions = array<i64>} : (tensor<ui64>) -> tensor<6xui64>
      %323 = stablehlo.add %322, %319 : tensor<6xui64>
      %324 = "stablehlo.slice"(%318) {limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
      %325 = "stablehlo.reshape"(%324) : (tensor<1xui64>) -> tensor<ui64>
      %326 = "stablehlo.slice"(%318) {limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xui64>) -> tensor<1xui64>
      %327 = "stablehlo.reshape"(%326) : (tensor<1xui64>) -> tensor<ui64>
      %328 = "stablehlo.convert"(%323) : (tensor<6xui64>) -> tensor<6xui32>
      %329 = stablehlo.constant dense<32> : tensor<6xui64>
      %330 = stablehlo.shift_right_logical %323, %329 : tensor<6xui64>
      %331 = "stablehlo.convert"(%330) : (tensor<6xui64>) -> tensor<6xui32>
      %332 = "stablehlo.convert"(%327) : (tensor<ui64>) -> tensor<ui32>
      %333 = "stablehlo.broadcast_in_dim"(%332) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %334 = stablehlo.constant dense<32> : tensor<ui64>
      %335 = stablehlo.shift_right_logical %327, %334 : tensor<ui64>
      %336 = "stablehlo.convert"(%335) : (tensor<ui64>) -> tensor<ui32>
      %337 = "stablehlo.broadcast_in_dim"(%336) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %338 = "stablehlo.convert"(%325) : (tensor<ui64>) -> tensor<ui32>
      %339 = stablehlo.shift_right_logical %325, %334 : tensor<ui64>
      %340 = "stablehlo.convert"(%339) : (tensor<ui64>) -> tensor<ui32>
      %341 = "stablehlo.convert"(%328) : (tensor<6xui32>) -> tensor<6xui64>
      %342 = stablehlo.constant dense<3528531795> : tensor<6xui64>
      %343 = stablehlo.multiply %341, %342 : tensor<6xui64>
      %344 = stablehlo.shift_right_logical %343, %329 : tensor<6xui64>
      %345 = "stablehlo.convert"(%344) : (tensor<6xui64>) -> tensor<6xui32>
      %346 = "stablehlo.convert"(%343) : (tensor<6xui64>) -> tensor<6xui32>
      %347 = "stablehlo.convert"(%333) : (tensor<6xui32>) -> tensor<6xui64>
      %348 = stablehlo.constant dense<3449720151> : tensor<6xui64>
      %349 = stablehlo.multiply %347, %348 : tensor<6xui64>
      %350 = stablehlo.shift_right_logical %349, %329 : tensor<6xui64>
      %351 = "stablehlo.convert"(%350) : (tensor<6xui64>) -> tensor<6xui32>
      %352 = "stablehlo.convert"(%349) : (tensor<6xui64>) -> tensor<6xui32>
      %353 = "stablehlo.broadcast_in_dim"(%338) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %354 = stablehlo.xor %351, %331 : tensor<6xui32>
      %355 = stablehlo.xor %354, %353 : tensor<6xui32>
      %356 = "stablehlo.broadcast_in_dim"(%340) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %357 = stablehlo.xor %345, %337 : tensor<6xui32>
      %358 = stablehlo.xor %357, %356 : tensor<6xui32>
      %359 = stablehlo.constant dense<2654435769> : tensor<ui32>
      %360 = stablehlo.add %338, %359 : tensor<ui32>
      %361 = stablehlo.constant dense<3144134277> : tensor<ui32>
      %362 = stablehlo.add %340, %361 : tensor<ui32>
      %363 = "stablehlo.convert"(%355) : (tensor<6xui32>) -> tensor<6xui64>
      %364 = stablehlo.multiply %363, %342 : tensor<6xui64>
      %365 = stablehlo.shift_right_logical %364, %329 : tensor<6xui64>
      %366 = "stablehlo.convert"(%365) : (tensor<6xui64>) -> tensor<6xui32>
      %367 = "stablehlo.convert"(%364) : (tensor<6xui64>) -> tensor<6xui32>
      %368 = "stablehlo.convert"(%358) : (tensor<6xui32>) -> tensor<6xui64>
      %369 = stablehlo.multiply %368, %348 : tensor<6xui64>
      %370 = stablehlo.shift_right_logical %369, %329 : tensor<6xui64>
      %371 = "stablehlo.convert"(%370) : (tensor<6xui64>) -> tensor<6xui32>
      %372 = "stablehlo.convert"(%369) : (tensor<6xui64>) -> tensor<6xui32>
      %373 = "stablehlo.broadcast_in_dim"(%360) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %374 = stablehlo.xor %371, %352 : tensor<6xui32>
      %375 = stablehlo.xor %374, %373 : tensor<6xui32>
      %376 = "stablehlo.broadcast_in_dim"(%362) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %377 = stablehlo.xor %366, %346 : tensor<6xui32>
      %378 = stablehlo.xor %377, %376 : tensor<6xui32>
      %379 = stablehlo.add %360, %359 : tensor<ui32>
      %380 = stablehlo.add %362, %361 : tensor<ui32>
      %381 = "stablehlo.convert"(%375) : (tensor<6xui32>) -> tensor<6xui64>
      %382 = stablehlo.multiply %381, %342 : tensor<6xui64>
      %383 = stablehlo.shift_right_logical %382, %329 : tensor<6xui64>
      %384 = "stablehlo.convert"(%383) : (tensor<6xui64>) -> tensor<6xui32>
      %385 = "stablehlo.convert"(%382) : (tensor<6xui64>) -> tensor<6xui32>
      %386 = "stablehlo.convert"(%378) : (tensor<6xui32>) -> tensor<6xui64>
      %387 = stablehlo.multiply %386, %348 : tensor<6xui64>
      %388 = stablehlo.shift_right_logical %387, %329 : tensor<6xui64>
      %389 = "stablehlo.convert"(%388) : (tensor<6xui64>) -> tensor<6xui32>
      %390 = "stablehlo.convert"(%387) : (tensor<6xui64>) -> tensor<6xui32>
      %391 = "stablehlo.broadcast_in_dim"(%379) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %392 = stablehlo.xor %389, %372 : tensor<6xui32>
      %393 = stablehlo.xor %392, %391 : tensor<6xui32>
      %394 = "stablehlo.broadcast_in_dim"(%380) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %395 = stablehlo.xor %384, %367 : tensor<6xui32>
      %396 = stablehlo.xor %395, %394 : tensor<6xui32>
      %397 = stablehlo.add %379, %359 : tensor<ui32>
      %398 = stablehlo.add %380, %361 : tensor<ui32>
      %399 = "stablehlo.convert"(%393) : (tensor<6xui32>) -> tensor<6xui64>
      %400 = stablehlo.multiply %399, %342 : tensor<6xui64>
      %401 = stablehlo.shift_right_logical %400, %329 : tensor<6xui64>
      %402 = "stablehlo.convert"(%401) : (tensor<6xui64>) -> tensor<6xui32>
      %403 = "stablehlo.convert"(%400) : (tensor<6xui64>) -> tensor<6xui32>
      %404 = "stablehlo.convert"(%396) : (tensor<6xui32>) -> tensor<6xui64>
      %405 = stablehlo.multiply %404, %348 : tensor<6xui64>
      %406 = stablehlo.shift_right_logical %405, %329 : tensor<6xui64>
      %407 = "stablehlo.convert"(%406) : (tensor<6xui64>) -> tensor<6xui32>
      %408 = "stablehlo.convert"(%405) : (tensor<6xui64>) -> tensor<6xui32>
      %409 = "stablehlo.broadcast_in_dim"(%397) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %410 = stablehlo.xor %407, %390 : tensor<6xui32>
      %411 = stablehlo.xor %410, %409 : tensor<6xui32>
      %412 = "stablehlo.broadcast_in_dim"(%398) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %413 = stablehlo.xor %402, %385 : tensor<6xui32>
      %414 = stablehlo.xor %413, %412 : tensor<6xui32>
      %415 = stablehlo.add %397, %359 : tensor<ui32>
      %416 = stablehlo.add %398, %361 : tensor<ui32>
      %417 = "stablehlo.convert"(%411) : (tensor<6xui32>) -> tensor<6xui64>
      %418 = stablehlo.multiply %417, %342 : tensor<6xui64>
      %419 = stablehlo.shift_right_logical %418, %329 : tensor<6xui64>
      %420 = "stablehlo.convert"(%419) : (tensor<6xui64>) -> tensor<6xui32>
      %421 = "stablehlo.convert"(%418) : (tensor<6xui64>) -> tensor<6xui32>
      %422 = "stablehlo.convert"(%414) : (tensor<6xui32>) -> tensor<6xui64>
      %423 = stablehlo.multiply %422, %348 : tensor<6xui64>
      %424 = stablehlo.shift_right_logical %423, %329 : tensor<6xui64>
      %425 = "stablehlo.convert"(%424) : (tensor<6xui64>) -> tensor<6xui32>
      %426 = "stablehlo.convert"(%423) : (tensor<6xui64>) -> tensor<6xui32>
      %427 = "stablehlo.broadcast_in_dim"(%415) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %428 = stablehlo.xor %425, %408 : tensor<6xui32>
      %429 = stablehlo.xor %428, %427 : tensor<6xui32>
      %430 = "stablehlo.broadcast_in_dim"(%416) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %431 = stablehlo.xor %420, %403 : tensor<6xui32>
      %432 = stablehlo.xor %431, %430 : tensor<6xui32>
      %433 = stablehlo.add %415, %359 : tensor<ui32>
      %434 = stablehlo.add %416, %361 : tensor<ui32>
      %435 = "stablehlo.convert"(%429) : (tensor<6xui32>) -> tensor<6xui64>
      %436 = stablehlo.multiply %435, %342 : tensor<6xui64>
      %437 = stablehlo.shift_right_logical %436, %329 : tensor<6xui64>
      %438 = "stablehlo.convert"(%437) : (tensor<6xui64>) -> tensor<6xui32>
      %439 = "stablehlo.convert"(%436) : (tensor<6xui64>) -> tensor<6xui32>
      %440 = "stablehlo.convert"(%432) : (tensor<6xui32>) -> tensor<6xui64>
      %441 = stablehlo.multiply %440, %348 : tensor<6xui64>
      %442 = stablehlo.shift_right_logical %441, %329 : tensor<6xui64>
      %443 = "stablehlo.convert"(%442) : (tensor<6xui64>) -> tensor<6xui32>
      %444 = "stablehlo.convert"(%441) : (tensor<6xui64>) -> tensor<6xui32>
      %445 = "stablehlo.broadcast_in_dim"(%433) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %446 = stablehlo.xor %443, %426 : tensor<6xui32>
      %447 = stablehlo.xor %446, %445 : tensor<6xui32>
      %448 = "stablehlo.broadcast_in_dim"(%434) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %449 = stablehlo.xor %438, %421 : tensor<6xui32>
      %450 = stablehlo.xor %449, %448 : tensor<6xui32>
      %451 = stablehlo.add %433, %359 : tensor<ui32>
      %452 = stablehlo.add %434, %361 : tensor<ui32>
      %453 = "stablehlo.convert"(%447) : (tensor<6xui32>) -> tensor<6xui64>
      %454 = stablehlo.multiply %453, %342 : tensor<6xui64>
      %455 = stablehlo.shift_right_logical %454, %329 : tensor<6xui64>
      %456 = "stablehlo.convert"(%455) : (tensor<6xui64>) -> tensor<6xui32>
      %457 = "stablehlo.convert"(%454) : (tensor<6xui64>) -> tensor<6xui32>
      %458 = "stablehlo.convert"(%450) : (tensor<6xui32>) -> tensor<6xui64>
      %459 = stablehlo.multiply %458, %348 : tensor<6xui64>
      %460 = stablehlo.shift_right_logical %459, %329 : tensor<6xui64>
      %461 = "stablehlo.convert"(%460) : (tensor<6xui64>) -> tensor<6xui32>
      %462 = "stablehlo.convert"(%459) : (tensor<6xui64>) -> tensor<6xui32>
      %463 = "stablehlo.broadcast_in_dim"(%451) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %464 = stablehlo.xor %461, %444 : tensor<6xui32>
      %465 = stablehlo.xor %464, %463 : tensor<6xui32>
      %466 = "stablehlo.broadcast_in_dim"(%452) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %467 = stablehlo.xor %456, %439 : tensor<6xui32>
      %468 = stablehlo.xor %467, %466 : tensor<6xui32>
      %469 = stablehlo.add %451, %359 : tensor<ui32>
      %470 = stablehlo.add %452, %361 : tensor<ui32>
      %471 = "stablehlo.convert"(%465) : (tensor<6xui32>) -> tensor<6xui64>
      %472 = stablehlo.multiply %471, %342 : tensor<6xui64>
      %473 = stablehlo.shift_right_logical %472, %329 : tensor<6xui64>
      %474 = "stablehlo.convert"(%473) : (tensor<6xui64>) -> tensor<6xui32>
      %475 = "stablehlo.convert"(%472) : (tensor<6xui64>) -> tensor<6xui32>
      %476 = "stablehlo.convert"(%468) : (tensor<6xui32>) -> tensor<6xui64>
      %477 = stablehlo.multiply %476, %348 : tensor<6xui64>
      %478 = stablehlo.shift_right_logical %477, %329 : tensor<6xui64>
      %479 = "stablehlo.convert"(%478) : (tensor<6xui64>) -> tensor<6xui32>
      %480 = "stablehlo.convert"(%477) : (tensor<6xui64>) -> tensor<6xui32>
      %481 = "stablehlo.broadcast_in_dim"(%469) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %482 = stablehlo.xor %479, %462 : tensor<6xui32>
      %483 = stablehlo.xor %482, %481 : tensor<6xui32>
      %484 = "stablehlo.broadcast_in_dim"(%470) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %485 = stablehlo.xor %474, %457 : tensor<6xui32>
      %486 = stablehlo.xor %485, %484 : tensor<6xui32>
      %487 = stablehlo.add %469, %359 : tensor<ui32>
      %488 = stablehlo.add %470, %361 : tensor<ui32>
      %489 = "stablehlo.convert"(%483) : (tensor<6xui32>) -> tensor<6xui64>
      %490 = stablehlo.multiply %489, %342 : tensor<6xui64>
      %491 = stablehlo.shift_right_logical %490, %329 : tensor<6xui64>
      %492 = "stablehlo.convert"(%491) : (tensor<6xui64>) -> tensor<6xui32>
      %493 = "stablehlo.convert"(%490) : (tensor<6xui64>) -> tensor<6xui32>
      %494 = "stablehlo.convert"(%486) : (tensor<6xui32>) -> tensor<6xui64>
      %495 = stablehlo.multiply %494, %348 : tensor<6xui64>
      %496 = stablehlo.shift_right_logical %495, %329 : tensor<6xui64>
      %497 = "stablehlo.convert"(%496) : (tensor<6xui64>) -> tensor<6xui32>
      %498 = "stablehlo.convert"(%495) : (tensor<6xui64>) -> tensor<6xui32>
      %499 = "stablehlo.broadcast_in_dim"(%487) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %500 = stablehlo.xor %497, %480 : tensor<6xui32>
      %501 = stablehlo.xor %500, %499 : tensor<6xui32>
      %502 = "stablehlo.broadcast_in_dim"(%488) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %503 = stablehlo.xor %492, %475 : tensor<6xui32>
      %504 = stablehlo.xor %503, %502 : tensor<6xui32>
      %505 = stablehlo.add %487, %359 : tensor<ui32>
      %506 = stablehlo.add %488, %361 : tensor<ui32>
      %507 = "stablehlo.convert"(%501) : (tensor<6xui32>) -> tensor<6xui64>
      %508 = stablehlo.multiply %507, %342 : tensor<6xui64>
      %509 = stablehlo.shift_right_logical %508, %329 : tensor<6xui64>
      %510 = "stablehlo.convert"(%509) : (tensor<6xui64>) -> tensor<6xui32>
      %511 = "stablehlo.convert"(%508) : (tensor<6xui64>) -> tensor<6xui32>
      %512 = "stablehlo.convert"(%504) : (tensor<6xui32>) -> tensor<6xui64>
      %513 = stablehlo.multiply %512, %348 : tensor<6xui64>
      %514 = stablehlo.shift_right_logical %513, %329 : tensor<6xui64>
      %515 = "stablehlo.convert"(%514) : (tensor<6xui64>) -> tensor<6xui32>
      %516 = "stablehlo.convert"(%513) : (tensor<6xui64>) -> tensor<6xui32>
      %517 = "stablehlo.broadcast_in_dim"(%505) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %518 = stablehlo.xor %515, %498 : tensor<6xui32>
      %519 = stablehlo.xor %518, %517 : tensor<6xui32>
      %520 = "stablehlo.broadcast_in_dim"(%506) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<6xui32>
      %521 = stablehlo.xor %510, %493 : tensor<6xui32>
      %522 = stablehlo.xor %521, %520 : tensor<6xui32>
      %523 = stablehlo.add %505, %359 : tensor<ui32>
      %524 = stablehlo.add %506, %361 : tensor<ui32>
      %525 = "stablehlo.reshape"(%519) : (tensor<6xui32>) -> tensor<2x3xui32>
      %526 = "stablehlo.reshape"(%516) : (tensor<6xui32>) -> tensor<2x3xui32>
      %527 = stablehlo.constant dense<9> : tensor<2x3xui32>
      %528 = stablehlo.shift_right_logical %525, %527 : tensor<2x3xui32>
      %529 = "stablehlo.convert"(%528) : (tensor<2x3xui32>) -> tensor<2x3xf32>
      %530 = stablehlo.constant dense<1.1920929e-07> : tensor<2x3xf32>
      %531 = stablehlo.constant dense<0.5> : tensor<2x3xf32>
      %532 = stablehlo.add %529, %531 : tensor<2x3xf32>
      %533 = stablehlo.multiply %532, %530 : tensor<2x3xf32>
      %534 = stablehlo.shift_right_logical %526, %527 : tensor<2x3xui32>
      %535 = "stablehlo.convert"(%534) : (tensor<2x3xui32>) -> tensor<2x3xf32>
      %536 = stablehlo.add %535, %531 : tensor<2x3xf32>
      %537 = stablehlo.multiply %536, %530 : tensor<2x3xf32>
      %538 = stablehlo.sqrt %314 : tensor<2x3xf32>
      %539 = stablehlo.constant dense<2.53> : tensor<2x3xf32>
      %540 = stablehlo.multiply %539, %538 : tensor<2x3xf32>
      %541 = stablehlo.constant dense<0.931> : tensor<2x3xf32>
      %542 = stablehlo.add %541, %540 : tensor<2x3xf32>
      %543 = stablehlo.constant dense<0.02483> : tensor<2x3xf32>
      %544 = stablehlo.multiply %543, %542 : tensor<2x3xf32>
      %545 = stablehlo.constant dense<-0.059> : tensor<2x3xf32>
      %546 = stablehlo.add %545, %544 : tensor<2x3xf32>
      %547 = stablehlo.constant dense<3.4> : tensor<2x3xf32>
      %548 = stablehlo.subtract %542, %547 : tensor<2x3xf32>
      %549 = stablehlo.constant dense<1.1328> : tensor<2x3xf32>
      %550 = stablehlo.divide %549, %548 : tensor<2x3xf32>
      %551 = stablehlo.constant dense<1.1239> : tensor<2x3xf32>
      %552 = stablehlo.add %551, %550 : tensor<2x3xf32>
      %553 = stablehlo.constant dense<2.0> : tensor<2x3xf32>
      %554 = stablehlo.subtract %542, %553 : tensor<2x3xf32>
      %555 = stablehlo.constant dense<3.6224> : tensor<2x3xf32>
      %556 = stablehlo.divide %555, %554 : tensor<2x3xf32>
      %557 = stablehlo.constant dense<0.9277> : tensor<2x3xf32>
      %558 = stablehlo.subtract %557, %556 : tensor<2x3xf32>
      %559 = stablehlo.constant dense<0.43> : tensor<2x3xf32>
      %560 = stablehlo.add %314, %559 : tensor<2x3xf32>
      %561 = stablehlo.subtract %533, %531 : tensor<2x3xf32>
      %562 = stablehlo.abs %561 : tensor<2x3xf32>
      %563 = stablehlo.subtract %531, %562 : tensor<2x3xf32>
      %564 = stablehlo.divide %546, %563 : tensor<2x3xf32>
      %565 = stablehlo.multiply %564, %553 : tensor<2x3xf32>
      %566 = stablehlo.add %565, %542 : tensor<2x3xf32>
      %567 = stablehlo.multiply %566, %561 : tensor<2x3xf32>
      %568 = stablehlo.add %567, %560 : tensor<2x3xf32>
      %569 = stablehlo.floor %568 : tensor<2x3xf32>
      %570 = "stablehlo.compare"(%537, %558) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %571 = stablehlo.constant dense<0.07> : tensor<2x3xf32>
      %572 = "stablehlo.compare"(%563, %571) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %573 = stablehlo.and %572, %570 : tensor<2x3xi1>
      %574 = "stablehlo.compare"(%537, %563) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %575 = stablehlo.constant dense<0.013> : tensor<2x3xf32>
      %576 = "stablehlo.compare"(%563, %575) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %577 = stablehlo.and %576, %574 : tensor<2x3xi1>
      %578 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
      %579 = "stablehlo.compare"(%569, %578) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %580 = stablehlo.or %579, %577 : tensor<2x3xi1>
      %581 = stablehlo.multiply %563, %563 : tensor<2x3xf32>
      %582 = stablehlo.divide %546, %581 : tensor<2x3xf32>
      %583 = stablehlo.add %582, %542 : tensor<2x3xf32>
      %584 = stablehlo.multiply %537, %552 : tensor<2x3xf32>
      %585 = stablehlo.divide %584, %583 : tensor<2x3xf32>
      %586 = stablehlo.log %585 : tensor<2x3xf32>
      %587 = stablehlo.constant dense<1.0> : tensor<2x3xf32>
      %588 = stablehlo.add %569, %587 : tensor<2x3xf32>
      %589 = "chlo.lgamma"(%588) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %590 = stablehlo.log %314 : tensor<2x3xf32>
      %591 = stablehlo.multiply %569, %590 : tensor<2x3xf32>
      %592 = stablehlo.subtract %591, %314 : tensor<2x3xf32>
      %593 = stablehlo.subtract %592, %589 : tensor<2x3xf32>
      %594 = stablehlo.divide %587, %569 : tensor<2x3xf32>
      %595 = stablehlo.multiply %594, %594 : tensor<2x3xf32>
      %596 = stablehlo.constant dense<-0.0005952381> : tensor<2x3xf32>
      %597 = stablehlo.constant dense<0.0007936508> : tensor<2x3xf32>
      %598 = stablehlo.multiply %596, %595 : tensor<2x3xf32>
      %599 = stablehlo.add %598, %597 : tensor<2x3xf32>
      %600 = stablehlo.constant dense<-0.0027777778> : tensor<2x3xf32>
      %601 = stablehlo.multiply %599, %595 : tensor<2x3xf32>
      %602 = stablehlo.add %601, %600 : tensor<2x3xf32>
      %603 = stablehlo.constant dense<0.083333336> : tensor<2x3xf32>
      %604 = stablehlo.multiply %602, %595 : tensor<2x3xf32>
      %605 = stablehlo.add %604, %603 : tensor<2x3xf32>
      %606 = stablehlo.multiply %594, %605 : tensor<2x3xf32>
      %607 = stablehlo.constant dense<6.2831855> : tensor<2x3xf32>
      %608 = stablehlo.multiply %569, %607 : tensor<2x3xf32>
      %609 = stablehlo.log %608 : tensor<2x3xf32>
      %610 = stablehlo.multiply %531, %609 : tensor<2x3xf32>
      %611 = stablehlo.subtract %569, %314 : tensor<2x3xf32>
      %612 = stablehlo.divide %611, %314 : tensor<2x3xf32>
      %613 = stablehlo.constant dense<-0.004761905> : tensor<2x3xf32>
      %614 = stablehlo.constant dense<0.0054945056> : tensor<2x3xf32>
      %615 = stablehlo.multiply %613, %612 : tensor<2x3xf32>
      %616 = stablehlo.add %615, %614 : tensor<2x3xf32>
      %617 = stablehlo.constant dense<-0.0064102565> : tensor<2x3xf32>
      %618 = stablehlo.multiply %616, %612 : tensor<2x3xf32>
      %619 = stablehlo.add %618, %617 : tensor<2x3xf32>
      %620 = stablehlo.constant dense<0.007575758> : tensor<2x3xf32>
      %621 = stablehlo.multiply %619, %612 : tensor<2x3xf32>
      %622 = stablehlo.add %621, %620 : tensor<2x3xf32>
      %623 = stablehlo.constant dense<-0.009090909> : tensor<2x3xf32>
      %624 = stablehlo.multiply %622, %612 : tensor<2x3xf32>
      %625 = stablehlo.add %624, %623 : tensor<2x3xf32>
      %626 = stablehlo.constant dense<0.011111111> : tensor<2x3xf32>
      %627 = stablehlo.multiply %625, %612 : tensor<2x3xf32>
      %628 = stablehlo.add %627, %626 : tensor<2x3xf32>
      %629 = stablehlo.constant dense<-0.013888889> : tensor<2x3xf32>
      %630 = stablehlo.multiply %628, %612 : tensor<2x3xf32>
      %631 = stablehlo.add %630, %629 : tensor<2x3xf32>
      %632 = stablehlo.constant dense<0.017857144> : tensor<2x3xf32>
      %633 = stablehlo.multiply %631, %612 : tensor<2x3xf32>
      %634 = stablehlo.add %633, %632 : tensor<2x3xf32>
      %635 = stablehlo.constant dense<-0.023809524> : tensor<2x3xf32>
      %636 = stablehlo.multiply %634, %612 : tensor<2x3xf32>
      %637 = stablehlo.add %636, %635 : tensor<2x3xf32>
      %638 = stablehlo.constant dense<0.033333335> : tensor<2x3xf32>
      %639 = stablehlo.multiply %637, %612 : tensor<2x3xf32>
      %640 = stablehlo.add %639, %638 : tensor<2x3xf32>
      %641 = stablehlo.constant dense<-0.05> : tensor<2x3xf32>
      %642 = stablehlo.multiply %640, %612 : tensor<2x3xf32>
      %643 = stablehlo.add %642, %641 : tensor<2x3xf32>
      %644 = stablehlo.multiply %643, %612 : tensor<2x3xf32>
      %645 = stablehlo.add %644, %603 : tensor<2x3xf32>
      %646 = stablehlo.constant dense<-0.16666667> : tensor<2x3xf32>
      %647 = stablehlo.multiply %645, %612 : tensor<2x3xf32>
      %648 = stablehlo.add %647, %646 : tensor<2x3xf32>
      %649 = stablehlo.multiply %648, %612 : tensor<2x3xf32>
      %650 = stablehlo.add %649, %531 : tensor<2x3xf32>
      %651 = stablehlo.multiply %612, %612 : tensor<2x3xf32>
      %652 = stablehlo.multiply %651, %650 : tensor<2x3xf32>
      %653 = stablehlo.add %587, %612 : tensor<2x3xf32>
      %654 = stablehlo.subtract %653, %587 : tensor<2x3xf32>
      %655 = stablehlo.divide %612, %654 : tensor<2x3xf32>
      %656 = stablehlo.log %653 : tensor<2x3xf32>
      %657 = stablehlo.multiply %656, %655 : tensor<2x3xf32>
      %658 = stablehlo.log %653 : tensor<2x3xf32>
      %659 = "stablehlo.compare"(%654, %612) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %660 = "stablehlo.select"(%659, %658, %657) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %661 = "stablehlo.compare"(%653, %587) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %662 = "stablehlo.select"(%661, %612, %660) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %663 = stablehlo.add %587, %612 : tensor<2x3xf32>
      %664 = stablehlo.multiply %663, %662 : tensor<2x3xf32>
      %665 = stablehlo.subtract %664, %612 : tensor<2x3xf32>
      %666 = stablehlo.abs %612 : tensor<2x3xf32>
      %667 = stablehlo.constant dense<0.1> : tensor<2x3xf32>
      %668 = "stablehlo.compare"(%666, %667) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %669 = "stablehlo.select"(%668, %652, %665) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %670 = stablehlo.multiply %314, %669 : tensor<2x3xf32>
      %671 = stablehlo.negate %670 : tensor<2x3xf32>
      %672 = stablehlo.subtract %671, %606 : tensor<2x3xf32>
      %673 = stablehlo.subtract %672, %610 : tensor<2x3xf32>
      %674 = stablehlo.constant dense<16.0> : tensor<2x3xf32>
      %675 = "stablehlo.compare"(%569, %674) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %676 = "stablehlo.select"(%675, %593, %673) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %677 = "stablehlo.compare"(%586, %676) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %678 = stablehlo.not %580 : tensor<2x3xi1>
      %679 = stablehlo.and %678, %677 : tensor<2x3xi1>
      %680 = stablehlo.or %573, %679 : tensor<2x3xi1>
      %681 = stablehlo.and %311, %680 : tensor<2x3xi1>
      %682 = stablehlo.constant dense<1> : tensor<i32>
      %683 = stablehlo.add %310, %682 : tensor<i32>
      %684 = stablehlo.not %681 : tensor<2x3xi1>
      %685 = stablehlo.and %311, %684 : tensor<2x3xi1>
      %686 = "stablehlo.select"(%681, %569, %312) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      stablehlo.return %683, %685, %686, %313, %314 : tensor<i32>, tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xui64>, tensor<2x3xf32>
    }) : (tensor<i32>, tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xui64>, tensor<2x3xf32>) -> (tensor<i32>, tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xui64>, tensor<2x3xf32>)
    %692 = "stablehlo.select"(%20, %689, %arg0) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %693 = "stablehlo.select"(%17, %289, %692) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %694 = stablehlo.constant dense<0> : tensor<2xi64>
    %695 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %696 = "stablehlo.reshape"(%13) : (tensor<i64>) -> tensor<1xi64>
    %697 = "stablehlo.concatenate"(%695, %696) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %698 = "stablehlo.select"(%14, %697, %694) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    return %693, %698 : tensor<2x3xf32>, tensor<2xi64>
  }
}
