"""`--no-raise`: a run that failed or was stopped does not fail the cell."""

from agent_nb.core.feature import Feature, flag

NO_RAISE: Feature[bool] = Feature(
    "no_raise",
    option=flag(
        "--no-raise",
        "Do not raise an error if the run fails or is stopped.",
        default=False,
        after="save_runs",
    ),
    cell="agent_nb.features.no_raise.cell:EndsNormally",
)
