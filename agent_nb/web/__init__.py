"""A run for web back ends: its events in the vocabularies of other systems."""
