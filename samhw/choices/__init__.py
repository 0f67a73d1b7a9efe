"""What may be chosen about how a program is computed, which never changes what it computes: a folder for each
choice.

What a folder has of a choice stands in its roles: `words` (what it may hold, how it is read, checked and
written, and what it does to a program) and `candidates` (what a search tries). The latter knows the compiler,
which knows the former, so it is loaded when it is asked for.
"""
