"""The rounds of tests: the round of a minute, what is slow, how both are chosen, and what they find."""
