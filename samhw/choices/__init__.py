"""What may be chosen about a program without changing what it computes.

A schedule (`schedule`) holds all of it; options, files and Python give its fields.
"""
