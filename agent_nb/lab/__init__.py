"""The classroom: what a `lab.toml` beside the notebooks allows, and how much of its budget is left."""
