"""The public values: events, messages, errors, and the settings of a run."""
