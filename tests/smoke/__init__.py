"""The round of a minute: which tests it has, how they are chosen, and what it finds."""
