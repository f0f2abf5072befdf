"""How a run is shown: live in the page, frozen at the end, as plain text, or in a terminal."""
