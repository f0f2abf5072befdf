"""What the tests share: servers, kernels, browsers, scripted models. Nothing here is a test."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The checkout."""
