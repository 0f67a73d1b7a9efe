"""Proofs of the RTL, by SymbiYosys (docs/proofs.md)."""
