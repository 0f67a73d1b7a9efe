"""Where a design runs or is built: backends, Verilator, boards and bitstreams, the host's link to a board."""
