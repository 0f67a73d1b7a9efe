"""The level types, a file each. `samhw.tensors.formats.level` finds them."""
