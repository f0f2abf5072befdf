"""`%%agent` and `%agent`: turn a cell into a run, and a run into variables."""
