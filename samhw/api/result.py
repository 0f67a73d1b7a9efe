"""What a run gives to a user."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import scipy.sparse

from samhw.backends import RunResult
from samhw.checking import Check, check
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.html import html_section, html_table
from samhw.report.statistics import Statistics, statistics
from samhw.tensors import Tensor
from samhw.workload import Workload

__all__ = ["DesignResult"]


@dataclass(frozen=True)
class DesignResult:
    """A finished run: `result["T"]` is a tensor that it has computed.

    `run` is what the backend gave, `compiled` what it ran, and `workload` on what.
    """

    run: RunResult
    compiled: Compiled
    workload: Workload

    @property
    def cycles(self) -> int:
        """As docs/timing.md defines them."""
        return self.run.cycles

    @property
    def seconds(self) -> float:
        """Of wall time, without the build."""
        return self.run.seconds

    @property
    def backend(self) -> str:
        """What ran it."""
        return self.run.backend

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What the run has stored: results, and what passed between regions."""
        return self.run.outputs

    def __getitem__(self, name: str) -> npt.NDArray[Any] | scipy.sparse.sparray:
        """A stored tensor: a NumPy array if it is dense, else a SciPy array, by rows or, if the format is, by
        columns; a list of coordinates where the rank is not 2.

        Raises:
            KeyError: for a name that the run has not stored.
        """
        if name not in self.tensors:
            raise KeyError(f"the run has stored no tensor '{name}', but {', '.join(self.tensors)}")
        tensor = self.tensors[name]
        if tensor.format.is_all_dense:
            return tensor.to_dense()
        if tensor.rank == 2:
            matrix = tensor.to_scipy()
            return matrix.tocsc() if tensor.format.mode_order == (1, 0) else matrix
        coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
        array: scipy.sparse.sparray = scipy.sparse.coo_array((vals, tuple(coords)), shape=tensor.shape)
        return array

    def keys(self) -> tuple[str, ...]:
        """The names of the program's results."""
        return tuple(decl.name for decl in self.workload.program.outputs)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def check(self) -> Check:
        """The comparison of everything that is stored with NumPy, within what the value type promises.

        Raises:
            RunError: for a wrong result.
        """
        found = check(self.workload, self.compiled, self.tensors)
        if not found.good:
            raise RunError(
                f"The results of '{self.workload.program.name}' are wrong, off by {found.max_abs_error:g}; "
                "please report this as a bug."
            )
        return found

    def stats(self) -> Statistics:
        """Where the cycles went, node by node, of a run of the simulator.

        Raises:
            InputError: for a run of another backend.
        """
        return statistics(self.compiled, self.run)

    def __repr__(self) -> str:
        results = ", ".join(f"{name} {self.tensors[name]!r}" for name in self.keys())
        name = self.workload.program.name
        return f"<DesignResult of {name} by {self.backend}: {self.cycles:,} cycles; {results}>"

    def _repr_html_(self) -> str:
        rows = [["region", "cycles", "tensors"]]
        for region in self.run.regions:
            held = ", ".join(f"{name} {tensor!r}" for name, tensor in region.outputs.items())
            rows.append([region.name, f"{region.cycles:,}", held])
        return html_section(f"{self.cycles:,} cycles ({self.backend})", html_table(rows))
