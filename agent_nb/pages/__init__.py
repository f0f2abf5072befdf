"""Page checks: viewers, their reports, elements of a page, and headless Chromium."""
