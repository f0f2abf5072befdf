"""The classroom: the rules of a `lab.toml` beside the notebooks, and its remaining budget."""
