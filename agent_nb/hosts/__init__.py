"""What hosts other than Jupyter need."""
