"""PyTorch modules as programs: what `samhw.app.torch` gives."""

from samhw.app.torch import *  # noqa: F403
from samhw.app.torch import __all__ as __all__
