"""Each model against the same network written with plain NumPy, and the data that it comes with."""

from collections.abc import Callable
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest

from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.lang import dumps, load_model, model_data, model_description, model_names, parse
from samhw.lang.reference import Rounding, evaluate_program, evaluate_with_bounds
from samhw.tensors import Tensor, karate, uniform_graph

Arrays = dict[str, np.ndarray]


def relu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, 0)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + np.vectorize(erf)(x / sqrt(2))) / 2


def softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def masked_softmax(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return softmax(np.where(mask != 0, x, -1e30))


def layer_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gain + bias


def gcn(t: Arrays) -> np.ndarray:
    hidden = relu(t["A"] @ t["X"] @ t["W1"] + t["b1"])
    return t["A"] @ hidden @ t["W2"] + t["b2"]


def graphsage(t: Arrays) -> np.ndarray:
    # As in the paper, one weight matrix for a node's features beside the mean of its neighbours'.
    first = np.concatenate([t["X"], t["A"] @ t["X"]], 1) @ np.concatenate([t["Ws1"], t["Wn1"]])
    hidden = relu(first + t["b1"])
    second = np.concatenate([hidden, t["A"] @ hidden], 1) @ np.concatenate([t["Ws2"], t["Wn2"]])
    return softmax(second + t["b2"])


def gin(t: Arrays) -> np.ndarray:
    x = (1 + t["eps1"]) * t["X"] + t["A"] @ t["X"]
    x = relu(relu(x @ t["W1"] + t["b1"]) @ t["W2"] + t["b2"])
    x = (1 + t["eps2"]) * x + t["A"] @ x
    x = relu(x @ t["W3"] + t["b3"]) @ t["W4"] + t["b4"]
    return x.sum(0)


def gat(t: Arrays) -> np.ndarray:
    h = t["X"] @ t["W"]
    scores = np.add.outer(h @ t["u"], h @ t["v"])
    attention = masked_softmax(np.where(scores > 0, scores, 0.2 * scores), t["A"])
    out = attention @ h
    return np.where(out > 0, out, np.expm1(out))


def sae(t: Arrays) -> np.ndarray:
    x = t["X"]
    for n in "123":
        x = sigmoid(x @ t[f"W{n}"].T + t[f"b{n}"])
    return x


def mlp(t: Arrays) -> np.ndarray:
    x = relu(t["X"] @ t["W1"] + t["b1"])
    x = relu(x @ t["W2"] + t["b2"])
    return x @ t["W3"] + t["b3"]


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return masked_softmax(q @ k.T / sqrt(q.shape[1]), mask) @ v


def gpt3_block(t: Arrays) -> np.ndarray:
    x = t["X"]
    normed = layer_norm(x, t["g1"], t["b1"])
    heads = []
    for h in range(t["Wk"].shape[0]):
        q = normed @ t["Wq"][h] + t["bq"][h]
        k = normed @ t["Wk"][h] + t["bk"][h]
        v = normed @ t["Wv"][h] + t["bv"][h]
        heads.append(attention(q, k, v, t["M"]))
    joined = np.concatenate(heads, axis=1)
    x = x + joined @ t["Wo"].reshape(-1, x.shape[1]) + t["bo"]
    normed = layer_norm(x, t["g2"], t["b2"])
    return x + gelu(normed @ t["W1"] + t["c1"]) @ t["W2"] + t["c2"]


MODELS: dict[str, tuple[Callable[[Arrays], np.ndarray], int, str]] = {
    "bigbird_attention": (lambda t: attention(t["Q"], t["K"], t["V"], t["M"]), 7, "O"),
    "gat": (gat, 11, "Y"),
    "gcn": (gcn, 7, "Z2"),
    "gcn_softmax": (lambda t: softmax(gcn(t)), 11, "Y"),
    "gin": (gin, 12, "y"),
    "gpt3_block": (gpt3_block, 26, "Y"),
    "graphsage": (graphsage, 13, "Y"),
    "mlp": (mlp, 8, "Y"),
    "sae": (sae, 9, "Y"),
}


def dense(tensors: dict[str, Tensor]) -> Arrays:
    return {name: tensor.to_dense() for name, tensor in tensors.items()}


def test_names():
    assert model_names() == tuple(MODELS)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_model(name, seed):
    reference, statements, output = MODELS[name]
    program = load_model(name)
    assert (program.name, len(program.statements)) == (name, statements)
    assert [decl.name for decl in program.outputs] == [output]
    arrays = dense(model_data(name, seed=seed))
    expected = reference(arrays)
    assert np.ptp(expected) > 0.1
    for level in ("none", "partial", "full"):
        actual = evaluate_program(Schedule(fuse=level).apply(program), arrays)[output]
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_the_text(name):
    program = load_model(name)
    assert parse(dumps(program)) == program
    assert 1 < len(program.regions) < len(program.statements)
    description = model_description(name)
    assert description[0].isupper()
    assert len(description) < 110
    example = Path(__file__).parents[2] / "examples" / "models" / f"{name}.ein"
    assert parse(example.read_text(encoding="utf-8")) == program


@pytest.mark.parametrize("name", MODELS)
def test_storage_is_concordant_with_the_orders(name):
    program = load_model(name)
    for statement in program.statements:
        order = statement.order
        assert order is not None
        for access in statement.accesses:
            storage = program.tensors[access.tensor].format
            depths = [order.index(access.names[mode]) for mode in storage.mode_order]
            assert depths == sorted(depths), f"{access} in {statement}"


@pytest.mark.parametrize("name", MODELS)
def test_f32_is_bounded(name):
    arrays = dense(model_data(name))
    value, bound, _ = evaluate_with_bounds(load_model(name), arrays, Rounding.floating(23))[MODELS[name][2]]
    # A whole decoder block is the deepest; worst cases add up from layer to layer.
    assert bound.max() < (0.5 if name == "gpt3_block" else 2e-4 * max(1, np.abs(value).max()))


def test_data_has_the_formats_of_the_model():
    program = load_model("gpt3_block")
    data = model_data("gpt3_block")
    assert list(data) == [decl.name for decl in program.inputs]
    for name, tensor in data.items():
        assert tensor.format == program.tensors[name].format
        tensor.check()
    assert data["X"].shape == (64, 32)
    assert data["scale"].to_dense() == 8**-0.5


def test_data_is_seeded():
    one, same, other = (model_data("mlp", seed=seed)["W1"].to_dense() for seed in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert np.count_nonzero(one) == one.size // 2


def test_the_graph_is_normalised():
    plain = karate().to_dense()
    assert np.array_equal(model_data("gin")["A"].to_dense(), plain)
    assert np.array_equal(model_data("gat")["A"].to_dense(), plain + np.eye(34))
    np.testing.assert_allclose(model_data("graphsage")["A"].to_dense().sum(1), 1)
    looped = plain + np.eye(34)
    root = np.sqrt(looped.sum(1))
    np.testing.assert_allclose(model_data("gcn")["A"].to_dense(), looped / np.outer(root, root))


def test_a_self_loop_of_the_graph_is_not_doubled():
    graph = Tensor.from_dense(np.array([[1, 1], [0, 0]]), "csr")
    assert model_data("gat", graph=graph)["A"].to_dense().tolist() == [[1, 1], [0, 1]]


def test_own_graphs_features_and_sizes():
    graph = uniform_graph(20, 0.2, seed=1)
    features = Tensor.from_dense(np.eye(20, 7), "csr")
    data = model_data("gcn_softmax", graph=graph, features=features, sizes={"h": 5})
    shapes = {name: tensor.shape for name, tensor in data.items()}
    assert shapes == {"A": (20, 20), "X": (20, 7), "W1": (7, 5), "b1": (5,), "W2": (5, 4), "b2": (4,)}
    assert np.array_equal(data["X"].to_dense(), features.to_dense())
    assert model_data("bigbird_attention", sizes={"i": 128})["M"].shape == (128, 128)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gnn", {}, "there is no built-in model 'gnn'; there are bigbird_attention, gat, "),
        ("mlp", {"sizes": {"z": 3}}, "model 'mlp' has no size 'z'; its sizes are n, f, h, g, c"),
        ("mlp", {"graph": karate()}, "model 'mlp' reads no graph; leave the graph out"),
        (
            "gcn",
            {"graph": Tensor.from_dense(np.ones((2, 3)), "csr")},
            "a graph of shape (2, 3) is not square; ",
        ),
        ("bigbird_attention", {"features": karate()}, "model 'bigbird_attention' reads no features; "),
        ("gcn", {"features": Tensor.from_dense(np.ones((5, 3)), "csr")}, "gcn.ein:"),
    ],
)
def test_data_that_does_not_fit(name, options, message):
    with pytest.raises(InputError) as caught:
        model_data(name, **options)
    assert str(caught.value).startswith(message)
