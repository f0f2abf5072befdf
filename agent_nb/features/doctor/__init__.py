"""`%agent doctor`: what works here, and what to do about the rest."""

from typing import Any

from agent_nb.core.feature import Command, Feature

DOCTOR: Feature[Any] = Feature(
    "doctor",
    commands=(
        Command(
            "doctor [--json]",
            "What works here, and what to do about the rest: versions, keys by name, local servers, branches, disk.",
            "agent_nb.features.doctor.command:doctor",
            terminal="agent_nb.features.doctor.command:in_terminal",
            after="plugins",
            waits=True,
            explains=("InstallError",),
        ),
    ),
)
