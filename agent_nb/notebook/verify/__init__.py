"""Runs the cells of a run in a fresh kernel, and says what differs from what the run left."""
