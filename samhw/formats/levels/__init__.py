"""The level types, a file each. `samhw.formats.registry` finds them."""
