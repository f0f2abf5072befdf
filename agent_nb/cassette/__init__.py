"""Record a run, play it again with no key and no network. docs/internals/run-file.md describes the file."""
