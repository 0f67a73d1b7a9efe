"""Files as other projects give them: compressed text, edge lists, data-set folders, PyTorch's."""

import gzip
import io
import pickle
import sys
import tarfile
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from samhw.errors import InputError
from samhw.tensors import is_dataset, read_dataset, read_tensor

MTX = "%%MatrixMarket matrix coordinate real general\n% a comment\n2 3 3\n1 1 1.5\n2 3 -2\n2 1 1e1\n"
MATRIX = [[1.5, 0, 0], [10, 0, -2]]


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        (read_dataset if is_dataset(path) else read_tensor)(path)
    return str(caught.value)


def packed(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def archive(path: Path, **files: str) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"folder/{name}.mtx")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


# Compressed text


def test_compressed_text(tmp_path: Path) -> None:
    tensor = read_tensor(packed(tmp_path / "a.mtx.gz", MTX))
    assert str(tensor.format) == "csr"
    assert_array_equal(tensor.to_dense(), MATRIX)
    assert_array_equal(
        read_tensor(packed(tmp_path / "a.tns.gz", "1 1 5\n2 3 7\n")).to_dense(), [[5, 0, 0], [0, 0, 7]]
    )


def test_archives_of_suitesparse(tmp_path: Path) -> None:
    assert_array_equal(read_tensor(archive(tmp_path / "a.tar.gz", a=MTX)).to_dense(), MATRIX)
    other = "%%MatrixMarket matrix array real general\n1 1\n7\n"
    assert_array_equal(read_tensor(archive(tmp_path / "b.tar.gz", b_rhs=other, b=MTX)).to_dense(), MATRIX)
    assert "holds folder/x.mtx, folder/y.mtx: unpack it" in refused(
        archive(tmp_path / "c.tar.gz", x=MTX, y=MTX)
    )
    assert "must hold one matrix, or one called d.mtx, but it holds none" in refused(
        archive(tmp_path / "d.tar.gz")
    )


