"""From a design to a program or a bitstream: Verilog, C++ and board tools, and a cache of what they make."""
