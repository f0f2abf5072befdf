"""Outside agents for the tests: a scripted one, with faults, and recordings of real ones."""
