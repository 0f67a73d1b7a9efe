"""Trains, prunes and quantises a network for scikit-learn's digits with Brevitas, and exports it as QONNX:

    pip install brevitas scikit-learn onnxscript onnxoptimizer qonnx
    python examples/onnx/digits.py --bits 4 -o digits4.onnx --images digits.npy

The network takes images of 8 x 8 pixels between 0 and 1, and gives ten scores. Activations and weights have
`--bits` bits, with scales that are powers of two, and three quarters of the first layer's weights are zero.
"""

import argparse

import brevitas.nn as qnn
import numpy as np
import onnx
import torch
from brevitas.export import export_qonnx
from brevitas.quant import Int8WeightPerTensorFixedPoint, Uint8ActPerTensorFixedPoint
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy

TRAINED = 1500
EPOCHS = 40
KEPT = 0.25


def network(bits: int) -> torch.nn.Sequential:
    acts = {"bit_width": bits, "act_quant": Uint8ActPerTensorFixedPoint}
    weights = {"bias": True, "weight_bit_width": bits, "weight_quant": Int8WeightPerTensorFixedPoint}
    return torch.nn.Sequential(
        qnn.QuantIdentity(**acts),
        qnn.QuantLinear(64, 32, **weights),
        qnn.QuantReLU(**acts),
        qnn.QuantLinear(32, 10, **weights),
    )


def train(model: torch.nn.Sequential, images: torch.Tensor, digits: torch.Tensor) -> None:
    """Prunes after half of the epochs."""
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    weight, mask = model[1].weight, torch.ones(32, 64)
    assert isinstance(weight, torch.nn.Parameter)
    for epoch in range(EPOCHS):
        if epoch == EPOCHS // 2:
            mask = (weight.abs() >= weight.abs().quantile(1 - KEPT)).float()
        for batch in torch.randperm(len(images)).split(100):
            optimizer.zero_grad()
            cross_entropy(model(images[batch]), digits[batch]).backward()
            optimizer.step()
            weight.data *= mask


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--bits", type=int, default=4)
    options.add_argument("-o", "--output", default="digits.onnx")
    options.add_argument("--images", help="ten images that the network has not seen, for --data")
    given = options.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    pixels, names = load_digits(return_X_y=True)
    images, digits = torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(names)
    model = network(given.bits)
    train(model, images[:TRAINED], digits[:TRAINED])
    model.eval()
    right = (model(images[TRAINED:]).argmax(1) == digits[TRAINED:]).float().mean()
    print(f"{right:.1%} of {len(images) - TRAINED} images that it has not seen are right")
    seen = images[TRAINED : TRAINED + 10]
    export_qonnx(model, seen, export_path=given.output, external_data=False)
    exported = onnx.load(given.output)
    exported.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    for held in (exported.graph, *exported.graph.node, *exported.graph.value_info):
        del held.metadata_props[:]
    exported.graph.input[0].name = exported.graph.node[0].input[0] = "images"
    exported.graph.output[0].name = exported.graph.node[-1].output[0] = "scores"
    onnx.save(exported, given.output)
    if given.images:
        np.save(given.images, seen.numpy())
        print(f"{given.images}: ", *digits[TRAINED : TRAINED + 10].tolist())


if __name__ == "__main__":
    main()
