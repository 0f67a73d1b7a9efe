#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (0, d1)>
#map4 = affine_map<(d0, d1) -> ()>
#map5 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x6xf32>) -> tensor<8x5xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<-0.204998136> : tensor<1xf32>
    %cst_4 = arith.constant 2.000000e-01 : f64
    %cst_5 = arith.constant dense_resource<torch_tensor_1_5_torch.float32_1> : tensor<1x5xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_1_5_torch.float32> : tensor<1x5xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_5_6_torch.float32> : tensor<5x6xf32>
    %cst_8 = arith.constant 1.000000e+00 : f32
    %0 = tensor.empty() : tensor<6x5xf32>
    %transposed = linalg.transpose ins(%cst_7 : tensor<5x6xf32>) outs(%0 : tensor<6x5xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<8x5xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x5xf32>) -> tensor<8x5xf32>
    %3 = linalg.matmul ins(%arg1, %transposed : tensor<8x6xf32>, tensor<6x5xf32>) outs(%2 : tensor<8x5xf32>) -> tensor<8x5xf32>
    %4 = tensor.empty() : tensor<5x1xf32>
    %transposed_9 = linalg.transpose ins(%cst_6 : tensor<1x5xf32>) outs(%4 : tensor<5x1xf32>) permutation = [1, 0] 
    %5 = tensor.empty() : tensor<8x1xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %7 = linalg.matmul ins(%3, %transposed_9 : tensor<8x5xf32>, tensor<5x1xf32>) outs(%6 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%7, %cst_3 : tensor<8x1xf32>, tensor<1xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.addf %in, %in_12 : f32
      linalg.yield %35 : f32
    } -> tensor<8x1xf32>
    %transposed_10 = linalg.transpose ins(%cst_5 : tensor<1x5xf32>) outs(%4 : tensor<5x1xf32>) permutation = [1, 0] 
    %9 = linalg.matmul ins(%3, %transposed_10 : tensor<8x5xf32>, tensor<5x1xf32>) outs(%6 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %10 = tensor.empty() : tensor<1x8xf32>
    %transposed_11 = linalg.transpose ins(%9 : tensor<8x1xf32>) outs(%10 : tensor<1x8xf32>) permutation = [1, 0] 
    %11 = tensor.empty() : tensor<8x8xf32>
    %12 = linalg.generic {indexing_maps = [#map2, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %transposed_11 : tensor<8x1xf32>, tensor<1x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.addf %in, %in_12 : f32
      linalg.yield %35 : f32
    } -> tensor<8x8xf32>
    %13 = linalg.generic {indexing_maps = [#map4, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2, %12 : tensor<f32>, tensor<8x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.cmpf ogt, %in, %in_12 : f32
      %36 = arith.select %35, %in, %in_12 : f32
      linalg.yield %36 : f32
    } -> tensor<8x8xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2, %12 : tensor<f32>, tensor<8x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.cmpf olt, %in, %in_12 : f32
      %36 = arith.select %35, %in, %in_12 : f32
      linalg.yield %36 : f32
    } -> tensor<8x8xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<8x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.truncf %cst_4 : f64 to f32
      %36 = arith.mulf %in, %35 : f32
      linalg.yield %36 : f32
    } -> tensor<8x8xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %15 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.addf %in, %in_12 : f32
      linalg.yield %35 : f32
    } -> tensor<8x8xf32>
    %17 = tensor.empty() : tensor<8x8xi1>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x8xf32>) outs(%17 : tensor<8x8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %35 = arith.cmpf oeq, %in, %cst : f32
      linalg.yield %35 : i1
    } -> tensor<8x8xi1>
    %19 = linalg.generic {indexing_maps = [#map, #map4, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %cst_1, %16 : tensor<8x8xi1>, tensor<f32>, tensor<8x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: i1, %in_12: f32, %in_13: f32, %out: f32):
      %35 = arith.select %in, %in_12, %in_13 : f32
      linalg.yield %35 : f32
    } -> tensor<8x8xf32>
    %20 = tensor.empty() : tensor<8xi64>
    %21 = linalg.fill ins(%c0_i64 : i64) outs(%20 : tensor<8xi64>) -> tensor<8xi64>
    %22 = tensor.empty() : tensor<8xf32>
    %23 = linalg.fill ins(%cst_0 : f32) outs(%22 : tensor<8xf32>) -> tensor<8xf32>
    %24:2 = linalg.generic {indexing_maps = [#map, #map5, #map5], iterator_types = ["parallel", "reduction"]} ins(%19 : tensor<8x8xf32>) outs(%23, %21 : tensor<8xf32>, tensor<8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_12: i64):
      %35 = linalg.index 1 : index
      %36 = arith.index_cast %35 : index to i64
      %37 = arith.maximumf %in, %out : f32
      %38 = arith.cmpf ogt, %in, %out : f32
      %39 = arith.select %38, %36, %out_12 : i64
      linalg.yield %37, %39 : f32, i64
    } -> (tensor<8xf32>, tensor<8xi64>)
    %expanded = tensor.expand_shape %24#0 [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %expanded : tensor<8x8xf32>, tensor<8x1xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.subf %in, %in_12 : f32
      linalg.yield %35 : f32
    } -> tensor<8x8xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<8x8xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = math.exp %in : f32
      linalg.yield %35 : f32
    } -> tensor<8x8xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%26 : tensor<8x8xf32>) outs(%6 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<8x1xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %27 : tensor<8x8xf32>, tensor<8x1xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.divf %in, %in_12 : f32
      linalg.yield %35 : f32
    } -> tensor<8x8xf32>
    %29 = linalg.matmul ins(%28, %3 : tensor<8x8xf32>, tensor<8x5xf32>) outs(%2 : tensor<8x5xf32>) -> tensor<8x5xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2, %29 : tensor<f32>, tensor<8x5xf32>) outs(%1 : tensor<8x5xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.cmpf ogt, %in, %in_12 : f32
      %36 = arith.select %35, %in, %in_12 : f32
      linalg.yield %36 : f32
    } -> tensor<8x5xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2, %29 : tensor<f32>, tensor<8x5xf32>) outs(%1 : tensor<8x5xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.cmpf olt, %in, %in_12 : f32
      %36 = arith.select %35, %in, %in_12 : f32
      linalg.yield %36 : f32
    } -> tensor<8x5xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<8x5xf32>) outs(%1 : tensor<8x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = math.exp %in : f32
      linalg.yield %35 : f32
    } -> tensor<8x5xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%32 : tensor<8x5xf32>) outs(%1 : tensor<8x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.subf %in, %cst_8 : f32
      linalg.yield %35 : f32
    } -> tensor<8x5xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %33 : tensor<8x5xf32>, tensor<8x5xf32>) outs(%1 : tensor<8x5xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %35 = arith.addf %in, %in_12 : f32
      linalg.yield %35 : f32
    } -> tensor<8x5xf32>
    return %34 : tensor<8x5xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_1_5_torch.float32_1: "0x040000009242493E10CB2FBE3FE3CABDBB0C7BBEE2CB0FBE",
      torch_tensor_1_5_torch.float32: "0x040000001C00D0BE839994BEF78DD73DAAB2963EDC79B43C",
      torch_tensor_5_6_torch.float32: "0x0400000098CABF3DF1F7C6BDD347E53DBED2AABC8F95323E050DC73D2B3140BDC7FCA8BE58E4BE3DB90EB9BE9EC55B3D7C42DE3CF9DAB7BDE6EAAA3E4F31DF3CD35A2D3E3DEA303E639E76BE1EB620BE7605C93EC2BBCCBED924E3BC2E8504BD1843943E4EF91EBD7728DC3DC48AA0BC6B156ABECDF16CBEDB194BBE"
    }
  }
#-}
