"""samhw: sparse tensor programs to streaming hardware, with a simulator that agrees with the RTL to the
cycle."""

__version__ = "0.1.0"
