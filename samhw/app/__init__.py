"""What people call: Python, PyTorch and the command line; programs with data, checks, sweeps and reports."""
