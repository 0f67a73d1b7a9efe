"""What `--backend` and `--target` name: it runs compiled programs on data, and writes builds of them."""

from samhw.targets.backends.backend import Backend, Execution, HostRun, RegionRun, RunResult, Target
from samhw.targets.backends.registry import (
    BACKENDS,
    DERIVED,
    MODEL,
    RTL,
    build,
    check_options,
    check_places,
    find_backend,
    find_target,
    is_board,
    run,
    targets,
)

__all__ = [
    "BACKENDS",
    "DERIVED",
    "MODEL",
    "RTL",
    "Backend",
    "Execution",
    "HostRun",
    "RegionRun",
    "RunResult",
    "Target",
    "build",
    "check_options",
    "check_places",
    "find_backend",
    "find_target",
    "is_board",
    "run",
    "targets",
]
