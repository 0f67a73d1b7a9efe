"""What importers of all frameworks share: values on axes that views regroup, and the program that comes of
them."""

from samhw.importers.core.axes import AxisConflict
from samhw.importers.core.boundary import (
    InputSource,
    PlacedResult,
    as_results,
    constants_of,
    input_sources,
    placed_result,
)
from samhw.importers.core.draft import GREATEST_MASKED, MOST_JOINED, Build, Made, grouped
from samhw.importers.core.element_expressions import Operations
from samhw.importers.core.finish import Emitted, emit
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.integer_products import contract
from samhw.importers.core.makers import Makers, Reductions
from samhw.importers.core.regrouping import Views
from samhw.importers.core.scaled import is_scaled, scaled
from samhw.importers.core.scan_blocks import Scans
from samhw.importers.core.summed_products import letters
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import (
    NO_HINTS,
    Arguments,
    Hints,
    UnsupportedError,
    Value,
    check_unmasked,
    rows_of,
)

__all__ = [
    "GREATEST_MASKED",
    "MOST_JOINED",
    "NO_HINTS",
    "Arguments",
    "AxisConflict",
    "Build",
    "Emitted",
    "Hints",
    "HostArray",
    "InputSource",
    "Made",
    "Makers",
    "Operations",
    "PlacedResult",
    "Reductions",
    "Scans",
    "Tensors",
    "UnsupportedError",
    "Value",
    "Views",
    "as_results",
    "check_unmasked",
    "constants_of",
    "contract",
    "emit",
    "grouped",
    "input_sources",
    "is_scaled",
    "letters",
    "placed_result",
    "rows_of",
    "scaled",
]
