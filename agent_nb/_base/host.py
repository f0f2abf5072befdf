"""What kind of Python this is. Where a notebook is shown is a question of `agent_nb.notebook.host`."""

import sys

IN_BROWSER = sys.platform == "emscripten"
"""Whether Python runs in a browser tab, as in JupyterLite: no threads, no sockets, no other process."""
