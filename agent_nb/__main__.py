"""`python -m agent_nb`."""

import sys

from agent_nb.notebook.command_line import main

if __name__ == "__main__":
    sys.exit(main())
