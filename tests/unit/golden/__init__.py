"""Golden files: what vendors receive and users see, so that a change of the code's structure changes none of it.

`python -m tests.unit.golden.write` writes them again, after a change that is meant. Review their diff.
"""
