"""The compiler: a program, and what is decided about it, become fusion tables, and these SAMML graphs.

The package also has the passes of programs (`passes`) and of graphs (`graph_passes`), and what decides
(`search`), with the one way through (`pipeline.py`).
"""

from samhw.compiler.compiled import (
    Compiled,
    CompiledRegion,
    Decision,
    area_of,
    block_counts,
    check_divided,
    estimate_compiled,
    run_extents,
)
from samhw.compiler.fusion_table import FusionTable
from samhw.compiler.program_to_design import add_queues, assembled, lower_program, with_memory
from samhw.compiler.region import LoweredRegion, lower_fused, lower_region
from samhw.compiler.scope import Lowerings, OutOfStepsError, Scope
from samhw.compiler.value_choice import (
    AUTO,
    asked_text,
    asked_type,
    asked_types,
    choose_value,
    types_text,
)

__all__ = [
    "AUTO",
    "Compiled",
    "CompiledRegion",
    "Decision",
    "FusionTable",
    "LoweredRegion",
    "Lowerings",
    "OutOfStepsError",
    "Scope",
    "add_queues",
    "area_of",
    "asked_text",
    "asked_type",
    "asked_types",
    "assembled",
    "block_counts",
    "check_divided",
    "choose_value",
    "estimate_compiled",
    "lower_fused",
    "lower_program",
    "lower_region",
    "run_extents",
    "types_text",
    "with_memory",
]
