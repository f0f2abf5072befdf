"""What looks at a page, and what it sees: the values of a check, the report, elements, headless Chromium."""
