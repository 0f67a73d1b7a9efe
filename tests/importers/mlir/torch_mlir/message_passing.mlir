#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0) -> (d0, 0)>
#map4 = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<7x5xf32>, %arg1: tensor<2x12xi64>, %arg2: tensor<12x3xf32>) -> tensor<5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %c5 = arith.constant 5 : index
    %c12 = arith.constant 12 : index
    %c7_i64 = arith.constant 7 : i64
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<7x5xf32>
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense_resource<torch_tensor_10_13_torch.float32> : tensor<10x13xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_10_torch.float32> : tensor<10xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_5_10_torch.float32> : tensor<5x10xf32>
    %cst_5 = arith.constant dense_resource<torch_tensor_5_torch.float32> : tensor<5xf32>
    %cst_6 = arith.constant dense_resource<torch_tensor_15_5_torch.float32> : tensor<15x5xf32>
    %cst_7 = arith.constant dense_resource<torch_tensor_15_torch.float32> : tensor<15xf32>
    %cst_8 = arith.constant dense_resource<torch_tensor_15_5_torch.float32_1> : tensor<15x5xf32>
    %cst_9 = arith.constant dense_resource<torch_tensor_15_torch.float32_1> : tensor<15xf32>
    %cst_10 = arith.constant 7.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg1[0, 0] [1, 12] [1, 1] : tensor<2x12xi64> to tensor<1x12xi64>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1]] : tensor<1x12xi64> into tensor<12xi64>
    %extracted_slice_11 = tensor.extract_slice %arg1[1, 0] [1, 12] [1, 1] : tensor<2x12xi64> to tensor<1x12xi64>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [[0, 1]] : tensor<1x12xi64> into tensor<12xi64>
    %0 = tensor.empty() : tensor<12x5xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<12xi64>) outs(%0 : tensor<12x5xf32>) {
    ^bb0(%in: i64, %out: f32):
      %45 = arith.cmpi slt, %in, %c0_i64 : i64
      %46 = arith.addi %in, %c7_i64 : i64
      %47 = arith.select %45, %46, %in : i64
      %48 = arith.index_cast %47 : i64 to index
      %49 = linalg.index 1 : index
      %extracted = tensor.extract %arg0[%48, %49] : tensor<7x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x5xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_12 : tensor<12xi64>) outs(%0 : tensor<12x5xf32>) {
    ^bb0(%in: i64, %out: f32):
      %45 = arith.cmpi slt, %in, %c0_i64 : i64
      %46 = arith.addi %in, %c7_i64 : i64
      %47 = arith.select %45, %46, %in : i64
      %48 = arith.index_cast %47 : i64 to index
      %49 = linalg.index 1 : index
      %extracted = tensor.extract %arg0[%48, %49] : tensor<7x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x5xf32>
    %concat = tensor.concat dim(1) %1, %2, %arg2 : (tensor<12x5xf32>, tensor<12x5xf32>, tensor<12x3xf32>) -> tensor<12x13xf32>
    %3 = tensor.empty() : tensor<13x10xf32>
    %transposed = linalg.transpose ins(%cst_2 : tensor<10x13xf32>) outs(%3 : tensor<13x10xf32>) permutation = [1, 0] 
    %4 = tensor.empty() : tensor<12x10xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<12x10xf32>) -> tensor<12x10xf32>
    %6 = linalg.matmul ins(%concat, %transposed : tensor<12x13xf32>, tensor<13x10xf32>) outs(%5 : tensor<12x10xf32>) -> tensor<12x10xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %cst_3 : tensor<12x10xf32>, tensor<10xf32>) outs(%4 : tensor<12x10xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<12x10xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<12x10xf32>) outs(%4 : tensor<12x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.cmpf ugt, %in, %cst : f32
      %46 = arith.select %45, %in, %cst : f32
      linalg.yield %46 : f32
    } -> tensor<12x10xf32>
    %9 = tensor.empty() : tensor<10x5xf32>
    %transposed_13 = linalg.transpose ins(%cst_4 : tensor<5x10xf32>) outs(%9 : tensor<10x5xf32>) permutation = [1, 0] 
    %10 = linalg.fill ins(%cst : f32) outs(%0 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %11 = linalg.matmul ins(%8, %transposed_13 : tensor<12x10xf32>, tensor<10x5xf32>) outs(%10 : tensor<12x5xf32>) -> tensor<12x5xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%11, %cst_5 : tensor<12x5xf32>, tensor<5xf32>) outs(%0 : tensor<12x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<12x5xf32>
    %13 = tensor.empty() : tensor<12x5xi64>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_12 : tensor<12xi64>) outs(%13 : tensor<12x5xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<12x5xi64>
    %15 = tensor.empty() : tensor<60x1xi64>
    %16 = linalg.fill ins(%c0_i64 : i64) outs(%15 : tensor<60x1xi64>) -> tensor<60x1xi64>
    %17 = tensor.empty() : tensor<60xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<60xf32>) -> tensor<60xf32>
    %19:3 = linalg.generic {indexing_maps = [#map3, #map3, #map4], iterator_types = ["parallel"]} outs(%16, %16, %18 : tensor<60x1xi64>, tensor<60x1xi64>, tensor<60xf32>) {
    ^bb0(%out: i64, %out_23: i64, %out_24: f32):
      %45 = linalg.index 0 : index
      %46 = arith.remsi %45, %c5 : index
      %47 = arith.divsi %45, %c5 : index
      %48 = arith.remsi %47, %c12 : index
      %extracted = tensor.extract %14[%48, %46] : tensor<12x5xi64>
      %extracted_25 = tensor.extract %12[%48, %46] : tensor<12x5xf32>
      %49 = arith.index_cast %46 : index to i64
      linalg.yield %extracted, %49, %extracted_25 : i64, i64, f32
    } -> (tensor<60x1xi64>, tensor<60x1xi64>, tensor<60xf32>)
    %20 = tensor.empty() : tensor<60x2xi64>
    %21 = linalg.fill ins(%c0_i64 : i64) outs(%20 : tensor<60x2xi64>) -> tensor<60x2xi64>
    %inserted_slice = tensor.insert_slice %19#0 into %21[0, 0] [60, 1] [1, 1] : tensor<60x1xi64> into tensor<60x2xi64>
    %inserted_slice_14 = tensor.insert_slice %19#1 into %inserted_slice[0, 1] [60, 1] [1, 1] : tensor<60x1xi64> into tensor<60x2xi64>
    %22 = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false) ins(%19#2, %inserted_slice_14 : tensor<60xf32>, tensor<60x2xi64>) outs(%cst_0 : tensor<7x5xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      %45 = arith.addf %arg4, %arg3 : f32
      tm_tensor.yield %45 : f32
    } -> tensor<7x5xf32>
    %23 = tensor.empty() : tensor<5x15xf32>
    %transposed_15 = linalg.transpose ins(%cst_6 : tensor<15x5xf32>) outs(%23 : tensor<5x15xf32>) permutation = [1, 0] 
    %24 = tensor.empty() : tensor<7x15xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<7x15xf32>) -> tensor<7x15xf32>
    %26 = linalg.matmul ins(%22, %transposed_15 : tensor<7x5xf32>, tensor<5x15xf32>) outs(%25 : tensor<7x15xf32>) -> tensor<7x15xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%26, %cst_7 : tensor<7x15xf32>, tensor<15xf32>) outs(%24 : tensor<7x15xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x15xf32>
    %extracted_slice_16 = tensor.extract_slice %27[0, 0] [7, 5] [1, 1] : tensor<7x15xf32> to tensor<7x5xf32>
    %extracted_slice_17 = tensor.extract_slice %27[0, 5] [7, 5] [1, 1] : tensor<7x15xf32> to tensor<7x5xf32>
    %extracted_slice_18 = tensor.extract_slice %27[0, 10] [7, 5] [1, 1] : tensor<7x15xf32> to tensor<7x5xf32>
    %transposed_19 = linalg.transpose ins(%cst_8 : tensor<15x5xf32>) outs(%23 : tensor<5x15xf32>) permutation = [1, 0] 
    %28 = linalg.matmul ins(%arg0, %transposed_19 : tensor<7x5xf32>, tensor<5x15xf32>) outs(%25 : tensor<7x15xf32>) -> tensor<7x15xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%28, %cst_9 : tensor<7x15xf32>, tensor<15xf32>) outs(%24 : tensor<7x15xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x15xf32>
    %extracted_slice_20 = tensor.extract_slice %29[0, 0] [7, 5] [1, 1] : tensor<7x15xf32> to tensor<7x5xf32>
    %extracted_slice_21 = tensor.extract_slice %29[0, 5] [7, 5] [1, 1] : tensor<7x15xf32> to tensor<7x5xf32>
    %extracted_slice_22 = tensor.extract_slice %29[0, 10] [7, 5] [1, 1] : tensor<7x15xf32> to tensor<7x5xf32>
    %30 = tensor.empty() : tensor<7x5xf32>
    %31 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_20, %extracted_slice_16 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.negf %in : f32
      %46 = math.exp %45 : f32
      %47 = arith.addf %46, %cst_1 : f32
      %48 = arith.divf %cst_1, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<7x5xf32>
    %33 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_21, %extracted_slice_17 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.negf %in : f32
      %46 = math.exp %45 : f32
      %47 = arith.addf %46, %cst_1 : f32
      %48 = arith.divf %cst_1, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<7x5xf32>
    %35 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_22, %32 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.mulf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_18, %35 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %37 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36 : tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = math.tanh %in : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %38 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %37 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.subf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%38, %34 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.mulf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %40 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%39, %37 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%30 : tensor<7x5xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %45 = arith.addf %in, %in_23 : f32
      linalg.yield %45 : f32
    } -> tensor<7x5xf32>
    %41 = tensor.empty() : tensor<5xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<5xf32>) -> tensor<5xf32>
    %43 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["reduction", "parallel"]} ins(%40 : tensor<7x5xf32>) outs(%42 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.addf %in, %out : f32
      linalg.yield %45 : f32
    } -> tensor<5xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%43 : tensor<5xf32>) outs(%41 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.divf %in, %cst_10 : f32
      linalg.yield %45 : f32
    } -> tensor<5xf32>
    return %44 : tensor<5xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_10_13_torch.float32: "0x04000000F6FD5CBE6A74003E36100C3E7B31243E2F432FBECCD445BE1D16833E7B9EFD3D4D9309BE1056EA3C9E1B163DB66E83BEF15B1ABEAB708FBDB777033E7D8CA13DF2144B3E3CDDCD3C0C60853EA1F704BE2356A2BA9D79D6BCDD43863E3F4FAA3DA79EEB3D93EF7B3E698222BE01D577BEC1624CBE672A2BBEE762E5BDA66888BEABB462BEF9D689BE316A12BE32E021BDE9DCD83D1AF651BD4AEE1E3C3A7EF9BDBB6CF13DD452163EF0566FBCBEBC3B3E8E69C5BD4EC11BBDE95E09BE9D7FED3DC29B683E876E7E3E43394EBEDED80A3E21D3353EF066843DC61BF53DC719813E590279BE25FB99BD39027B3ED021153EF614E0BD615D70BE770884BE62A0ECBC5D4CD13CC83300BE627347BE123D2ABE2B9E583E2B1563BE08EB003D92368BBEFE45CDBD8CBA0FBEABDDD6BCEEBF003E92A309BE13BDC83DF9D547BE73B83D3E81436CBD4EA6A0BCB7AB8BBE07AB363EECE97EBEFD38B3BC7B7A09BD975A83BED43BDABDF63FB23D7566533E536B10BC70F1B1BDE241B83D7A9994BC0F56DFB811351FBE23200A3E757F20BEEFEC813BA8AA05BE2FBEE83D7A1944BCBA39F2BC85C05ABE79C064BEE64E5E3E017D7FBE475F6E3E12875FBE0E1EF33D89F914BE298523BE443BACBD1E35B13C7C7078BEABE2B43DDB39E5BD4CEE053C4268433EA40BB6BD47B987BEB302623EDACB883D26875F3E836413BEF905A43B0A00633EA3CF993DCE75863E",
      torch_tensor_10_torch.float32: "0x040000005B32C93D3CA7BCBDB4B0FFBC663C7FBE005B563E95662F3EFD98C13D3C36893EDDBA113EA75E36BE",
      torch_tensor_5_10_torch.float32: "0x040000006A4DA03EA3E4423DAF3C93BECD00963C0BEA003D45BA19BEABDB8F3E573D40BE3146693C08D060BDFD951ABEA38EEE3DFAFC323EF768B43D42F99ABE6A195FBE7A64923EDA305DBE5C860EBBDA2E903E7499523E1A3DD33DDF61513C9063043E6D00A9BDA812763E288A9D3E44A7563E827FE93DCD737DBE24CF0BBE277AD3BD8CEE3BBE836CC23D816F573DE041EBBD95F9273E31F3FDBD5E53EBBDCBD923BD86A3A0BAD0290CBE838DAE3C1CD431BE5689033EE7FBCF3BAE7100BC78C4383EAD41FB3B2EA689BE",
      torch_tensor_5_torch.float32: "0x040000001C7E6FBE8FF57B3E28B915BEF3919EBE03784DBE",
      torch_tensor_15_5_torch.float32: "0x04000000DA94B43ECB90F93D9C84C53E5A3F40BED41213BE6A9855BE5D201EBE7F97C7BC782337BD21DB07BC1A1720BD2CBFB9BE9A0AA1BE89DE7FBEFE04EF3CD582C83E4313D3BEF34CF5BD374BCA3EC6CBFBBD93DB14BE0C5DA03E4B25D5BEA90A2D3E436C793EC11F0BBD462F3B3DD9A9A0BECB0C053DA2821BBE3B0C933E8F8E2E3EABB8D03ECE524FBEA9E6DFBE5937D9BEFCC2C6BEA7D78D3E17D5143D15269B3E485A8A3EDD6492BE5C98B0BEEE38F23D8F2087BED6E39DBEBB7C273E9E7EAF3E1C27ACBE5E39C63E94B53CBE4D83ED3D7997533EDF3798BE44AA0B3EB8FEC7BDAC582F3E160D9BBDA61D863DF92A3D3C41AFDBBEAE7FD9BE54AC55BE19B2873D871BD4BE138E8A3DC7EE713EB054803E380BBDBE3742C33E7BF66A3EC85E293EE53360BD46C8E43E3A3188BE",
      torch_tensor_15_torch.float32: "0x04000000A9EA203E2C8EBE3DB38C79BE0DE6C03DFB4DAB3E5F191BBE443E70BE6A213EBE08F8A2BE149B8DBDE1C582BDD8085CBD9A3CCC3E0BE0A13C1F79CCBE",
      torch_tensor_15_5_torch.float32_1: "0x040000007421B6BDD8DAC8BEEF68E1BE55404FBE51C38FBE09D4A13E1BD4893E32D425BB1344BFBD6A78663EA050ED3CD9A38E3E1E98C73E622A173EDF8B61BE7B52C13E115AFA3C8176433E4CACB03E47C1173D811A513ED376D43E0EADABBEECABC0BEBEDD433EF39063BEDF33DEBE668E8C3E9A48AC3EE33D83BEF45296BE382684BE22AC263E584A923EA4B2983EFAC9B1BE8E22693DB9E96BBE13A1A53DC7FAB5BE7107B0BEF53F0D3EA84DA8BEDB4AD8BD6D69963E7B9EB63C1BEBBD3D431D6BBE09F8B63EE100183EC3E322BD224D323E3266CB3EC1A5ACBE66B52EBE6752323E8060CF3CA30749BE7CD5B43D36B0DA3D26C7983D2A7AAFBE196FA4BEDA01F83DDD2272BEC64A81BEDE8ACFBEA6E1873E17D465BD8D96CB3E87669ABE28ACCA3E9C7F5DBD02C6B9BEE640C93E",
      torch_tensor_15_torch.float32_1: "0x04000000601E2BBED876B6BE0F69AC3E79D8A5BD35FD95BEEEA53FBE79EAA13EA85ACC3E9EE9B13E574FAD3E4FE2FFBD8BC3563ED8F2A9BEB528AA3ED2D9B03E"
    }
  }
#-}
