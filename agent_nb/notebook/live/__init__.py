"""Communication between runs and the page."""
