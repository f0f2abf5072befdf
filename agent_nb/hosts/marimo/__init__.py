"""Runs in marimo cells: the view, the messages that arrive while the cell awaits, the cassettes."""
