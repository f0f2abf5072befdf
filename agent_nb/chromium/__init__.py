"""Headless Chromium as a page viewer, for runs that nobody watches."""
