"""Marks the submissions of a class: `python -m agent_nb.marks submissions/*.zip -o marks.csv`."""

from agent_nb.lab.marks.command import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
