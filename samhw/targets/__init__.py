"""Where a design runs or is built: `backends` names all of them.

`building` makes Verilog, simulators and bitstreams, `boards` the tops for boards, `running` runs what was
built, and `link` is the host's end of the link to a board.
"""
