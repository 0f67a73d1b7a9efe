"""Whether a module's results are those of the module itself."""

from dataclasses import dataclass

from samhw.app.checking import Check

__all__ = ["ModuleCheck"]


@dataclass(frozen=True)
class ModuleCheck:
    """The comparison with the module.

    The run's results are compared with the program's, region by region, within the value type's bounds
    (`run`); and the program's, in float64, with the module's in float64, within PyTorch's own error in f32.
    `max_abs_error` is the greatest difference of the run's results from the module's in f32, and
    `program_error` that of the program's from the module's in float64.
    """

    max_abs_error: float
    program_error: float
    good: bool
    run: Check
