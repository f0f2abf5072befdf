"""How a run is shown: live in the page, frozen at the end, as lines, or in a terminal."""
