"""Pages that talk to Python: `--bind`, `run.page`."""
