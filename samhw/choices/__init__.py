"""What may be chosen about how a program is computed, which never changes what it computes: a folder for each
choice.

A folder itself says what a choice may hold, how it is read, checked and written, and what it does to a
program; its `candidates` say what a search tries. These know the compiler, which knows the choice, so they
are loaded when they are asked for.
"""
