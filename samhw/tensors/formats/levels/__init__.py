"""The level types, a file each. `samhw.tensors.formats.registry` finds them."""
