"""The jobs that the sandbox runs live with the attacks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "escape"))
