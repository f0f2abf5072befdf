"""Prepares runs and carries them out: the agent loop, its tools, its events and its costs."""
