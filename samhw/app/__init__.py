"""What people call: Python (`api`), PyTorch (`torch`) and the command line (`cli`).

Below these are programs bound to data (`workload`), checks (`checking`), many configurations (`sweep`), and
what runs tell (`report`).
"""
