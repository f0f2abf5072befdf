"""What the tests share: servers, kernels, browsers, scripted models. Nothing here is a test."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The checkout."""

# Found first, also by the programs that tests start.
sys.path.insert(0, str(ROOT / "tests" / "support" / "quick"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], os.environ.get("PYTHONPATH")]))
