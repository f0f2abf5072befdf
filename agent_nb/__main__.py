"""`python -m agent_nb`, without the modules of the current folder, which Python searches first."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        sys.path.pop(0)
    from agent_nb.notebook.command_line import main

    sys.exit(main())
