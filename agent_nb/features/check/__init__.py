"""`--check EXPRESSION`: an expression that must be true of a run that has ended."""

from agent_nb.core.feature import Feature, flag

CHECK: Feature[str] = Feature(
    "check",
    option=flag(
        "--check EXPRESSION",
        "Expression that must be true, with the names run, files, html and text; takes the rest of the line.",
    ),
    cell="agent_nb.features.check.cell:ChecksRun",
)
