"""Data for programs: what is given where, and what is made up."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from samhw.app.workload import bind_program, make_model_workload, make_workload, stand_ins_for
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import load_kernel, parse, rounded_entries, rounded_extent
from samhw.tensors import Tensor, karate, random_tensor, write_tensor


def test_main_matrix_goes_to_the_first_sparse_operand() -> None:
    workload = make_workload(load_kernel("spmm"), ["karate"])
    assert np.array_equal(workload.tensors["A"].to_dense(), karate().to_dense())
    assert workload.tensors["X"].shape == (34, 16)
    assert str(workload.tensors["X"].format) == "dense"


def test_tensor_of_higher_rank_gets_fibers_on_the_matrix() -> None:
    tensor = make_workload(load_kernel("ttv"), ["karate"]).tensors["B"].to_dense()
    assert tensor.shape == (34, 34, 16)
    assert not tensor[karate().to_dense() == 0].any()
    assert tensor.any()


def test_workloads_are_the_same_for_the_same_seed() -> None:
    first, again, other = (
        make_workload(load_kernel("sddmm"), [spec]).tensors["C"].vals
        for spec in ("random", "random", "random:seed=5")
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_random_options() -> None:
    tensor = make_workload(load_kernel("mmadd"), ["random:size=20,density=0.5"]).tensors["B"]
    assert tensor.shape == (20, 20)
    assert tensor.nnz == 200


def test_pattern_keeps_places_and_draws_values(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, scipy.sparse.coo_array(np.array([[0.5, 0.0], [0.25, 0.0]])))
    tensor = make_workload(load_kernel("spmv"), [f"{path}:pattern"]).tensors["B"]
    assert np.array_equal(tensor.to_dense() != 0, [[True, False], [True, False]])
    assert tensor.vals.dtype.kind == "i"


@pytest.mark.parametrize(
    ("program", "data", "name", "is_drawn"),
    [
        ("spmm", "A={}:pattern", "A", True),
        ("spmm", "{}:pattern", "A", True),
        ("spmm", "A={}", "A", False),
        ("gcn", "A={}:pattern", "A", True),
    ],
)
def test_a_pattern_for_a_tensor_or_the_first(
    program: str, data: str, name: str, is_drawn: bool, tmp_path: Path
) -> None:
    """Also of a file that has a pattern alone, whose values are ones."""
    path = tmp_path / "a.mtx"
    places = scipy.sparse.coo_array(np.eye(7) + np.eye(7, k=1))
    scipy.io.mmwrite(path, places, field="pattern")
    tensor = bind_program(program, [data.format(path)], value=value_type("f32")).tensors[name]
    assert np.array_equal(tensor.to_dense() != 0, places.toarray() != 0)
    assert (len(set(tensor.vals.tolist())) > 1) is is_drawn


def test_a_graph_of_a_model_has_values_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, scipy.sparse.coo_array(np.eye(4, k=1)), field="pattern")
    given, pattern = (bind_program("gcn", [f"{path}{more}"]).tensors["A"] for more in ("", ":pattern"))
    assert np.array_equal(given.to_dense(), pattern.to_dense())
    for data in (f"{path}:places", f"A={path}:places"):
        with pytest.raises(InputError, match="unknown option 'places'; the only one is ':pattern'"):
            bind_program("gcn", [data])


def test_dataset_file_gives_adjacency_and_features(tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    adjacency = scipy.sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    features = scipy.sparse.csr_array(np.array([[1, 0], [0, 2], [3, 0]]))
    np.savez(
        path,
        adj_indptr=adjacency.indptr,
        adj_indices=adjacency.indices,
        adj_shape=adjacency.shape,
        feat_indptr=features.indptr,
        feat_indices=features.indices,
        feat_data=features.data,
        feat_shape=features.shape,
    )
    workload = make_workload(load_kernel("spmm"), [str(path)])
    assert np.array_equal(workload.tensors["A"].to_dense(), adjacency.toarray())
    assert np.array_equal(workload.tensors["X"].to_dense(), features.toarray())
    assert workload.name == "graph.npz"


def test_capacity_has_room_for_the_result_and_is_rounded_up() -> None:
    entries = {0: 1, 1: 1, 156: 256, 300: 512, 512: 512, 513: 1_024, 41_943: 41_984, 65_537: 67_584}
    assert {n: rounded_entries(n) for n in entries} == entries
    assert [rounded_extent(n) for n in (1, 34, 65, 130, 2_708, 70_000)] == [1, 64, 128, 192, 2_752, 71_680]
    capacity = make_workload(load_kernel("mmadd"), ["karate"]).capacity()
    assert capacity.extents == {"i": 64, "j": 64}
    assert capacity.entries["B"] == 256
    assert capacity.entries["X"] >= 156


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("random:colour=red", "unknown key 'colour'"),
        ("random:size=many", "'many' is no number for size"),
        ("random:size=0", "size of 1 or more"),
        ("random:density=2", "density from 0 to 1"),
        ("Q=a.mtx", "reads no tensor 'Q'"),
        ("a.mtx:upside", "unknown option 'upside'"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_workload(load_kernel("spmm"), [spec])


def test_a_size_goes_by_the_first_index_that_has_it() -> None:
    with pytest.raises(InputError, match="'k' has the extent of i; give that"):
        bind_program("y[i] = A[i, k] * x[k] + x[i]", ["random:k=20"])


@pytest.mark.parametrize("program", ["spmm", "gcn"])
def test_no_tensor_has_two_files(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_tensor(Path("a.mtx"), karate())
    with pytest.raises(InputError, match="'data' gives 'A' data twice"):
        bind_program(program, ["A=a.mtx", "A=a.mtx"])


@pytest.mark.parametrize("program", ["spmm", "gcn"])
def test_a_file_for_one_tensor_comes_before_a_data_set(program: str, tmp_path: Path) -> None:
    """A smaller graph, and features of its size."""
    graph = random_tensor((9, 9), "csr", density=0.5, seed=1)
    features = Tensor.from_dense(np.ones((9, 3)), "dense")
    write_tensor(tmp_path / "a.mtx", graph)
    write_tensor(tmp_path / "x.npz", features)
    files = [f"A={tmp_path / 'a.mtx'}", f"X={tmp_path / 'x.npz'}"]
    for data_set in ("karate", "synthetic:cora,nodes=20,edges=30,features=16"):
        found = bind_program(program, [data_set, *files]).tensors
        assert found["A"].shape == graph.shape
        assert np.array_equal(found["X"].to_dense(), features.to_dense())


def test_no_operand_for_the_main_matrix() -> None:
    program = parse("tensor a[i=4] : dense\ntensor b[i] : dense\nb[i] = 2 * a[i]")
    with pytest.raises(InputError, match="reads no sparse tensor of rank 2"):
        make_workload(program, ["karate"])


def test_whole_numbers_keep_the_structure() -> None:
    """The greatest becomes 4, and nothing that was not zero becomes zero."""
    workload = make_model_workload("gcn", ["karate"])
    whole = workload.in_whole_numbers(4).tensors
    for name, tensor in workload.tensors.items():
        before, after = tensor.to_dense(), whole[name].to_dense()
        assert np.array_equal(after, np.rint(after))
        assert np.array_equal(np.sign(after), np.sign(before))
        assert np.max(np.abs(after)) == 4
        assert whole[name].format == tensor.format


def test_weights_are_scaled_by_how_many_a_sum_takes() -> None:
    text = """
        value f32
        tensor X[i=64, k=256]
        tensor W[k, j=16]
        tensor A[h=9, i] : csr
        tensor V[j, g=3]
        tensor b[g]
        T[i, j] = X[i, k] * W[k, j]
        Y[h, j] = A[h, i] * T[i, j]
        Z[h, g] = Y[h, j] * V[j, g] + b[g]
    """

    def greatest(program: str) -> dict[str, float]:
        tensors = make_workload(parse(program), ["random:density=0.25"]).tensors
        return {name: float(np.abs(tensor.vals).max()) for name, tensor in tensors.items()}

    found = greatest(text)
    # 256 terms in each of the first sums, a quarter of 64 in those of A, and 16 in the last.
    assert {name: found[name] for name in "XWA"} == {"X": 1, "W": 1 / 16, "A": 1 / 4}
    assert 0.2 < found["V"] <= 0.25 < found["b"]
    assert greatest(text.replace("f32", "i32"))["W"] == 4


def test_features_that_fit_nothing_are_noted() -> None:
    """Cora's features have a column for each of its words; what has another number of columns is random."""
    program = parse("tensor A[i, k] : csr\ntensor X[k, f=12] : dense\nY[i, f] = A[i, k] * X[k, f]", "g.ein")
    workload = make_workload(program, ["synthetic:cora,nodes=20,edges=30,features=16"])
    assert workload.tensors["X"].shape == (20, 12)
    assert workload.notes == (
        "The features of the data, 20 x 16, fit no matrix of 'g', and are left out; X is random.",
    )
    assert not make_workload(program, ["synthetic:cora,nodes=20,edges=30,features=12"]).notes
    assert not make_workload(load_kernel("spmv"), ["synthetic:cora,nodes=20,edges=30"]).notes


