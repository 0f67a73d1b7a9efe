"""A second meaning of programs, and a generator of hostile ones, that share no code with `samhw.lang`.

Programs are drawn as trees of their own (`language`), reach samhw as text, and are computed point by point in
plain Python (`meaning`) by the rules of docs/programs.md.
"""
