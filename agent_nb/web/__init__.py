"""Runs for web back ends: their events in other vocabularies."""
