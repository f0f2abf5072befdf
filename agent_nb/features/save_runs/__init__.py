"""`--no-save`, `%config AgentMagics.save_runs`: whether runs are saved under `.agent_nb/runs/`."""

from agent_nb.core.feature import Default, Feature, flag

SAVE_RUNS: Feature[bool] = Feature(
    "save_runs",
    option=flag("--no-save", "Do not save this run under .agent_nb/runs/.", default=True, after="save"),
    default=Default(True, "Save finished runs under .agent_nb/runs/."),
    cell="agent_nb.features.save_runs.cell:SavesRun",
)
