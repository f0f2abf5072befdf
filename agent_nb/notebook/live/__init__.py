"""A run on its way to the page and back."""
