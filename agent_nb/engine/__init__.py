"""The loop: one run from its first event to its last, and several that race."""
