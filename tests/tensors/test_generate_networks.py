import numpy as np
import pytest

from samhw.errors import InputError
from samhw.tensors.generate import bigbird_mask, longformer_mask, pixelfly_mask, pruned_weights


def blocks(mask: np.ndarray, block: int) -> np.ndarray:
    """1 for each full block, 0 for each empty one; there are no others."""
    n = len(mask) // block
    sums = mask.reshape(n, block, n, block).sum((1, 3))
    assert set(np.unique(sums)) <= {0, block * block}
    return sums // (block * block)


def test_the_window_and_the_global_blocks():
    tensor = bigbird_mask(12, 2, seed=0, random_blocks=0)
    assert str(tensor.format) == "csr"
    assert blocks(tensor.to_dense(), 2).tolist() == [
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 0, 1, 1, 1, 0],
        [1, 0, 0, 1, 1, 1],
        [1, 0, 0, 0, 1, 1],
    ]
    assert np.array_equal(
        bigbird_mask(6, 1, seed=0, window=1, global_blocks=0, random_blocks=0).to_dense(), np.eye(6)
    )


def test_the_random_blocks():
    fixed = blocks(bigbird_mask(64, 4, seed=1, random_blocks=0).to_dense(), 4)
    mask = blocks(bigbird_mask(64, 4, seed=1, random_blocks=2).to_dense(), 4)
    added = (mask - fixed).sum(1)
    assert added.tolist() == [0] + [2] * 15
    again, other = (blocks(bigbird_mask(64, 4, seed=s, random_blocks=2).to_dense(), 4) for s in (1, 2))
    assert np.array_equal(mask, again)
    assert not np.array_equal(mask, other)


def test_a_small_mask_is_full():
    assert bigbird_mask(4, 2, seed=0, random_blocks=5).to_dense().all()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"block": 5}, "blocks of 5 do not divide a sequence of 12"),
        ({"block": 0}, "blocks of 0 do not divide"),
        ({"window": 2}, "a window of 2 blocks has no middle"),
        ({"random_blocks": -1}, "fewer than 0 global or random blocks"),
    ],
)
def test_impossible_masks(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        bigbird_mask(**{"n": 12, "block": 2, "seed": 0, **arguments})


def test_pruning_keeps_the_greatest_weights():
    full = pruned_weights((20, 30), 1.0, seed=5, scale=0.1).to_dense()
    pruned = pruned_weights((20, 30), 0.25, seed=5, scale=0.1).to_dense()
    kept = pruned != 0
    assert kept.sum() == 150
    assert np.array_equal(pruned[kept], full[kept])
    assert np.abs(full[kept]).min() >= np.abs(full[~kept]).max()
    assert full.std() == pytest.approx(0.1, rel=0.1)
    assert str(pruned_weights((3, 3, 3), 0.5, seed=0, format="csf").format) == "csf"


def test_an_impossible_density():
    with pytest.raises(InputError, match=r"density 1\.5 is impossible"):
        pruned_weights((2, 2), 1.5, seed=0)


def test_few_weights_are_the_greatest_too():
    few, whole = (
        np.abs(pruned_weights((1000, 100), density, seed=1, scale=2).vals) for density in (0.09, 0.11)
    )
    assert (len(few), len(whole)) == (9000, 11000)
    # Of a normal distribution 9 % are farther than 1.695 from the mean, and 11 % than 1.598.
    np.testing.assert_allclose([few.min(), whole.min()], [2 * 1.695, 2 * 1.598], rtol=0.02)
    np.testing.assert_allclose(few.mean(), np.sort(whole)[-9000:].mean(), rtol=0.02)


def test_masks_by_hand():
    """Four blocks of one: two on and right of the diagonal; and strides of 1 and 2."""
    band = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    assert longformer_mask(4, 1, window=2).to_dense().tolist() == band
    butterfly = [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]]
    assert pixelfly_mask(4, 1).to_dense().tolist() == butterfly
    assert pixelfly_mask(8, 2).nnz == 12 * 4


def test_masks_that_cannot_be():
    with pytest.raises(InputError, match="blocks of 3 do not divide a sequence of 8"):
        longformer_mask(8, 3, window=1)
    with pytest.raises(InputError, match="a window of 0 blocks is empty"):
        longformer_mask(8, 2, window=0)
    with pytest.raises(InputError, match="6 blocks are no power of two"):
        pixelfly_mask(12, 2)
