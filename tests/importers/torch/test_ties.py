"""A check of what puts equal elements in order, of which PyTorch may take any."""

import pytest
import torch

import samhw.torch
from tests.importers.torch.edge_values import Module

ORDERS = {
    "topk": lambda x: x.topk(2, 1),
    "topk, least": lambda x: x.topk(3, 1, largest=False),
    "sort": lambda x: x.sort(1),
    "kthvalue": lambda x: x.kthvalue(2, 1, keepdim=True),
    "median": lambda x: x.median(1, keepdim=True),
}


@pytest.mark.parametrize("name", ORDERS)
def test_places_of_equal_elements(name: str) -> None:
    x = torch.tensor([[1.0, 0, 1, 0, 1], [0, 0, 3, 0, 0]])
    r = samhw.torch.compile(Module(ORDERS[name]), (x,), value="f32").run()
    values, places = r.output
    assert torch.equal(values, ORDERS[name](x)[0])
    assert torch.equal(x.gather(1, places.long()), values)
    r.check()
