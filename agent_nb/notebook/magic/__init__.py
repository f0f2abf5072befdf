"""`%%agent` and `%agent`: from the text of a cell to a run, and from a run to variables."""
