"""What may be chosen about a program without changing what it computes: a schedule, and its fields."""
