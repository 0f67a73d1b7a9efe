"""Tests of the PyTorch importer: skipped where there is no PyTorch, which the tests' installation brings."""

import pytest

pytest.importorskip("torch")
