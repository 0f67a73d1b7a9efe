"""samhw: sparse tensor programs to streaming hardware, with a simulator that agrees with the RTL to the
cycle.

>>> import numpy as np
>>> import samhw
>>> design = samhw.compile("y[i] = A[i, j] * x[j]", formats={"A": "csr"})
>>> design.run(A=np.eye(3, dtype=int), x=np.array([1, 2, 3]))["y"]
array([1, 2, 3])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from samhw.version import __version__

if TYPE_CHECKING:
    # For checkers of types alone: the command line is up in the time that NumPy takes to be imported.
    from samhw.app.api import DesignResult, RunnableDesign, accuracy, compile, load
    from samhw.choices.schedule import Schedule
    from samhw.tensors import Tensor

__all__ = [
    "DesignResult",
    "RunnableDesign",
    "Schedule",
    "Tensor",
    "__version__",
    "accuracy",
    "compile",
    "load",
]

_HOMES = {
    "DesignResult": "samhw.app.api",
    "RunnableDesign": "samhw.app.api",
    "Schedule": "samhw.choices.schedule",
    "Tensor": "samhw.tensors",
    "accuracy": "samhw.app.api",
    "compile": "samhw.app.api",
    "load": "samhw.app.api",
}


def __getattr__(name: str) -> object:
    """Imports what is used, when it is used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'samhw' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
