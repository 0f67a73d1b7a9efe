#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c9_i64 = arith.constant 9 : i64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant dense_resource<torch_tensor_4_torch.float32_2> : tensor<4xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_4_4_torch.float32> : tensor<4x4xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_9_2_torch.float32> : tensor<9x2xf32>
    %cst_5 = arith.constant 0.70710678118654757 : f64
    %cst_6 = arith.constant dense_resource<torch_tensor_12_torch.float32> : tensor<12xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_12_4_torch.float32> : tensor<12x4xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_4_torch.float32_1> : tensor<4xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %cst_10 = arith.constant 1.000000e-05 : f64
    %cst_11 = arith.constant 4.000000e+00 : f64
    %cst_12 = arith.constant 4.000000e+00 : f32
    %cst_13 = arith.constant dense_resource<torch_tensor_4_4_torch.int64> : tensor<4x4xi64>
    %0 = tensor.empty() : tensor<1x4x4x4xf64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x4x4x4xf32>) outs(%0 : tensor<1x4x4x4xf64>) {
    ^bb0(%in: f32, %out: f64):
      %61 = arith.extf %in : f32 to f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x4xf64>
    %2 = tensor.empty() : tensor<1x4x4x1xf64>
    %3 = linalg.fill ins(%cst : f64) outs(%2 : tensor<1x4x4x1xf64>) -> tensor<1x4x4x1xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1 : tensor<1x4x4x4xf64>) outs(%3 : tensor<1x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %61 = arith.addf %in, %out : f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<1x4x4x1xf64>) outs(%2 : tensor<1x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %61 = arith.divf %in, %cst_11 : f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<1x4x4x4xf64>, tensor<1x4x4x1xf64>) outs(%0 : tensor<1x4x4x4xf64>) {
    ^bb0(%in: f64, %in_39: f64, %out: f64):
      %61 = arith.subf %in, %in_39 : f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x4xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %6 : tensor<1x4x4x4xf64>, tensor<1x4x4x4xf64>) outs(%0 : tensor<1x4x4x4xf64>) {
    ^bb0(%in: f64, %in_39: f64, %out: f64):
      %61 = arith.mulf %in, %in_39 : f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x4xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%7 : tensor<1x4x4x4xf64>) outs(%3 : tensor<1x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %61 = arith.addf %in, %out : f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<1x4x4x1xf64>) outs(%2 : tensor<1x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %61 = arith.divf %in, %cst_11 : f64
      linalg.yield %61 : f64
    } -> tensor<1x4x4x1xf64>
    %10 = tensor.empty() : tensor<1x4x4x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<1x4x4x1xf64>) outs(%10 : tensor<1x4x4x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %61 = arith.truncf %in : f64 to f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x1xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0 : tensor<1x4x4x4xf32>) outs(%12 : tensor<1x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.addf %in, %out : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13 : tensor<1x4x4x1xf32>) outs(%10 : tensor<1x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.divf %in, %cst_12 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<1x4x4x1xf32>) outs(%10 : tensor<1x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.truncf %cst_10 : f64 to f32
      %62 = arith.addf %in, %61 : f32
      linalg.yield %62 : f32
    } -> tensor<1x4x4x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<1x4x4x1xf32>) outs(%10 : tensor<1x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = math.rsqrt %in : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x1xf32>
    %17 = tensor.empty() : tensor<1x4x4x4xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %14 : tensor<1x4x4x4xf32>, tensor<1x4x4x1xf32>) outs(%17 : tensor<1x4x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.subf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<1x4x4x4xf32>, tensor<1x4x4x1xf32>) outs(%17 : tensor<1x4x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.mulf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x4xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %cst_9 : tensor<1x4x4x4xf32>, tensor<4xf32>) outs(%17 : tensor<1x4x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.mulf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x4xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20, %cst_8 : tensor<1x4x4x4xf32>, tensor<4xf32>) outs(%17 : tensor<1x4x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.addf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x4xf32>
    %expanded = tensor.expand_shape %21 [[0], [1, 2], [3, 4], [5]] output_shape [1, 2, 2, 2, 2, 4] : tensor<1x4x4x4xf32> into tensor<1x2x2x2x2x4xf32>
    %22 = tensor.empty() : tensor<1x2x2x2x2x4xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x2x2x2x2x4xf32>) outs(%22 : tensor<1x2x2x2x2x4xf32>) permutation = [0, 1, 3, 2, 4, 5] 
    %collapsed = tensor.collapse_shape %transposed [[0, 1, 2, 3, 4], [5]] : tensor<1x2x2x2x2x4xf32> into tensor<16x4xf32>
    %23 = tensor.empty() : tensor<4x12xf32>
    %transposed_14 = linalg.transpose ins(%cst_7 : tensor<12x4xf32>) outs(%23 : tensor<4x12xf32>) permutation = [1, 0] 
    %24 = tensor.empty() : tensor<16x12xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%24 : tensor<16x12xf32>) -> tensor<16x12xf32>
    %26 = linalg.matmul ins(%collapsed, %transposed_14 : tensor<16x4xf32>, tensor<4x12xf32>) outs(%25 : tensor<16x12xf32>) -> tensor<16x12xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%26, %cst_6 : tensor<16x12xf32>, tensor<12xf32>) outs(%24 : tensor<16x12xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.addf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<16x12xf32>
    %expanded_15 = tensor.expand_shape %27 [[0, 1], [2, 3, 4]] output_shape [4, 4, 3, 2, 2] : tensor<16x12xf32> into tensor<4x4x3x2x2xf32>
    %28 = tensor.empty() : tensor<3x4x2x4x2xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<4x4x3x2x2xf32>) outs(%28 : tensor<3x4x2x4x2xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice = tensor.extract_slice %transposed_16[0, 0, 0, 0, 0] [1, 4, 2, 4, 2] [1, 1, 1, 1, 1] : tensor<3x4x2x4x2xf32> to tensor<1x4x2x4x2xf32>
    %extracted_slice_17 = tensor.extract_slice %transposed_16[1, 0, 0, 0, 0] [1, 4, 2, 4, 2] [1, 1, 1, 1, 1] : tensor<3x4x2x4x2xf32> to tensor<1x4x2x4x2xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_16[2, 0, 0, 0, 0] [1, 4, 2, 4, 2] [1, 1, 1, 1, 1] : tensor<3x4x2x4x2xf32> to tensor<1x4x2x4x2xf32>
    %collapsed_19 = tensor.collapse_shape %extracted_slice [[0, 1], [2], [3], [4]] : tensor<1x4x2x4x2xf32> into tensor<4x2x4x2xf32>
    %collapsed_20 = tensor.collapse_shape %extracted_slice_17 [[0, 1], [2], [3], [4]] : tensor<1x4x2x4x2xf32> into tensor<4x2x4x2xf32>
    %29 = tensor.empty() : tensor<4x2x4x2xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_19 : tensor<4x2x4x2xf32>) outs(%29 : tensor<4x2x4x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.truncf %cst_5 : f64 to f32
      %62 = arith.mulf %in, %61 : f32
      linalg.yield %62 : f32
    } -> tensor<4x2x4x2xf32>
    %31 = tensor.empty() : tensor<4x2x2x4xf32>
    %transposed_21 = linalg.transpose ins(%collapsed_20 : tensor<4x2x4x2xf32>) outs(%31 : tensor<4x2x2x4xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_22 = tensor.collapse_shape %30 [[0, 1], [2], [3]] : tensor<4x2x4x2xf32> into tensor<8x4x2xf32>
    %collapsed_23 = tensor.collapse_shape %transposed_21 [[0, 1], [2], [3]] : tensor<4x2x2x4xf32> into tensor<8x2x4xf32>
    %32 = tensor.empty() : tensor<8x4x4xf32>
    %33 = linalg.fill ins(%cst_0 : f32) outs(%32 : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %34 = linalg.batch_matmul ins(%collapsed_22, %collapsed_23 : tensor<8x4x2xf32>, tensor<8x2x4xf32>) outs(%33 : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %expanded_24 = tensor.expand_shape %34 [[0, 1], [2], [3]] output_shape [4, 2, 4, 4] : tensor<8x4x4xf32> into tensor<4x2x4x4xf32>
    %collapsed_25 = tensor.collapse_shape %cst_13 [[0, 1]] : tensor<4x4xi64> into tensor<16xi64>
    %35 = tensor.empty() : tensor<16x2xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%collapsed_25 : tensor<16xi64>) outs(%35 : tensor<16x2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %61 = arith.cmpi slt, %in, %c0_i64 : i64
      %62 = arith.addi %in, %c9_i64 : i64
      %63 = arith.select %61, %62, %in : i64
      %64 = arith.index_cast %63 : i64 to index
      %65 = linalg.index 1 : index
      %extracted = tensor.extract %cst_4[%64, %65] : tensor<9x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<16x2xf32>
    %expanded_26 = tensor.expand_shape %36 [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
    %37 = tensor.empty() : tensor<2x4x4xf32>
    %transposed_27 = linalg.transpose ins(%expanded_26 : tensor<4x4x2xf32>) outs(%37 : tensor<2x4x4xf32>) permutation = [2, 0, 1] 
    %expanded_28 = tensor.expand_shape %transposed_27 [[0, 1], [2], [3]] output_shape [1, 2, 4, 4] : tensor<2x4x4xf32> into tensor<1x2x4x4xf32>
    %38 = tensor.empty() : tensor<4x2x4x4xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map6, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24, %expanded_28 : tensor<4x2x4x4xf32>, tensor<1x2x4x4xf32>) outs(%38 : tensor<4x2x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.addf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<4x2x4x4xf32>
    %40 = tensor.empty() : tensor<4x2x4xi64>
    %41 = linalg.fill ins(%c0_i64 : i64) outs(%40 : tensor<4x2x4xi64>) -> tensor<4x2x4xi64>
    %42 = tensor.empty() : tensor<4x2x4xf32>
    %43 = linalg.fill ins(%cst_1 : f32) outs(%42 : tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
    %44:2 = linalg.generic {indexing_maps = [#map, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39 : tensor<4x2x4x4xf32>) outs(%43, %41 : tensor<4x2x4xf32>, tensor<4x2x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_39: i64):
      %61 = linalg.index 3 : index
      %62 = arith.index_cast %61 : index to i64
      %63 = arith.maximumf %in, %out : f32
      %64 = arith.cmpf ogt, %in, %out : f32
      %65 = arith.select %64, %62, %out_39 : i64
      linalg.yield %63, %65 : f32, i64
    } -> (tensor<4x2x4xf32>, tensor<4x2x4xi64>)
    %expanded_29 = tensor.expand_shape %44#0 [[0], [1], [2, 3]] output_shape [4, 2, 4, 1] : tensor<4x2x4xf32> into tensor<4x2x4x1xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %expanded_29 : tensor<4x2x4x4xf32>, tensor<4x2x4x1xf32>) outs(%38 : tensor<4x2x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.subf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<4x2x4x4xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<4x2x4x4xf32>) outs(%38 : tensor<4x2x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = math.exp %in : f32
      linalg.yield %61 : f32
    } -> tensor<4x2x4x4xf32>
    %47 = tensor.empty() : tensor<4x2x4x1xf32>
    %48 = linalg.fill ins(%cst_0 : f32) outs(%47 : tensor<4x2x4x1xf32>) -> tensor<4x2x4x1xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<4x2x4x4xf32>) outs(%48 : tensor<4x2x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.addf %in, %out : f32
      linalg.yield %61 : f32
    } -> tensor<4x2x4x1xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %49 : tensor<4x2x4x4xf32>, tensor<4x2x4x1xf32>) outs(%38 : tensor<4x2x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.divf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<4x2x4x4xf32>
    %collapsed_30 = tensor.collapse_shape %50 [[0, 1], [2], [3]] : tensor<4x2x4x4xf32> into tensor<8x4x4xf32>
    %collapsed_31 = tensor.collapse_shape %extracted_slice_18 [[0, 1, 2], [3], [4]] : tensor<1x4x2x4x2xf32> into tensor<8x4x2xf32>
    %51 = tensor.empty() : tensor<8x4x2xf32>
    %52 = linalg.fill ins(%cst_0 : f32) outs(%51 : tensor<8x4x2xf32>) -> tensor<8x4x2xf32>
    %53 = linalg.batch_matmul ins(%collapsed_30, %collapsed_31 : tensor<8x4x4xf32>, tensor<8x4x2xf32>) outs(%52 : tensor<8x4x2xf32>) -> tensor<8x4x2xf32>
    %expanded_32 = tensor.expand_shape %53 [[0, 1], [2], [3]] output_shape [4, 2, 4, 2] : tensor<8x4x2xf32> into tensor<4x2x4x2xf32>
    %54 = tensor.empty() : tensor<4x4x2x2xf32>
    %transposed_33 = linalg.transpose ins(%expanded_32 : tensor<4x2x4x2xf32>) outs(%54 : tensor<4x4x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_34 = tensor.collapse_shape %transposed_33 [[0, 1], [2, 3]] : tensor<4x4x2x2xf32> into tensor<16x4xf32>
    %55 = tensor.empty() : tensor<4x4xf32>
    %transposed_35 = linalg.transpose ins(%cst_3 : tensor<4x4xf32>) outs(%55 : tensor<4x4xf32>) permutation = [1, 0] 
    %56 = tensor.empty() : tensor<16x4xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<16x4xf32>) -> tensor<16x4xf32>
    %58 = linalg.matmul ins(%collapsed_34, %transposed_35 : tensor<16x4xf32>, tensor<4x4xf32>) outs(%57 : tensor<16x4xf32>) -> tensor<16x4xf32>
    %59 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%58, %cst_2 : tensor<16x4xf32>, tensor<4xf32>) outs(%56 : tensor<16x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.addf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<16x4xf32>
    %expanded_36 = tensor.expand_shape %59 [[0, 1, 2, 3, 4], [5]] output_shape [1, 2, 2, 2, 2, 4] : tensor<16x4xf32> into tensor<1x2x2x2x2x4xf32>
    %transposed_37 = linalg.transpose ins(%expanded_36 : tensor<1x2x2x2x2x4xf32>) outs(%22 : tensor<1x2x2x2x2x4xf32>) permutation = [0, 1, 3, 2, 4, 5] 
    %collapsed_38 = tensor.collapse_shape %transposed_37 [[0], [1, 2], [3, 4], [5]] : tensor<1x2x2x2x2x4xf32> into tensor<1x4x4x4xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %collapsed_38 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) outs(%17 : tensor<1x4x4x4xf32>) {
    ^bb0(%in: f32, %in_39: f32, %out: f32):
      %61 = arith.addf %in, %in_39 : f32
      linalg.yield %61 : f32
    } -> tensor<1x4x4x4xf32>
    return %60 : tensor<1x4x4x4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_torch.float32_2: "0x04000000105AD9BEBA3E86BEE0A3D1BCB6C3F3BE",
      torch_tensor_4_4_torch.float32: "0x040000009239AABEA840FABE2200EE3E942F8BBE124F93BE106641BE40FD233C9024DE3ED0B7ABBDC867EC3DF0F8CB3E923BF4BE6ECA813E06CCE2BE702618BE68B3C43E",
      torch_tensor_9_2_torch.float32: "0x04000000A2038D3ECF550C3CCE77463EFF3C8BBE74BA8CBCE02F0B3E22895ABD4B0F32BE4BAAE2BD22D5553E0365CF3DAB669D3DE770293EBF79B1BDC4EB233E3706A7BD15ABCF3EC569093D",
      torch_tensor_12_torch.float32: "0x04000000B25BEBBE4200F6BE2C0894BE928DEF3E4660B73EFC1ED1BEA852B03EEC4E2F3E2AE6913EC8B068BEB6CBF5BEDC2158BE",
      torch_tensor_12_4_torch.float32: "0x04000000100B593D58BBF63E9859AEBDD2FAA3BED64ADC3E3C63293E50F3343D72B0B33E0073AB3EBECEBB3E7A97A5BE80A2E33E98D2DC3D12ACAFBE98D6F7BDF01E843D9CA066BEC0862A3E6EF9E7BE50FA4D3E947B513E7C87C1BE14C394BE4232EA3E6AD6E5BE34EBF0BE4C5B84BE0C9D80BE64AEC43E8834CE3E7880E3BDFCB0C9BE70E99C3E306A7ABDAE39D4BE50CAB33DB0C6B5BED07E7DBEF83F8BBE1CB4C33EE854A83D1C9621BE6812C7BD9266FD3E7055563DFC5A8EBE4056F23EA8A2BCBE",
      torch_tensor_4_torch.float32_1: "0x0400000000000000000000000000000000000000",
      torch_tensor_4_torch.float32: "0x040000000000803F0000803F0000803F0000803F",
      torch_tensor_4_4_torch.int64: "0x080000000400000000000000030000000000000001000000000000000000000000000000050000000000000004000000000000000200000000000000010000000000000007000000000000000600000000000000040000000000000003000000000000000800000000000000070000000000000005000000000000000400000000000000"
    }
  }
#-}
