"""Tests of the PyTorch importer: skipped where there is no PyTorch, which the tests' installation brings."""

import pytest

torch = pytest.importorskip("torch")
# The modules are small, and the tests have the processors.
torch.set_num_threads(1)
