// A block of a transformer, as torch-mlir lowers it: layer norm, attention of two heads, gelu. The weights are
// left out, and come by --data or at random: samhw run examples/mlir/transformer_block.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module {
  func.func @block(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %root = arith.constant 1.41421356 : f32
    %width = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-05 : f32
    %scale = arith.constant 0.5 : f32
    %low = arith.constant 0xFF800000 : f32
    %wq = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %bq = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %wk = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %bk = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %wv = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %bv = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %wo = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %bo = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %gamma1 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %beta1 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %gamma2 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %beta2 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %w1 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %b1 = arith.constant dense_resource<__elided__> : tensor<16xf32>
    %w2 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %b2 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %0 = tensor.empty() : tensor<8x1xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x8xf32>) outs(%1 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %out : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %3 = tensor.empty() : tensor<8x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x1xf32>) outs(%3 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.divf %in, %width : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %5 = tensor.empty() : tensor<8x8xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %4 : tensor<8x8xf32>, tensor<8x1xf32>) outs(%5 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.subf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %7 = tensor.empty() : tensor<8x8xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %6 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%7 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.mulf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %9 = tensor.empty() : tensor<8x1xf32>
    %10 = linalg.fill ins(%zero : f32) outs(%9 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%8 : tensor<8x8xf32>) outs(%10 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %out : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %12 = tensor.empty() : tensor<8x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<8x1xf32>) outs(%12 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.divf %in, %width : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %14 = tensor.empty() : tensor<8x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<8x1xf32>) outs(%14 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %eps : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %16 = tensor.empty() : tensor<8x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<8x1xf32>) outs(%16 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = math.rsqrt %in : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %18 = tensor.empty() : tensor<8x8xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %17 : tensor<8x8xf32>, tensor<8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.mulf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %20 = tensor.empty() : tensor<8x8xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %gamma1 : tensor<8x8xf32>, tensor<8xf32>) outs(%20 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.mulf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %22 = tensor.empty() : tensor<8x8xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %beta1 : tensor<8x8xf32>, tensor<8xf32>) outs(%22 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %24 = tensor.empty() : tensor<8x8xf32>
    %25 = linalg.transpose ins(%wq : tensor<8x8xf32>) outs(%24 : tensor<8x8xf32>) permutation = [1, 0]
    %26 = tensor.empty() : tensor<8x8xf32>
    %27 = linalg.fill ins(%zero : f32) outs(%26 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %28 = linalg.matmul ins(%23, %25 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%27 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %29 = tensor.empty() : tensor<8x8xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%28, %bq : tensor<8x8xf32>, tensor<8xf32>) outs(%29 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %31 = tensor.expand_shape %30 [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
    %32 = tensor.empty() : tensor<2x8x4xf32>
    %33 = linalg.transpose ins(%31 : tensor<8x2x4xf32>) outs(%32 : tensor<2x8x4xf32>) permutation = [1, 0, 2]
    %34 = tensor.empty() : tensor<8x8xf32>
    %35 = linalg.transpose ins(%wk : tensor<8x8xf32>) outs(%34 : tensor<8x8xf32>) permutation = [1, 0]
    %36 = tensor.empty() : tensor<8x8xf32>
    %37 = linalg.fill ins(%zero : f32) outs(%36 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %38 = linalg.matmul ins(%23, %35 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%37 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %39 = tensor.empty() : tensor<8x8xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %bk : tensor<8x8xf32>, tensor<8xf32>) outs(%39 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %41 = tensor.expand_shape %40 [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
    %42 = tensor.empty() : tensor<2x8x4xf32>
    %43 = linalg.transpose ins(%41 : tensor<8x2x4xf32>) outs(%42 : tensor<2x8x4xf32>) permutation = [1, 0, 2]
    %44 = tensor.empty() : tensor<8x8xf32>
    %45 = linalg.transpose ins(%wv : tensor<8x8xf32>) outs(%44 : tensor<8x8xf32>) permutation = [1, 0]
    %46 = tensor.empty() : tensor<8x8xf32>
    %47 = linalg.fill ins(%zero : f32) outs(%46 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %48 = linalg.matmul ins(%23, %45 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%47 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %49 = tensor.empty() : tensor<8x8xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%48, %bv : tensor<8x8xf32>, tensor<8xf32>) outs(%49 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %51 = tensor.expand_shape %50 [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
    %52 = tensor.empty() : tensor<2x8x4xf32>
    %53 = linalg.transpose ins(%51 : tensor<8x2x4xf32>) outs(%52 : tensor<2x8x4xf32>) permutation = [1, 0, 2]
    %54 = tensor.empty() : tensor<2x4x8xf32>
    %55 = linalg.transpose ins(%43 : tensor<2x8x4xf32>) outs(%54 : tensor<2x4x8xf32>) permutation = [0, 2, 1]
    %56 = tensor.empty() : tensor<2x8x8xf32>
    %57 = linalg.fill ins(%zero : f32) outs(%56 : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %58 = linalg.batch_matmul ins(%33, %55 : tensor<2x8x4xf32>, tensor<2x4x8xf32>) outs(%57 : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %59 = tensor.empty() : tensor<2x8x8xf32>
    %60 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<2x8x8xf32>) outs(%59 : tensor<2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.mulf %in, %scale : f32
      linalg.yield %y : f32
    } -> tensor<2x8x8xf32>
    %61 = tensor.empty() : tensor<2x8x1xf32>
    %62 = linalg.fill ins(%low : f32) outs(%61 : tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %63 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%60 : tensor<2x8x8xf32>) outs(%62 : tensor<2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.maximumf %in, %out : f32
      linalg.yield %y : f32
    } -> tensor<2x8x1xf32>
    %64 = tensor.empty() : tensor<2x8x8xf32>
    %65 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %63 : tensor<2x8x8xf32>, tensor<2x8x1xf32>) outs(%64 : tensor<2x8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.subf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<2x8x8xf32>
    %66 = tensor.empty() : tensor<2x8x8xf32>
    %67 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<2x8x8xf32>) outs(%66 : tensor<2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = math.exp %in : f32
      linalg.yield %y : f32
    } -> tensor<2x8x8xf32>
    %68 = tensor.empty() : tensor<2x8x1xf32>
    %69 = linalg.fill ins(%zero : f32) outs(%68 : tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %70 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<2x8x8xf32>) outs(%69 : tensor<2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %out : f32
      linalg.yield %y : f32
    } -> tensor<2x8x1xf32>
    %71 = tensor.empty() : tensor<2x8x8xf32>
    %72 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %70 : tensor<2x8x8xf32>, tensor<2x8x1xf32>) outs(%71 : tensor<2x8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.divf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<2x8x8xf32>
    %73 = tensor.empty() : tensor<2x8x4xf32>
    %74 = linalg.fill ins(%zero : f32) outs(%73 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %75 = linalg.batch_matmul ins(%72, %53 : tensor<2x8x8xf32>, tensor<2x8x4xf32>) outs(%74 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %76 = tensor.empty() : tensor<8x2x4xf32>
    %77 = linalg.transpose ins(%75 : tensor<2x8x4xf32>) outs(%76 : tensor<8x2x4xf32>) permutation = [1, 0, 2]
    %78 = tensor.collapse_shape %77 [[0], [1, 2]] : tensor<8x2x4xf32> into tensor<8x8xf32>
    %79 = tensor.empty() : tensor<8x8xf32>
    %80 = linalg.transpose ins(%wo : tensor<8x8xf32>) outs(%79 : tensor<8x8xf32>) permutation = [1, 0]
    %81 = tensor.empty() : tensor<8x8xf32>
    %82 = linalg.fill ins(%zero : f32) outs(%81 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %83 = linalg.matmul ins(%78, %80 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%82 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %84 = tensor.empty() : tensor<8x8xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%83, %bo : tensor<8x8xf32>, tensor<8xf32>) outs(%84 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %86 = tensor.empty() : tensor<8x8xf32>
    %87 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %85 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%86 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %88 = tensor.empty() : tensor<8x1xf32>
    %89 = linalg.fill ins(%zero : f32) outs(%88 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %90 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%87 : tensor<8x8xf32>) outs(%89 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %out : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %91 = tensor.empty() : tensor<8x1xf32>
    %92 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%90 : tensor<8x1xf32>) outs(%91 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.divf %in, %width : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %93 = tensor.empty() : tensor<8x8xf32>
    %94 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%87, %92 : tensor<8x8xf32>, tensor<8x1xf32>) outs(%93 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.subf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %95 = tensor.empty() : tensor<8x8xf32>
    %96 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%94, %94 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%95 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.mulf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %97 = tensor.empty() : tensor<8x1xf32>
    %98 = linalg.fill ins(%zero : f32) outs(%97 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %99 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%96 : tensor<8x8xf32>) outs(%98 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %out : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %100 = tensor.empty() : tensor<8x1xf32>
    %101 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%99 : tensor<8x1xf32>) outs(%100 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.divf %in, %width : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %102 = tensor.empty() : tensor<8x1xf32>
    %103 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%101 : tensor<8x1xf32>) outs(%102 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %eps : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %104 = tensor.empty() : tensor<8x1xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%103 : tensor<8x1xf32>) outs(%104 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = math.rsqrt %in : f32
      linalg.yield %y : f32
    } -> tensor<8x1xf32>
    %106 = tensor.empty() : tensor<8x8xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%94, %105 : tensor<8x8xf32>, tensor<8x1xf32>) outs(%106 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.mulf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %108 = tensor.empty() : tensor<8x8xf32>
    %109 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%107, %gamma2 : tensor<8x8xf32>, tensor<8xf32>) outs(%108 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.mulf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %110 = tensor.empty() : tensor<8x8xf32>
    %111 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%109, %beta2 : tensor<8x8xf32>, tensor<8xf32>) outs(%110 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %112 = tensor.empty() : tensor<8x16xf32>
    %113 = linalg.transpose ins(%w1 : tensor<16x8xf32>) outs(%112 : tensor<8x16xf32>) permutation = [1, 0]
    %114 = tensor.empty() : tensor<8x16xf32>
    %115 = linalg.fill ins(%zero : f32) outs(%114 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %116 = linalg.matmul ins(%111, %113 : tensor<8x8xf32>, tensor<8x16xf32>) outs(%115 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %117 = tensor.empty() : tensor<8x16xf32>
    %118 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%116, %b1 : tensor<8x16xf32>, tensor<16xf32>) outs(%117 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x16xf32>
    %119 = tensor.empty() : tensor<8x16xf32>
    %120 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%118 : tensor<8x16xf32>) outs(%119 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %d = arith.divf %in, %root : f32
      %e = math.erf %d : f32
      %s = arith.addf %e, %one : f32
      %t = arith.mulf %s, %half : f32
      %y = arith.mulf %in, %t : f32
      linalg.yield %y : f32
    } -> tensor<8x16xf32>
    %121 = tensor.empty() : tensor<16x8xf32>
    %122 = linalg.transpose ins(%w2 : tensor<8x16xf32>) outs(%121 : tensor<16x8xf32>) permutation = [1, 0]
    %123 = tensor.empty() : tensor<8x8xf32>
    %124 = linalg.fill ins(%zero : f32) outs(%123 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %125 = linalg.matmul ins(%120, %122 : tensor<8x16xf32>, tensor<16x8xf32>) outs(%124 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %126 = tensor.empty() : tensor<8x8xf32>
    %127 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%125, %b2 : tensor<8x8xf32>, tensor<8xf32>) outs(%126 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    %128 = tensor.empty() : tensor<8x8xf32>
    %129 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%87, %127 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%128 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %y = arith.addf %in, %in_1 : f32
      linalg.yield %y : f32
    } -> tensor<8x8xf32>
    return %129 : tensor<8x8xf32>
  }
}
