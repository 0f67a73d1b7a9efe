"""The meaning of programs on dense arrays: an oracle for the reference, which follows what is stored."""
