"""Many configurations measured, on all cores or on a cluster, with what is finished kept whatever happens.

A `Configuration` is one run. `product` makes them from axes, `read_description` from a TOML file. `sweep`
measures those that its journal does not have yet, and writes a table of all.
"""

from samhw.app.sweep.configuration import Configuration, product, read_description
from samhw.app.sweep.journal import Journal, MergedShards, Shard, merge
from samhw.app.sweep.run_sweep import Row, State, journal_of, measure_all, row_of, sweep, write_table

__all__ = [
    "Configuration",
    "Journal",
    "MergedShards",
    "Row",
    "Shard",
    "State",
    "journal_of",
    "measure_all",
    "merge",
    "product",
    "read_description",
    "row_of",
    "sweep",
    "write_table",
]
