"""Helpers for the whole package, independent of runs, models and notebooks."""