@pytest.mark.parametrize("name", ["a.mtx.gz", "a.tns.gz", "a.tar.gz", "a.txt.gz"])
def test_what_is_damaged(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    whole = archive(path, a=MTX * 50) if "tar" in name else packed(path, MTX * 50)
    data = whole.read_bytes()
    for damaged in (data[: len(data) // 2], b"no archive", data[:20] + b"xxxx" + data[24:]):
        path.write_bytes(damaged)
        assert f"{name} is damaged" in refused(path)


def test_errors_name_the_line_of_a_compressed_file(tmp_path: Path) -> None:
    text = MTX.replace("2 3 -2", "2 4 -2")
    assert "a.mtx.gz line 5: coordinate 4 of mode 1" in refused(packed(tmp_path / "a.mtx.gz", text))


@pytest.mark.parametrize("word", ["9223372036854775808", "-9223372036854775809", "18446744073709551615"])
def test_a_whole_number_of_more_than_64_bits_is_refused_by_its_line(tmp_path: Path, word: str) -> None:
    path = tmp_path / "a.tns"
    path.write_text(f"1 1 -9223372036854775808\n\n1 2 9223372036854775807\n1 3 {word}\n")
    assert refused(path) == f"{path} line 4: {word} takes more than 64 bits"


# The fast way and the slow one


@pytest.mark.parametrize(
    "body",
    [
        "1 1 5\n2 3 6\n",
        "1 1 5\r\n2 3 6\r\n",
        "\t1  1 5 \n\n2 3 6",
        "1 1 5\n2 3 6 # after\n",
        "1 1 +5\n2 3 06\n",
        "1 1 5.\n2 3 .6e1\n",
        "1 1 5\n" * 7 + "2 3 0.6e+1\n",
        "1 1 123456789012345678\n2 3 6\n",
        "1 1 1234567890123456789\n2 3 6\n",
        "1 1 0.1\n2 3 1.7976931348623157e308\n2 2 4.9e-324\n",
    ],
)
def test_both_ways_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    path = tmp_path / "a.tns"
    path.write_text(body)
    found = []
    for block, plain in ((1 << 22, True), (7, True), (0, False)):
        with monkeypatch.context() as patch:
            patch.setattr("samhw.tensors.io.text._BLOCK", block)
            if not plain:
                patch.setattr("samhw.tensors.io.text.read_plain", lambda *_: None)
            found.append(read_tensor(path))
    for tensor in found[:2]:
        assert tensor.dtype == found[2].dtype
        assert_array_equal(tensor.to_dense(), found[2].to_dense())


@pytest.mark.parametrize(
    "body", ["1 1 5\n2 3\n6\n", "1 1-1 5\n", "1 1 5-\n", "1 . 5\n", "1 1 5e\n", "1 1 --5\n"]
)
def test_what_only_looks_plain(tmp_path: Path, body: str) -> None:
    (tmp_path / "a.tns").write_text(body)
    assert "a.tns line" in refused(tmp_path / "a.tns")


# Edge lists


def test_edge_lists(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("# Directed graph\n# FromNodeId\tToNodeId\n0\t2\n2\t1\n0\t2\n")
    assert_array_equal(read_tensor(path).to_dense(), [[0, 0, 1], [0, 0, 0], [0, 1, 0]])
    # As the downloads begin: web-Google.txt.gz, and com-amazon.ungraph.txt.gz.
    path.write_text(
        "# Directed graph (each unordered pair of nodes is saved once): web-Google.txt \n"
        "# Webgraph from the Google programming contest, 2002\n# Nodes: 3 Edges: 3\n"
        "# FromNodeId\tToNodeId\n0\t1\n0\t2\n1\t0\n"
    )
    assert_array_equal(read_tensor(path).to_dense(), [[0, 1, 1], [1, 0, 0], [0, 0, 0]])
    path.write_text(
        "# Undirected graph: ../../data/output/amazon.ungraph.txt\n# Amazon\n# Nodes: 4 Edges: 2\n"
        "# FromNodeId\tToNodeId\n0\t2\n1\t1\n"
    )
    tensor = read_tensor(path)
    assert tensor.shape == (4, 4)
    assert tensor.to_coo()[0].T.tolist() == [[0, 2], [1, 1], [2, 0]]
    # The numbers of the nodes need not be those below their number.
    tensor = read_tensor(packed(tmp_path / "b.txt.gz", "# Nodes: 3 Edges: 2\n10 30\n30 700\n"))
    assert_array_equal(tensor.to_dense(), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    path.write_text("0 1 0.5\n1 0 2\n")
    assert_array_equal(read_tensor(path).to_dense(), [[0, 0.5], [2, 0]])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("# nothing\n", "has no edges: give two node numbers a line"),
        ("0 1\n-1 2\n", "line 2: coordinates must be integers, counted from 0"),
        ("0 1 2 3\n", "line 1: 4 numbers where an edge has 2, or 3 with a weight"),
        ("0 1\na b\n", "line 2: 'a' is not a number"),
    ],
)
def test_edge_lists_that_are_none(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert complaint in refused(tmp_path / "a.txt")


# Data sets


def test_citation_full(tmp_path: Path) -> None:
    arrays = {
        "adj_data": np.array([1.0, 1.0], np.float32),
        "adj_indices": np.array([1, 0], np.int32),
        "adj_indptr": np.array([0, 1, 2], np.int32),
        "adj_shape": np.array([2, 2]),
        "attr_data": np.array([0.5, 2.0]),
        "attr_indices": np.array([0, 2]),
        "attr_indptr": np.array([0, 2, 2]),
        "attr_shape": np.array([2, 3]),
        "labels": np.array([0, 1]),
        # As in the real files: pickled, and never looked at.
        "idx_to_class": np.array({0: "a"}, dtype=object),
    }
    np.savez(tmp_path / "cora_ml.npz", **arrays)
    found = read_dataset(tmp_path / "cora_ml.npz")
    assert_array_equal(found["adjacency"].to_dense(), [[0, 1], [1, 0]])
    assert_array_equal(found["features"].to_dense(), [[0.5, 0, 2], [0, 0, 0]])
    older = {
        key.replace("adj_", "adj_matrix.").replace("attr_", "attr_matrix."): a for key, a in arrays.items()
    }
    np.savez(tmp_path / "older.npz", **older)
    assert_array_equal(read_dataset(tmp_path / "older.npz")["features"].to_dense(), [[0.5, 0, 2], [0, 0, 0]])
    bare = {key: array for key, array in arrays.items() if not key.startswith("attr_")}
    np.savez(tmp_path / "polblogs.npz", **bare)
    assert read_dataset(tmp_path / "polblogs.npz").keys() == {"adjacency"}
    np.savez(tmp_path / "dense.npz", attr_matrix=np.array([[1.5], [0]]), **bare)
    assert_array_equal(read_dataset(tmp_path / "dense.npz")["features"].to_dense(), [[1.5], [0]])
    arrays["attr_indices"] = np.array([0, 3])
    np.savez(tmp_path / "bad.npz", **arrays)
    assert "the attr_ arrays are not a CSR matrix" in refused(tmp_path / "bad.npz")


def ogb_folder(root: Path, edges: str = "0,1\n1,2\n0,1\n", nodes: str = "3\n") -> Path:
    packed(root / "raw/edge.csv.gz", edges)
    packed(root / "raw/num-node-list.csv.gz", nodes)
    packed(root / "raw/node-feat.csv.gz", "0.5,1\n-1,2e-1\n0,0\n")
    return root


def test_folders_of_ogb(tmp_path: Path) -> None:
    root = ogb_folder(tmp_path / "ogbn_arxiv")
    for path in (root, root / "raw"):
        found = read_dataset(path)
        assert_array_equal(found["adjacency"].to_dense(), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        assert_array_equal(found["features"].to_dense(), [[0.5, 1], [-1, 0.2], [0, 0]])
    # OGB's own loader adds the other direction to some;
    # its folders are called so, and those in the archives that it downloads otherwise.
    for name in ("ogbl_collab", "collab", "ppassoc", "ogbn-products"):
        both = read_dataset(ogb_folder(tmp_path / name))["adjacency"]
        assert_array_equal(both.to_dense(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_papers_of_ogbn_mag(tmp_path: Path) -> None:
    raw = tmp_path / "ogbn_mag/raw"
    packed(raw / "relations/paper___cites___paper/edge.csv.gz", "0,1\n")
    packed(raw / "relations/author___writes___paper/edge.csv.gz", "6,1\n")
    packed(raw / "num-node-dict.csv.gz", "author,paper\n7,2\n")
    packed(raw / "node-feat/paper/node-feat.csv.gz", "1\n2\n")
    found = read_dataset(tmp_path / "ogbn_mag")
    assert_array_equal(found["adjacency"].to_dense(), [[0, 1], [0, 0]])
    assert_array_equal(found["features"].to_dense(), [[1], [2]])


@pytest.mark.parametrize(
    ("edges", "nodes", "complaint"),
    [
        ("0,1\n0,3\n", "3\n", "edge.csv.gz line 2: coordinate 3 of mode 1 is out of the range 0 to 2"),
        ("0,1\n0\n", "3\n", "edge.csv.gz line 2 has 1 numbers but the lines above 2"),
        ("0,x\n", "3\n", "edge.csv.gz line 1: 'x' is not a number"),
        ("0,1,2\n", "3\n", "edge.csv.gz line 1: 3 numbers where an edge has 2"),
        ("0,1\n", "4\n", "node-feat.csv.gz has 3 lines but the graph has 4 nodes"),
        ("0,1\n", "3\n3\n3\n", "num-node-list.csv.gz does not say how many nodes one graph has"),
        ("0,1\n", "", "num-node-list.csv.gz does not say how many nodes one graph has"),
    ],
)
def test_folders_that_do_not_fit(tmp_path: Path, edges: str, nodes: str, complaint: str) -> None:
    assert complaint in refused(ogb_folder(tmp_path, edges, nodes))
    (tmp_path / "raw/edge.csv.gz").unlink()
    assert "raw lacks edge.csv.gz: unpack the data set again" in refused(tmp_path)


# Arrays


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6).reshape(2, 3))
    tensor = read_tensor(tmp_path / "a.npy")
    assert str(tensor.format) == "dense"
    assert_array_equal(tensor.to_dense(), [[0, 1, 2], [3, 4, 5]])
    np.save(tmp_path / "b.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "b.npy is not a NumPy array of numbers" in refused(tmp_path / "b.npy")
    (tmp_path / "c.npy").write_bytes(b"no array")
    assert "c.npy is not a NumPy array of numbers" in refused(tmp_path / "c.npy")


class Torch:
    """What a file of torch.save is made of, without PyTorch: names that a pickle refers to, and storages."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.storages: list[bytes] = []
        for module, names in {
            "torch": ("FloatStorage", "LongStorage", "BFloat16Storage", "Size"),
            "torch._utils": ("_rebuild_tensor_v2", "_rebuild_sparse_tensor"),
            "torch.serialization": ("_get_layout",),
        }.items():
            made = types.ModuleType(module)
            for name in names:
                setattr(made, name, type(name, (), {"__module__": module, "__qualname__": name}))
            patch.setitem(sys.modules, module, made)

    def name(self, module: str, name: str) -> type:
        return getattr(sys.modules[module], name)

    def call(self, module: str, name: str, *arguments: object) -> object:
        function = self.name(module, name)

        class Call:
            def __reduce__(self) -> tuple[object, ...]:
                return function, arguments

        return Call()

    def strided(self, kind: str, data: np.ndarray, offset: int = 0) -> object:
        torch = self

        class Storage:
            def __init__(self) -> None:
                self.number = len(torch.storages)
                torch.storages.append(data.tobytes())
                self.id = ("storage", torch.name("torch", kind), str(self.number), "cpu", data.size)

        size = data.shape
        stride = tuple(step // data.itemsize for step in data.strides)
        return self.call("torch._utils", "_rebuild_tensor_v2", Storage(), offset, size, stride, False, {})

    def sparse(self, layout: str, *parts: object) -> object:
        named = self.call("torch.serialization", "_get_layout", layout)
        return self.call("torch._utils", "_rebuild_sparse_tensor", named, parts)

    def save(self, path: Path, value: object) -> Path:
        class Pickler(pickle.Pickler):
            def persistent_id(self, obj: object) -> object:
                return getattr(obj, "id", None)

        data = io.BytesIO()
        Pickler(data, 2).dump(value)
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("archive/data.pkl", data.getvalue())
            for number, storage in enumerate(self.storages):
                file.writestr(f"archive/data/{number}", storage)
        return path


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    return Torch(monkeypatch)


def test_dense_tensors_of_pytorch(tmp_path: Path, torch: Torch) -> None:
    dense = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert_array_equal(
        read_tensor(torch.save(tmp_path / "a.pt", torch.strided("FloatStorage", dense))).to_dense(), dense
    )
    halves = (dense.view(np.uint32) >> 16).astype(np.uint16)
    path = torch.save(tmp_path / "b.pt", {"weight": torch.strided("BFloat16Storage", halves)})
    assert_array_equal(read_tensor(path).to_dense(), dense)


def test_sparse_tensors_of_pytorch(tmp_path: Path, torch: Torch) -> None:
    values = torch.strided("FloatStorage", np.array([1.5, 2, 3], np.float32))
    indices = torch.strided("LongStorage", np.array([[0, 1, 1], [2, 0, 2]]))
    path = torch.save(tmp_path / "coo.pt", torch.sparse("torch.sparse_coo", indices, values, (2, 3), True))
    assert_array_equal(read_tensor(path).to_dense(), [[0, 0, 1.5], [2, 0, 3]])
    pos = torch.strided("LongStorage", np.array([0, 1, 3]))
    crd = torch.strided("LongStorage", np.array([2, 0, 2]))
    path = torch.save(tmp_path / "csr.pt", torch.sparse("torch.sparse_csr", pos, crd, values, (2, 3)))
    tensor = read_tensor(path)
    assert str(tensor.format) == "csr"
    assert_array_equal(tensor.to_dense(), [[0, 0, 1.5], [2, 0, 3]])


@pytest.mark.parametrize(("layout", "format"), [("bsr", "bcsr(2)"), ("bsc", "bcsr(2) @ (1, 0)")])
def test_blocks_of_pytorch(tmp_path: Path, torch: Torch, layout: str, format: str) -> None:
    blocks = np.array([[[1.5, 2], [0, 4]], [[3, 0], [5, 6]]], np.float32)
    pos, crd = (torch.strided("LongStorage", np.array(words)) for words in ([0, 1, 2], [1, 0]))
    values = torch.strided("FloatStorage", blocks)
    path = torch.save(
        tmp_path / "a.pt", torch.sparse(f"torch.sparse_{layout}", pos, crd, values, (4, 4), "?")
    )
    tensor = read_tensor(path)
    assert str(tensor.format) == format
    above, below = blocks if layout == "bsr" else blocks[::-1]
    none = np.zeros((2, 2))
    assert_array_equal(tensor.to_dense(), np.block([[none, above], [below, none]]))


def test_nothing_in_a_file_is_executed(tmp_path: Path, torch: Torch) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "touched",)

    assert "which is no tensor: save the tensor by itself" in refused(
        torch.save(tmp_path / "evil.pt", Evil())
    )
    assert not (tmp_path / "touched").exists()


def test_files_of_pytorch_that_are_no_tensor(tmp_path: Path, torch: Torch) -> None:
    (tmp_path / "a.pt").write_bytes(b"no archive")
    assert "a.pt is no tensor of torch.save" in refused(tmp_path / "a.pt")
    assert "b.pt holds 0 tensors" in refused(torch.save(tmp_path / "b.pt", {"epoch": 3}))
    outside = torch.strided("FloatStorage", np.zeros((2, 3), np.float32), offset=1)
    assert "c.pt: a tensor lies outside of its storage" in refused(torch.save(tmp_path / "c.pt", outside))
    strange = torch.sparse("torch._mkldnn", (2, 3))
    assert "layout torch._mkldnn is not supported" in refused(torch.save(tmp_path / "d.pt", strange))
    none = torch.strided("LongStorage", np.array([0, 0]))
    several = torch.strided("FloatStorage", np.zeros((1, 0, 2, 2), np.float32))
    batched = torch.sparse("torch.sparse_bsr", none, none, several, (1, 2, 2))
    assert "e.pt: blocks of 3 axes: save matrices one by one" in refused(
        torch.save(tmp_path / "e.pt", batched)
    )
