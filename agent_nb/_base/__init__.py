"""What every room may use: it knows nothing of runs, models or notebooks."""
