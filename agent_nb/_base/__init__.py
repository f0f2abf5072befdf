"""What every part of the package may use. It does not know runs, models or notebooks."""
