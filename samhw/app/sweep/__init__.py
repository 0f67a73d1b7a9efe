"""Many configurations measured, on all cores or on a cluster, with what is finished kept whatever happens.

A `Configuration` is one run. `product` makes them from axes, `read_description` from a TOML file. `sweep`
measures those that its journal does not have yet, and writes a table of all.
"""

from samhw.app.sweep.configuration import Configuration
from samhw.app.sweep.description import product, read_description
from samhw.app.sweep.run_sweep import State, sweep
from samhw.app.sweep.sweep_table import Row

__all__ = ["Configuration", "Row", "State", "product", "read_description", "sweep"]
