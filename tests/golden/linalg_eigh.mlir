// in0: float32[2, 4, 4]
// aten::_linalg_eigh.eigenvalues(A: float32[2, 4, 4], UPLO: 'L', compute_v: True)
//   operand 0 = in0
//   result 0 replaces float32[2, 4]
//   result 1 replaces float32[2, 4, 4]
module @main {
  func.func public @main(%arg0: tensor<2x4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4x4xf32>, tensor<2xi64>) {
    %1 = stablehlo.constant dense<> : tensor<0xf32>
    %2 = stablehlo.constant dense<0.0> : tensor<2x4x4xf32>
    %3 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x4xi32>
    %4 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x4xi32>
    %5 = "stablehlo.compare"(%3, %4) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %6 = "stablehlo.select"(%5, %arg0, %2) : (tensor<2x4x4xi1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %7 = "stablehlo.transpose"(%6) {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %8 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x4xi32>
    %9 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x4xi32>
    %10 = "stablehlo.compare"(%9, %8) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %11 = stablehlo.add %6, %7 : tensor<2x4x4xf32>
    %12 = "stablehlo.select"(%10, %6, %11) : (tensor<2x4x4xi1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %13 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x4xi32>
    %14 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x4xi32>
    %15 = "stablehlo.compare"(%14, %13) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %16 = "stablehlo.convert"(%15) : (tensor<2x4x4xi1>) -> tensor<2x4x4xf32>
    %17 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.abs %12 : tensor<2x4x4xf32>
    %19 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = "stablehlo.reduce"(%18, %19) ({
    ^bb0(%20: tensor<f32>, %21: tensor<f32>):
      %22 = stablehlo.maximum %20, %21 : tensor<f32>
      stablehlo.return %22 : tensor<f32>
    }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2xf32>)
    %24 = stablehlo.constant dense<0.0> : tensor<2xf32>
    %25 = "stablehlo.compare"(%23, %24) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %26 = stablehlo.constant dense<1.0> : tensor<2xf32>
    %27 = "stablehlo.select"(%25, %26, %23) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4x4xf32>
    %29 = stablehlo.divide %18, %28 : tensor<2x4x4xf32>
    %30 = stablehlo.multiply %29, %29 : tensor<2x4x4xf32>
    %31 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x4xi32>
    %32 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x4xi32>
    %33 = "stablehlo.compare"(%32, %31) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %34 = "stablehlo.select"(%33, %2, %30) : (tensor<2x4x4xi1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %35 = stablehlo.constant dense<0.0> : tensor<f32>
    %39 = "stablehlo.reduce"(%30, %35) ({
    ^bb0(%36: tensor<f32>, %37: tensor<f32>):
      %38 = stablehlo.add %36, %37 : tensor<f32>
      stablehlo.return %38 : tensor<f32>
    }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2xf32>)
    %43 = "stablehlo.reduce"(%34, %35) ({
    ^bb0(%40: tensor<f32>, %41: tensor<f32>):
      %42 = stablehlo.add %40, %41 : tensor<f32>
      stablehlo.return %42 : tensor<f32>
    }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2xf32>)
    %44 = stablehlo.constant dense<3.6e-15> : tensor<2xf32>
    %45 = stablehlo.multiply %39, %44 : tensor<2xf32>
    %46 = "stablehlo.compare"(%43, %45) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %47 = stablehlo.constant dense<false> : tensor<i1>
    %51 = "stablehlo.reduce"(%46, %47) ({
    ^bb0(%48: tensor<i1>, %49: tensor<i1>):
      %50 = stablehlo.or %48, %49 : tensor<i1>
      stablehlo.return %50 : tensor<i1>
    }) {dimensions = array<i64: 0>} : (tensor<2xi1>, tensor<i1>) -> (tensor<i1>)
    %219, %220, %221, %222 = "stablehlo.while"(%17, %51, %12, %16) ({
    ^bb0(%52: tensor<i32>, %53: tensor<i1>, %54: tensor<2x4x4xf32>, %55: tensor<2x4x4xf32>):
      %56 = stablehlo.constant dense<30> : tensor<i32>
      %57 = "stablehlo.compare"(%52, %56) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %58 = stablehlo.and %57, %53 : tensor<i1>
      stablehlo.return %58 : tensor<i1>
    }, {
    ^bb0(%59: tensor<i32>, %60: tensor<i1>, %61: tensor<2x4x4xf32>, %62: tensor<2x4x4xf32>):
      %63 = stablehlo.constant dense<3> : tensor<i32>
      %64 = stablehlo.constant dense<0> : tensor<i32>
      %178, %179, %180, %181 = "stablehlo.while"(%64, %63, %61, %62) ({
      ^bb0(%65: tensor<i32>, %66: tensor<i32>, %67: tensor<2x4x4xf32>, %68: tensor<2x4x4xf32>):
        %69 = "stablehlo.compare"(%65, %66) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %69 : tensor<i1>
      }, {
      ^bb0(%70: tensor<i32>, %71: tensor<i32>, %72: tensor<2x4x4xf32>, %73: tensor<2x4x4xf32>):
        %74 = stablehlo.constant dense<1> : tensor<i32>
        %75 = stablehlo.add %70, %74 : tensor<i32>
        %76 = "stablehlo.slice"(%72) {limit_indices = array<i64: 2, 2, 2>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x2xf32>
        %77 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x2x2xi32>
        %78 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x2x2xi32>
        %79 = stablehlo.constant dense<0.0> : tensor<2x2x2xf32>
        %80 = "stablehlo.compare"(%77, %78) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi1>
        %81 = "stablehlo.select"(%80, %76, %79) : (tensor<2x2x2xi1>, tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %82 = stablehlo.constant dense<0.0> : tensor<f32>
        %86 = "stablehlo.reduce"(%81, %82) ({
        ^bb0(%83: tensor<f32>, %84: tensor<f32>):
          %85 = stablehlo.add %83, %84 : tensor<f32>
          stablehlo.return %85 : tensor<f32>
        }) {dimensions = array<i64: 2>} : (tensor<2x2x2xf32>, tensor<f32>) -> (tensor<2x2xf32>)
        %87 = "stablehlo.slice"(%72) {limit_indices = array<i64: 2, 4, 4>, start_indices = array<i64: 0, 2, 2>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x2xf32>
        %88 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x2x2xi32>
        %89 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x2x2xi32>
        %90 = "stablehlo.compare"(%88, %89) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi1>
        %91 = "stablehlo.select"(%90, %87, %79) : (tensor<2x2x2xi1>, tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %95 = "stablehlo.reduce"(%91, %82) ({
        ^bb0(%92: tensor<f32>, %93: tensor<f32>):
          %94 = stablehlo.add %92, %93 : tensor<f32>
          stablehlo.return %94 : tensor<f32>
        }) {dimensions = array<i64: 2>} : (tensor<2x2x2xf32>, tensor<f32>) -> (tensor<2x2xf32>)
        %96 = "stablehlo.slice"(%72) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 0, 2>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x2xf32>
        %97 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x2x2xi32>
        %98 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x2x2xi32>
        %99 = "stablehlo.compare"(%97, %98) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi1>
        %100 = "stablehlo.select"(%99, %96, %79) : (tensor<2x2x2xi1>, tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %104 = "stablehlo.reduce"(%100, %82) ({
        ^bb0(%101: tensor<f32>, %102: tensor<f32>):
          %103 = stablehlo.add %101, %102 : tensor<f32>
          stablehlo.return %103 : tensor<f32>
        }) {dimensions = array<i64: 2>} : (tensor<2x2x2xf32>, tensor<f32>) -> (tensor<2x2xf32>)
        %105 = stablehlo.abs %104 : tensor<2x2xf32>
        %106 = stablehlo.constant dense<1.0> : tensor<2x2xf32>
        %107 = stablehlo.constant dense<0.0> : tensor<2x2xf32>
        %108 = "stablehlo.compare"(%105, %107) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
        %109 = "stablehlo.select"(%108, %106, %105) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        %110 = stablehlo.add %109, %109 : tensor<2x2xf32>
        %111 = stablehlo.subtract %95, %86 : tensor<2x2xf32>
        %112 = stablehlo.divide %111, %110 : tensor<2x2xf32>
        %113 = stablehlo.multiply %112, %112 : tensor<2x2xf32>
        %114 = stablehlo.add %106, %113 : tensor<2x2xf32>
        %115 = stablehlo.sqrt %114 : tensor<2x2xf32>
        %116 = stablehlo.abs %112 : tensor<2x2xf32>
        %117 = stablehlo.add %116, %115 : tensor<2x2xf32>
        %118 = stablehlo.divide %106, %117 : tensor<2x2xf32>
        %119 = stablehlo.negate %118 : tensor<2x2xf32>
        %120 = "stablehlo.compare"(%112, %107) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
        %121 = "stablehlo.select"(%120, %119, %118) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        %122 = "stablehlo.select"(%108, %107, %121) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        %123 = stablehlo.multiply %122, %122 : tensor<2x2xf32>
        %124 = stablehlo.add %106, %123 : tensor<2x2xf32>
        %125 = stablehlo.rsqrt %124 : tensor<2x2xf32>
        %126 = stablehlo.divide %104, %109 : tensor<2x2xf32>
        %127 = stablehlo.multiply %122, %125 : tensor<2x2xf32>
        %128 = stablehlo.multiply %127, %126 : tensor<2x2xf32>
        %129 = "stablehlo.slice"(%72) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x4xf32>
        %130 = "stablehlo.slice"(%72) {limit_indices = array<i64: 2, 4, 4>, start_indices = array<i64: 0, 2, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x4xf32>
        %131 = "stablehlo.broadcast_in_dim"(%125) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
        %132 = "stablehlo.broadcast_in_dim"(%128) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
        %133 = stablehlo.multiply %132, %130 : tensor<2x2x4xf32>
        %134 = stablehlo.multiply %131, %129 : tensor<2x2x4xf32>
        %135 = stablehlo.subtract %134, %133 : tensor<2x2x4xf32>
        %136 = stablehlo.multiply %131, %130 : tensor<2x2x4xf32>
        %137 = stablehlo.multiply %132, %129 : tensor<2x2x4xf32>
        %138 = stablehlo.add %137, %136 : tensor<2x2x4xf32>
        %139 = "stablehlo.slice"(%135) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %140 = "stablehlo.slice"(%138) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %141 = "stablehlo.slice"(%135) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x0x4xf32>
        %142 = "stablehlo.slice"(%138) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %143 = "stablehlo.slice"(%135) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %144 = "stablehlo.concatenate"(%139, %140, %141, %142, %143) {dimension = 1 : i64} : (tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x0x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
        %145 = "stablehlo.transpose"(%144) {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
        %146 = "stablehlo.slice"(%145) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x4xf32>
        %147 = "stablehlo.slice"(%145) {limit_indices = array<i64: 2, 4, 4>, start_indices = array<i64: 0, 2, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x4xf32>
        %148 = "stablehlo.broadcast_in_dim"(%125) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
        %149 = "stablehlo.broadcast_in_dim"(%128) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
        %150 = stablehlo.multiply %149, %147 : tensor<2x2x4xf32>
        %151 = stablehlo.multiply %148, %146 : tensor<2x2x4xf32>
        %152 = stablehlo.subtract %151, %150 : tensor<2x2x4xf32>
        %153 = stablehlo.multiply %148, %147 : tensor<2x2x4xf32>
        %154 = stablehlo.multiply %149, %146 : tensor<2x2x4xf32>
        %155 = stablehlo.add %154, %153 : tensor<2x2x4xf32>
        %156 = "stablehlo.slice"(%152) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %157 = "stablehlo.slice"(%155) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %158 = "stablehlo.slice"(%152) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x0x4xf32>
        %159 = "stablehlo.slice"(%155) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %160 = "stablehlo.slice"(%152) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %161 = "stablehlo.concatenate"(%156, %157, %158, %159, %160) {dimension = 1 : i64} : (tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x0x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
        %162 = "stablehlo.slice"(%73) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x4xf32>
        %163 = "stablehlo.slice"(%73) {limit_indices = array<i64: 2, 4, 4>, start_indices = array<i64: 0, 2, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x4xf32>) -> tensor<2x2x4xf32>
        %164 = "stablehlo.broadcast_in_dim"(%125) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
        %165 = "stablehlo.broadcast_in_dim"(%128) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x4xf32>
        %166 = stablehlo.multiply %165, %163 : tensor<2x2x4xf32>
        %167 = stablehlo.multiply %164, %162 : tensor<2x2x4xf32>
        %168 = stablehlo.subtract %167, %166 : tensor<2x2x4xf32>
        %169 = stablehlo.multiply %164, %163 : tensor<2x2x4xf32>
        %170 = stablehlo.multiply %165, %162 : tensor<2x2x4xf32>
        %171 = stablehlo.add %170, %169 : tensor<2x2x4xf32>
        %172 = "stablehlo.slice"(%168) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %173 = "stablehlo.slice"(%171) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %174 = "stablehlo.slice"(%168) {limit_indices = array<i64: 2, 1, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x0x4xf32>
        %175 = "stablehlo.slice"(%171) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %176 = "stablehlo.slice"(%168) {limit_indices = array<i64: 2, 2, 4>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
        %177 = "stablehlo.concatenate"(%172, %173, %174, %175, %176) {dimension = 1 : i64} : (tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x0x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
        stablehlo.return %75, %71, %161, %177 : tensor<i32>, tensor<i32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
      }) : (tensor<i32>, tensor<i32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> (tensor<i32>, tensor<i32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>)
      %182 = stablehlo.constant dense<1> : tensor<i32>
      %183 = stablehlo.add %59, %182 : tensor<i32>
      %184 = stablehlo.abs %180 : tensor<2x4x4xf32>
      %185 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %189 = "stablehlo.reduce"(%184, %185) ({
      ^bb0(%186: tensor<f32>, %187: tensor<f32>):
        %188 = stablehlo.maximum %186, %187 : tensor<f32>
        stablehlo.return %188 : tensor<f32>
      }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %190 = stablehlo.constant dense<0.0> : tensor<2xf32>
      %191 = "stablehlo.compare"(%189, %190) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      %192 = stablehlo.constant dense<1.0> : tensor<2xf32>
      %193 = "stablehlo.select"(%191, %192, %189) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %194 = "stablehlo.broadcast_in_dim"(%193) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4x4xf32>
      %195 = stablehlo.divide %184, %194 : tensor<2x4x4xf32>
      %196 = stablehlo.multiply %195, %195 : tensor<2x4x4xf32>
      %197 = stablehlo.constant dense<0.0> : tensor<2x4x4xf32>
      %198 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x4xi32>
      %199 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x4xi32>
      %200 = "stablehlo.compare"(%199, %198) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
      %201 = "stablehlo.select"(%200, %197, %196) : (tensor<2x4x4xi1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
      %202 = stablehlo.constant dense<0.0> : tensor<f32>
      %206 = "stablehlo.reduce"(%196, %202) ({
      ^bb0(%203: tensor<f32>, %204: tensor<f32>):
        %205 = stablehlo.add %203, %204 : tensor<f32>
        stablehlo.return %205 : tensor<f32>
      }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %210 = "stablehlo.reduce"(%201, %202) ({
      ^bb0(%207: tensor<f32>, %208: tensor<f32>):
        %209 = stablehlo.add %207, %208 : tensor<f32>
        stablehlo.return %209 : tensor<f32>
      }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2xf32>)
      %211 = stablehlo.constant dense<3.6e-15> : tensor<2xf32>
      %212 = stablehlo.multiply %206, %211 : tensor<2xf32>
      %213 = "stablehlo.compare"(%210, %212) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      %214 = stablehlo.constant dense<false> : tensor<i1>
      %218 = "stablehlo.reduce"(%213, %214) ({
      ^bb0(%215: tensor<i1>, %216: tensor<i1>):
        %217 = stablehlo.or %215, %216 : tensor<i1>
        stablehlo.return %217 : tensor<i1>
      }) {dimensions = array<i64: 0>} : (tensor<2xi1>, tensor<i1>) -> (tensor<i1>)
      stablehlo.return %183, %218, %180, %181 : tensor<i32>, tensor<i1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
    }) : (tensor<i32>, tensor<i1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> (tensor<i32>, tensor<i1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>)
    %223 = stablehlo.abs %221 : tensor<2x4x4xf32>
    %224 = "stablehlo.is_finite"(%223) : (tensor<2x4x4xf32>) -> tensor<2x4x4xi1>
    %225 = stablehlo.not %224 : tensor<2x4x4xi1>
    %229 = "stablehlo.reduce"(%225, %47) ({
    ^bb0(%226: tensor<i1>, %227: tensor<i1>):
      %228 = stablehlo.or %226, %227 : tensor<i1>
      stablehlo.return %228 : tensor<i1>
    }) {dimensions = array<i64: 1, 2>} : (tensor<2x4x4xi1>, tensor<i1>) -> (tensor<2xi1>)
    %230 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<2xi64>
    %231 = stablehlo.constant dense<2> : tensor<2xi64>
    %232 = "stablehlo.select"(%229, %230, %231) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %233 = stablehlo.constant dense<9223372036854775807> : tensor<i64>
    %237 = "stablehlo.reduce"(%232, %233) ({
    ^bb0(%234: tensor<i64>, %235: tensor<i64>):
      %236 = stablehlo.minimum %234, %235 : tensor<i64>
      stablehlo.return %236 : tensor<i64>
    }) {dimensions = array<i64: 0>} : (tensor<2xi64>, tensor<i64>) -> (tensor<i64>)
    %238 = "stablehlo.reshape"(%237) : (tensor<i64>) -> tensor<1xi64>
    %239 = stablehlo.constant dense<2> : tensor<1xi64>
    %240 = "stablehlo.compare"(%238, %239) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %241 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %242 = stablehlo.constant dense<-9223372036854775807> : tensor<1xi64>
    %243 = stablehlo.maximum %238, %242 : tensor<1xi64>
    %244 = "stablehlo.broadcast_in_dim"(%241) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %245 = "stablehlo.select"(%240, %243, %244) : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %249 = "stablehlo.reduce"(%245, %241) ({
    ^bb0(%246: tensor<i64>, %247: tensor<i64>):
      %248 = stablehlo.maximum %246, %247 : tensor<i64>
      stablehlo.return %248 : tensor<i64>
    }) {dimensions = array<i64: 0>} : (tensor<1xi64>, tensor<i64>) -> (tensor<i64>)
    %250 = "stablehlo.compare"(%249, %241) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %251 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4x4xi32>
    %252 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x4x4xi32>
    %253 = "stablehlo.compare"(%251, %252) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %254 = "stablehlo.select"(%253, %221, %2) : (tensor<2x4x4xi1>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %258 = "stablehlo.reduce"(%254, %35) ({
    ^bb0(%255: tensor<f32>, %256: tensor<f32>):
      %257 = stablehlo.add %255, %256 : tensor<f32>
      stablehlo.return %257 : tensor<f32>
    }) {dimensions = array<i64: 2>} : (tensor<2x4x4xf32>, tensor<f32>) -> (tensor<2x4xf32>)
    %259 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x4xi32>
    %265, %266 = "stablehlo.sort"(%258, %259) ({
    ^bb0(%260: tensor<f32>, %261: tensor<f32>, %262: tensor<i32>, %263: tensor<i32>):
      %264 = "stablehlo.compare"(%260, %261) {compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %264 : tensor<i1>
    }) {dimension = 1 : i64, is_stable = true} : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
    %267 = "stablehlo.gather"(%222, %266) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>} : (tensor<2x4x4xf32>, tensor<2x4xi32>) -> tensor<2x4x4xf32>
    %268 = "stablehlo.transpose"(%267) {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %269 = stablehlo.constant dense<0> : tensor<2xi64>
    %270 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %271 = "stablehlo.reshape"(%249) : (tensor<i64>) -> tensor<1xi64>
    %272 = "stablehlo.concatenate"(%270, %271) {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %273 = "stablehlo.select"(%250, %272, %269) : (tensor<i1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    return %265, %268, %273 : tensor<2x4xf32>, tensor<2x4x4xf32>, tensor<2xi64>
  }
}
