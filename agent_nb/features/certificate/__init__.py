"""The certificate of a run: one file that says where each number came from, and that anybody can run again."""

from typing import Any

from agent_nb.core.feature import Command, Feature

_PLACE = "agent_nb.features.certificate.commands"
CERTIFICATE: Feature[Any] = Feature(
    "certificate",
    commands=(
        Command(
            "certify NAME [PATH] [--with-data]",
            "Write where each number of an answer came from, and the code, to one HTML file, or to PATH"
            " (`.md` for a paper).",
            f"{_PLACE}:certify_command",
            completes=f"{_PLACE}:runs",
            after="export",
        ),
        Command(
            "verify NAME|FILE [--data FOLDER] [--notebook FILE] [--seconds N] [--strict] [--json] [--yes]",
            "Run the code of a run, a certificate or a saved run in a fresh kernel, and compare the numbers.",
            f"{_PLACE}:verify_command",
            completes=f"{_PLACE}:runs",
            terminal=f"{_PLACE}:verify_in_terminal",
            after="certify",
        ),
    ),
    value="Any",
    code="agent_nb.features.certificate.run:Certifying",
)
