"""Initiation intervals of the HLS library, by a dependence analysis of its loops' LLVM IR (docs/hls.md)."""
