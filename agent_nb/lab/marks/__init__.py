"""Reads the submissions of a class and writes one row per student: `python -m agent_nb.marks`."""
