"""`AGENTS.md` of the notebook's folder: someone else's text, which joins the instructions once the user allows it."""

from agent_nb.core.feature import Default, Feature, Setting, flag

AGENTS_MD: Feature[str] = Feature(
    "agents_md",
    option=flag(
        "--agents-md",
        "Whether the `AGENTS.md` of the notebook's folder joins the instructions, which you have to allow once.",
        choices=("on", "off"),
        label="AGENTS.md {}".format,
        after="system",
    ),
    default=Default(
        "on",
        "Whether the AGENTS.md of the notebook's folder joins the instructions, once you have allowed it.",
    ),
    setting=Setting(  # the path of the file, relative to the notebook
        sent="system",
        matched="no",  # a cassette plays in other folders
        accepted_by={},
        stricter=None,
        header="with {}".format,
        kind=str | None,
    ),
    cell="agent_nb.features.agents_md.cell:AgentsMd",
)