def test_stand_ins_are_bound_like_files() -> None:
    tensors = make_workload(load_kernel("spmm"), ["synthetic:cora"]).tensors
    assert (tensors["A"].shape, tensors["X"].shape) == ((2708, 2708), (2708, 1433))
    tensors = make_model_workload("bigbird_attention", ["synthetic:imdb"]).tensors
    assert (tensors["M"].shape, tensors["Q"].shape) == ((1024, 1024), (1024, 16))
    tensors = make_model_workload("sae", ["synthetic:imagenet", "random:h=8"]).tensors
    assert (tensors["X"].shape, tensors["W1"].shape) == ((224, 224), (8, 224))
    for name, data in (("gcn", "synthetic:imdb"), ("sae", "synthetic:cora"), ("gcn", "synthetic:x")):
        with pytest.raises(InputError, match=r"reads no|no stand-in"):
            make_model_workload(name, [data])
    tensors = make_workload(load_kernel("spmm"), ["synthetic:uniform,nodes=40,density=0.25,seed=1"]).tensors
    assert (tensors["A"].shape, tensors["A"].nnz) == ((40, 40), 400)
    tensors = make_model_workload("bigbird_attention", ["synthetic:imdb,length=64,block=4"]).tensors
    assert tensors["M"].shape == (64, 64)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("n=3", r"'n' is no size of cora: use seed, nodes, edges, features, density"),
        ("nodes=0", "'0' is no nodes of cora: use a number greater than zero"),
        ("nodes=1.5", r"'1\.5' is no nodes of cora"),
        ("seed=x", "'x' is no seed"),
        ("nodes", "'nodes' is no option of a stand-in; write seed=1, once each"),
        ("seed=1,seed=2", "'seed=2' is no option"),
    ],
)
def test_bad_sizes_of_stand_ins(sizes: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^data='synthetic:cora,{sizes}': {message}"):
        make_workload(load_kernel("spmm"), [f"synthetic:cora,{sizes}"])


def test_an_extent_that_nothing_fixes() -> None:
    """Of the two that a reshape leaves open, where there may be one."""
    text = "tensor A[i=6] : dense\ntensor T[j, k] : dense\nT[j, k] = reshape(A[i])"
    with pytest.raises(InputError, match=r"Nothing gives the extent of index j in 'text'; declare it"):
        make_workload(parse(text, name="text"), []).capacity()


def test_models_are_drawn_at_a_size() -> None:
    """A graph too, where something is said of it; without a word it is the karate club."""
    sized = make_model_workload("gcn", ["random:size=8,c=3"]).tensors
    assert {sized[name].shape for name in ("A", "X", "W1")} == {(8, 8)}
    assert sized["W2"].shape == (8, 3)
    wide = make_model_workload("gcn", ["random:i=40,density=0.5"]).tensors
    assert wide["A"].shape == (40, 40)
    assert 0.45 < wide["A"].nnz / 1600 < 0.55
    assert make_model_workload("gcn", ["random:h=3"]).tensors["A"].shape == (34, 34)
    assert make_model_workload("gcn", ["karate", "random:size=5"]).tensors["X"].shape == (34, 5)
    assert make_model_workload("mlp", ["random:size=8,n=2"]).tensors["X"].shape == (2, 8)
    for spec, said in (
        ("karate+random:i=3", r"random:i=3': model 'gcn' has no"),
        ("random:density=2", "no den"),
    ):
        with pytest.raises(InputError, match=said):
            make_model_workload("gcn", spec.split("+"))


@pytest.mark.parametrize("program", ["gcn", "mlp", "bigbird_attention", "spmm", "ttv"])
def test_what_takes_a_small_stand_in_is_offered_it(program: str) -> None:
    """Of each kind the smallest set: a program that is offered it takes it, and else refuses it."""
    offered = set(stand_ins_for(program))
    for name in ("cora", "uniform", "bert-pruned", "imdb", "imagenet"):
        if name in offered:
            bind_program(program, [f"synthetic:{name}"])
        else:
            with pytest.raises(InputError):
                bind_program(program, [f"synthetic:{name}"])


@pytest.mark.parametrize("program", ["spmm", "gcn"])
@pytest.mark.parametrize("word", ["cora", "cora.npz"])
def test_a_set_that_is_not_there_has_a_stand_in(program: str, word: str) -> None:
    with pytest.raises(
        InputError, match=f"no data '{word}', .* or 'synthetic:cora', random data of its size"
    ):
        bind_program(program, [word])


def test_a_set_too_many() -> None:
    with pytest.raises(InputError, match="'spmm' has no further sparse tensor of rank 2"):
        make_workload(load_kernel("spmm"), ["karate", "karate"])


def test_a_density_of_nothing_sparse_is_noted() -> None:
    text = "T[i, j] = A[i, k] * X[k, j]"
    for declared, noted in (("", True), ("tensor A[i, k] : csr\n", False)):
        found = make_workload(parse(declared + text, implied=True), ["random:size=9,density=0.2"])
        notes = [note for note in found.notes if "'tensor A[i, k] : csr'" in note]
        assert bool(notes) == noted
        assert found.tensors["A"].nnz == (81 if noted else 16)
    assert not make_workload(parse(text, implied=True), ["random:size=9"]).notes


@pytest.mark.parametrize("program", ["spmm", "gcn"])
@pytest.mark.parametrize("word", ["karate", "random", "auto", "synthetic:cora"])
def test_a_word_of_data_is_for_no_single_tensor(program: str, word: str) -> None:
    with pytest.raises(InputError, match=f"'{word}' is for a whole program; give it by itself, without 'A='"):
        bind_program(program, [f"A={word}"])
