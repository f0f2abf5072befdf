"""Tools for the cells of the notebook: they read them, and offer changes that the user accepts. `-t notebook`."""
