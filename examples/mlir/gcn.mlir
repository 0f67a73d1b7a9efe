// A graph convolutional network of one layer with a softmax, as torch-mlir lowers it, with the adjacency matrix in
// CSR. The weights are left out, and come by --data or at random: samhw run examples/mlir/gcn.mlir --data karate
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#SPARSE = #sparse_tensor.encoding<{ map = (i,j) -> (i : dense, j : compressed) }>
module {
  func.func @forward(%x: tensor<34x8xf32>, %adj: tensor<34x34xf32, #SPARSE>) -> tensor<34x4xf32> {
    %w = arith.constant dense_resource<__elided__> : tensor<4x8xf32>
    %zero = arith.constant 0.000000e+00 : f32
    %low = arith.constant 0xFF800000 : f32
    %c0 = arith.constant 0 : i64
    %b = arith.constant dense<[0.5, -0.5, 1.0, 2.0]> : tensor<4xf32>
    %0 = tensor.empty() : tensor<34x8xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %2 = linalg.matmul ins(%adj, %x : tensor<34x34xf32, #SPARSE>, tensor<34x8xf32>) outs(%1 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %3 = tensor.empty() : tensor<8x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x8xf32>) outs(%3 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %5 = tensor.empty() : tensor<34x4xf32>
    %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<34x4xf32>) -> tensor<34x4xf32>
    %7 = linalg.matmul ins(%2, %4 : tensor<34x8xf32>, tensor<8x4xf32>) outs(%6 : tensor<34x4xf32>) -> tensor<34x4xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%7, %b : tensor<34x4xf32>, tensor<4xf32>) outs(%5 : tensor<34x4xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %29 = arith.addf %in, %in_5 : f32
      linalg.yield %29 : f32
    } -> tensor<34x4xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<34x4xf32>) outs(%5 : tensor<34x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.cmpf ugt, %in, %zero : f32
      %30 = arith.select %29, %in, %zero : f32
      linalg.yield %30 : f32
    } -> tensor<34x4xf32>
    %17 = tensor.empty() : tensor<34x1xi64>
    %18 = linalg.fill ins(%c0 : i64) outs(%17 : tensor<34x1xi64>) -> tensor<34x1xi64>
    %19 = tensor.empty() : tensor<34x1xf32>
    %20 = linalg.fill ins(%low : f32) outs(%19 : tensor<34x1xf32>) -> tensor<34x1xf32>
    %21:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "reduction"]} ins(%9 : tensor<34x4xf32>) outs(%20, %18 : tensor<34x1xf32>, tensor<34x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_5: i64):
      %29 = linalg.index 1 : index
      %30 = arith.index_cast %29 : index to i64
      %31 = arith.maximumf %in, %out : f32
      %32 = arith.cmpf ogt, %in, %out : f32
      %33 = arith.select %32, %30, %out_5 : i64
      linalg.yield %31, %33 : f32, i64
    } -> (tensor<34x1xf32>, tensor<34x1xi64>)
    %22 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %21#0 : tensor<34x4xf32>, tensor<34x1xf32>) outs(%5 : tensor<34x4xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %29 = arith.subf %in, %in_5 : f32
      linalg.yield %29 : f32
    } -> tensor<34x4xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<34x4xf32>) outs(%5 : tensor<34x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = math.exp %in : f32
      linalg.yield %29 : f32
    } -> tensor<34x4xf32>
    %25 = linalg.fill ins(%zero : f32) outs(%19 : tensor<34x1xf32>) -> tensor<34x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "reduction"]} ins(%23 : tensor<34x4xf32>) outs(%25 : tensor<34x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.addf %in, %out : f32
      linalg.yield %29 : f32
    } -> tensor<34x1xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%23, %26 : tensor<34x4xf32>, tensor<34x1xf32>) outs(%5 : tensor<34x4xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %29 = arith.divf %in, %in_5 : f32
      linalg.yield %29 : f32
    } -> tensor<34x4xf32>
    return %28 : tensor<34x4xf32>
  }
}
