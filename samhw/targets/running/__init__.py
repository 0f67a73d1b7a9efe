"""Runs of designs on data, in simulators and in hardware: words of tensors, sessions, and their drivers."""
