"""Records runs and replays them without a key or network. docs/internals/run-file.md describes the file."""
