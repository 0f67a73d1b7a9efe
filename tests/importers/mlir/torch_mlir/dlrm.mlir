#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2) -> (d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map6 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @main(%arg0: tensor<4x5xf32>, %arg1: tensor<4x3xi64>, %arg2: tensor<4x2xi64>) -> tensor<4x1xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c8_i64 = arith.constant 8 : i64
    %c4_i64 = arith.constant 4 : i64
    %c3_i64 = arith.constant 3 : i64
    %c12_i64 = arith.constant 12 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 2.500000e-01 : f64
    %cst_2 = arith.constant 2.000000e+00 : f64
    %cst_3 = arith.constant 5.000000e-01 : f64
    %cst_4 = arith.constant dense<-0.200727925> : tensor<1xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_1_6_torch.float32> : tensor<1x6xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_6_7_torch.float32> : tensor<6x7xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_6_4_torch.float32> : tensor<6x4xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_9_4_torch.float32> : tensor<9x4xf32>
    %cst_10 = arith.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %cst_11 = arith.constant dense_resource<torch_tensor_4_8_torch.float32> : tensor<4x8xf32>
    %cst_12 = arith.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_13 = arith.constant dense_resource<torch_tensor_8_5_torch.float32> : tensor<8x5xf32>
    %cst_14 = arith.constant 0.000000e+00 : f64
    %cst_15 = arith.constant 1.000000e+00 : f64
    %0 = tensor.empty() : tensor<5x8xf32>
    %transposed = linalg.transpose ins(%cst_13 : tensor<8x5xf32>) outs(%0 : tensor<5x8xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<4x8xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<4x5xf32>, tensor<5x8xf32>) outs(%2 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_12 : tensor<4x8xf32>, tensor<8xf32>) outs(%1 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %51 = arith.addf %in, %in_29 : f32
      linalg.yield %51 : f32
    } -> tensor<4x8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4x8xf32>) outs(%1 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.cmpf ugt, %in, %cst : f32
      %52 = arith.select %51, %in, %cst : f32
      linalg.yield %52 : f32
    } -> tensor<4x8xf32>
    %6 = tensor.empty() : tensor<8x4xf32>
    %transposed_16 = linalg.transpose ins(%cst_11 : tensor<4x8xf32>) outs(%6 : tensor<8x4xf32>) permutation = [1, 0] 
    %7 = tensor.empty() : tensor<4x4xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %9 = linalg.matmul ins(%5, %transposed_16 : tensor<4x8xf32>, tensor<8x4xf32>) outs(%8 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %cst_10 : tensor<4x4xf32>, tensor<4xf32>) outs(%7 : tensor<4x4xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %51 = arith.addf %in, %in_29 : f32
      linalg.yield %51 : f32
    } -> tensor<4x4xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<4x4xf32>) outs(%7 : tensor<4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.cmpf ugt, %in, %cst : f32
      %52 = arith.select %51, %in, %cst : f32
      linalg.yield %52 : f32
    } -> tensor<4x4xf32>
    %12 = tensor.empty() : tensor<4xi64>
    %13 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%12 : tensor<4xi64>) {
    ^bb0(%out: i64):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      %53 = arith.muli %52, %c3_i64 : i64
      linalg.yield %53 : i64
    } -> tensor<4xi64>
    %collapsed = tensor.collapse_shape %arg1 [[0, 1]] : tensor<4x3xi64> into tensor<12xi64>
    %14 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction", "parallel"]} ins(%collapsed, %13 : tensor<12xi64>, tensor<4xi64>) outs(%8 : tensor<4x4xf32>) {
    ^bb0(%in: i64, %in_29: i64, %out: f32):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      %53 = arith.addi %52, %c1_i64 : i64
      %54 = arith.index_cast %53 : i64 to index
      %55 = arith.cmpi eq, %53, %c4_i64 : i64
      %56 = arith.select %55, %c0, %54 : index
      %extracted = tensor.extract %13[%56] : tensor<4xi64>
      %57 = arith.select %55, %c12_i64, %extracted : i64
      %58 = linalg.index 1 : index
      %59 = arith.index_cast %58 : index to i64
      %60 = arith.cmpi slt, %in_29, %59 : i64
      %61 = arith.cmpi eq, %in_29, %59 : i64
      %62 = arith.ori %60, %61 : i1
      %63 = arith.cmpi slt, %59, %57 : i64
      %64 = arith.andi %62, %63 : i1
      %65 = arith.index_cast %in : i64 to index
      %66 = linalg.index 2 : index
      %extracted_30 = tensor.extract %cst_9[%65, %66] : tensor<9x4xf32>
      %67 = arith.addf %extracted_30, %out : f32
      %68 = arith.select %64, %67, %out : f32
      linalg.yield %68 : f32
    } -> tensor<4x4xf32>
    %15 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%12 : tensor<4xi64>) {
    ^bb0(%out: i64):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      %53 = arith.muli %52, %c2_i64 : i64
      linalg.yield %53 : i64
    } -> tensor<4xi64>
    %collapsed_17 = tensor.collapse_shape %arg2 [[0, 1]] : tensor<4x2xi64> into tensor<8xi64>
    %16 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction", "parallel"]} ins(%collapsed_17, %15 : tensor<8xi64>, tensor<4xi64>) outs(%8 : tensor<4x4xf32>) {
    ^bb0(%in: i64, %in_29: i64, %out: f32):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      %53 = arith.addi %52, %c1_i64 : i64
      %54 = arith.index_cast %53 : i64 to index
      %55 = arith.cmpi eq, %53, %c4_i64 : i64
      %56 = arith.select %55, %c0, %54 : index
      %extracted = tensor.extract %15[%56] : tensor<4xi64>
      %57 = arith.select %55, %c8_i64, %extracted : i64
      %58 = linalg.index 1 : index
      %59 = arith.index_cast %58 : index to i64
      %60 = arith.cmpi slt, %in_29, %59 : i64
      %61 = arith.cmpi eq, %in_29, %59 : i64
      %62 = arith.ori %60, %61 : i1
      %63 = arith.cmpi slt, %59, %57 : i64
      %64 = arith.andi %62, %63 : i1
      %65 = arith.index_cast %in : i64 to index
      %66 = linalg.index 2 : index
      %extracted_30 = tensor.extract %cst_8[%65, %66] : tensor<6x4xf32>
      %67 = arith.addf %extracted_30, %out : f32
      %68 = arith.select %64, %67, %out : f32
      linalg.yield %68 : f32
    } -> tensor<4x4xf32>
    %concat = tensor.concat dim(1) %11, %14, %16 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
    %expanded = tensor.expand_shape %concat [[0], [1, 2]] output_shape [4, 3, 4] : tensor<4x12xf32> into tensor<4x3x4xf32>
    %17 = tensor.empty() : tensor<4x4x3xf32>
    %transposed_18 = linalg.transpose ins(%expanded : tensor<4x3x4xf32>) outs(%17 : tensor<4x4x3xf32>) permutation = [0, 2, 1] 
    %18 = tensor.empty() : tensor<4x3x3xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %20 = linalg.batch_matmul ins(%expanded, %transposed_18 : tensor<4x3x4xf32>, tensor<4x4x3xf32>) outs(%19 : tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %21 = tensor.empty() : tensor<3xf64>
    %22 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%21 : tensor<3xf64>) {
    ^bb0(%out: f64):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      %53 = arith.sitofp %52 : i64 to f64
      %54 = arith.addf %53, %cst_14 : f64
      linalg.yield %54 : f64
    } -> tensor<3xf64>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%22 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = arith.mulf %in, %cst_2 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%23 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = arith.addf %in, %cst_1 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %25 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%24 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = math.sqrt %in : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %26 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%25 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = arith.subf %in, %cst_3 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%26 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = math.floor %in : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %28 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%27 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = arith.addf %in, %cst_15 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %29 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%28, %27 : tensor<3xf64>, tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %in_29: f64, %out: f64):
      %51 = arith.mulf %in, %in_29 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %30 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%29 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = arith.mulf %in, %cst_3 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %31 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%22, %30 : tensor<3xf64>, tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %in_29: f64, %out: f64):
      %51 = arith.subf %in, %in_29 : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %32 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%31 : tensor<3xf64>) outs(%21 : tensor<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %51 = math.floor %in : f64
      linalg.yield %51 : f64
    } -> tensor<3xf64>
    %33 = tensor.empty() : tensor<3xi64>
    %34 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%28 : tensor<3xf64>) outs(%33 : tensor<3xi64>) {
    ^bb0(%in: f64, %out: i64):
      %51 = arith.fptosi %in : f64 to i64
      linalg.yield %51 : i64
    } -> tensor<3xi64>
    %35 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%32 : tensor<3xf64>) outs(%33 : tensor<3xi64>) {
    ^bb0(%in: f64, %out: i64):
      %51 = arith.fptosi %in : f64 to i64
      linalg.yield %51 : i64
    } -> tensor<3xi64>
    %expanded_19 = tensor.expand_shape %34 [[0, 1]] output_shape [1, 3] : tensor<3xi64> into tensor<1x3xi64>
    %expanded_20 = tensor.expand_shape %35 [[0, 1]] output_shape [1, 3] : tensor<3xi64> into tensor<1x3xi64>
    %concat_21 = tensor.concat dim(0) %expanded_19, %expanded_20 : (tensor<1x3xi64>, tensor<1x3xi64>) -> tensor<2x3xi64>
    %extracted_slice = tensor.extract_slice %concat_21[0, 0] [1, 3] [1, 1] : tensor<2x3xi64> to tensor<1x3xi64>
    %extracted_slice_22 = tensor.extract_slice %concat_21[1, 0] [1, 3] [1, 1] : tensor<2x3xi64> to tensor<1x3xi64>
    %collapsed_23 = tensor.collapse_shape %extracted_slice [[0, 1]] : tensor<1x3xi64> into tensor<3xi64>
    %collapsed_24 = tensor.collapse_shape %extracted_slice_22 [[0, 1]] : tensor<1x3xi64> into tensor<3xi64>
    %36 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%12 : tensor<4xi64>) {
    ^bb0(%out: i64):
      %51 = linalg.index 0 : index
      %52 = arith.index_cast %51 : index to i64
      linalg.yield %52 : i64
    } -> tensor<4xi64>
    %expanded_25 = tensor.expand_shape %36 [[0, 1]] output_shape [4, 1] : tensor<4xi64> into tensor<4x1xi64>
    %37 = tensor.empty() : tensor<4x3xf32>
    %38 = linalg.generic {indexing_maps = [#map6, #map1, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_25, %collapsed_23, %collapsed_24 : tensor<4x1xi64>, tensor<3xi64>, tensor<3xi64>) outs(%37 : tensor<4x3xf32>) {
    ^bb0(%in: i64, %in_29: i64, %in_30: i64, %out: f32):
      %51 = arith.cmpi slt, %in, %c0_i64 : i64
      %52 = arith.addi %in, %c4_i64 : i64
      %53 = arith.select %51, %52, %in : i64
      %54 = arith.index_cast %53 : i64 to index
      %55 = arith.cmpi slt, %in_29, %c0_i64 : i64
      %56 = arith.addi %in_29, %c3_i64 : i64
      %57 = arith.select %55, %56, %in_29 : i64
      %58 = arith.index_cast %57 : i64 to index
      %59 = arith.cmpi slt, %in_30, %c0_i64 : i64
      %60 = arith.addi %in_30, %c3_i64 : i64
      %61 = arith.select %59, %60, %in_30 : i64
      %62 = arith.index_cast %61 : i64 to index
      %extracted = tensor.extract %20[%54, %58, %62] : tensor<4x3x3xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x3xf32>
    %concat_26 = tensor.concat dim(1) %11, %38 : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x7xf32>
    %39 = tensor.empty() : tensor<7x6xf32>
    %transposed_27 = linalg.transpose ins(%cst_7 : tensor<6x7xf32>) outs(%39 : tensor<7x6xf32>) permutation = [1, 0] 
    %40 = tensor.empty() : tensor<4x6xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<4x6xf32>) -> tensor<4x6xf32>
    %42 = linalg.matmul ins(%concat_26, %transposed_27 : tensor<4x7xf32>, tensor<7x6xf32>) outs(%41 : tensor<4x6xf32>) -> tensor<4x6xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%42, %cst_6 : tensor<4x6xf32>, tensor<6xf32>) outs(%40 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %51 = arith.addf %in, %in_29 : f32
      linalg.yield %51 : f32
    } -> tensor<4x6xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<4x6xf32>) outs(%40 : tensor<4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.cmpf ugt, %in, %cst : f32
      %52 = arith.select %51, %in, %cst : f32
      linalg.yield %52 : f32
    } -> tensor<4x6xf32>
    %45 = tensor.empty() : tensor<6x1xf32>
    %transposed_28 = linalg.transpose ins(%cst_5 : tensor<1x6xf32>) outs(%45 : tensor<6x1xf32>) permutation = [1, 0] 
    %46 = tensor.empty() : tensor<4x1xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%46 : tensor<4x1xf32>) -> tensor<4x1xf32>
    %48 = linalg.matmul ins(%44, %transposed_28 : tensor<4x6xf32>, tensor<6x1xf32>) outs(%47 : tensor<4x1xf32>) -> tensor<4x1xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%48, %cst_4 : tensor<4x1xf32>, tensor<1xf32>) outs(%46 : tensor<4x1xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %51 = arith.addf %in, %in_29 : f32
      linalg.yield %51 : f32
    } -> tensor<4x1xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%49 : tensor<4x1xf32>) outs(%46 : tensor<4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.negf %in : f32
      %52 = math.exp %51 : f32
      %53 = arith.addf %52, %cst_0 : f32
      %54 = arith.divf %cst_0, %53 : f32
      linalg.yield %54 : f32
    } -> tensor<4x1xf32>
    return %50 : tensor<4x1xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_1_6_torch.float32: "0x040000002421133D0A4B013EE832B33EE6541D3EAD388DBE7DC82DBE",
      torch_tensor_6_torch.float32: "0x0400000029A86ABE4050843ED4D71CBE09094A3E286E893EF6A2A0BE",
      torch_tensor_6_7_torch.float32: "0x04000000AB5C083E845CAFBD47A8C2BDC8BF32BCA49263BD5329A7BC97EC13BEDB6748BDF9C3213E049B7CBE5626013EA32D02BEF4FEB6BE5888C03E3E67B7BDF2AB03BE6FABA1BECE2E07BDA303ABBEB24BA43CEDBD453E49A82E3EDCD0B8BEC7D27C3E96471BBECE648BBE78D0A93E272D1BBD40A2AFBED25252BE9BF770BEB55641BE1114BB3E1D9F6DBC21A6543E239AA5BE4931A23E097FB93E50FE8B3E3F3305BED30BC83C0D1C45BD",
      torch_tensor_6_4_torch.float32: "0x04000000F1F7FCBF536294BFC8E41EBFB41249BF4FAD96BE0FF7E0BF90DCDEBEE755993E237260BFE49EA73FA4CF673FC0661D3EA340063F273834BF16E4643F41570CBF76FE4B3F5706D03FA7FC26BE881313BFC312483F58390340D5570C40E298D43E",
      torch_tensor_9_4_torch.float32: "0x04000000DCDA343EF73DA5BFFD746B3EE82BF8BF9F0DEEBD0FC9D23EF5DC0D4060EFEFBEE2A8DCBE9F438EBFA68EBC3FB39E9C3FEC784A3F924185BEBD30D03F610497BF824F9E3CEE2703402F17BEBF4C8A03BF4F771B3E8801333F931AE3BF749B3C3F3E3DBF3F61D18D3E2EE0B2BF3AEBA13FA7F65ABF52B468BD275514BF5A392BBE3D2EC5BE8BBABCBF10EF39BEBDD44FBE",
      torch_tensor_4_torch.float32: "0x040000009A1319BE22474E3D35FA583E0BBC68BE",
      torch_tensor_4_8_torch.float32: "0x04000000C2F59C3E32B1B9BCC0394E3EE36CE93BBA0C683E034B71BE832B6BBEEAD0833E3C16123E951D8E3EF06E11BE1B508ABC7D58203E41D231BEA5C0503E35C7D63C38D46C3D381B94BE4911DABC4B2699BEEC36B1BE0AA4BFBDB841953E59E126BE954A71BE906F903EB9C856BE896199BED820A3BCDFEE2EBE3DFF71BEC348753D",
      torch_tensor_8_torch.float32: "0x040000006A7FD63EA8C120BD4EF2D63EB44A043DA69F43BC664098BD81E83D3EDDAD3DBE",
      torch_tensor_8_5_torch.float32: "0x040000009042AA3E1F0FB0BE5D6A3C3E2638D4BDB3A2543E4885DFBEB292DBBE782BE93DB65E4D3DFE70E13E246A0F3E2A4C9F3E96FD87BE034DC23E7BDD843E467B003D472EF03D194767BE2DA08BBE14D72EBEE2A76BBDC1D4D2BD5ED6E0BEEC6A3DBE08F3553DE8B1ABBE4432BD3E352D73BE15869E3E1736E33EB02E9F3D3BB7BEBD3A983A3D071A8CBE7ACAA5BE39F4A9BEC7291BBE26C13CBE425AAABD99ECA4BD"
    }
  }
#-}
