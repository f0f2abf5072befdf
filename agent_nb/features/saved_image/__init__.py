"""`%config AgentMagics.saved_image`: a small image of the page, for readers who do not see the page."""

from agent_nb.core.feature import Default, Feature

SAVED_IMAGE: Feature[bool] = Feature(
    "saved_image",
    default=Default(
        True,
        "Save a small image of the page in the output of a run that you watch, for readers on GitHub.",
    ),
    cell="agent_nb.features.saved_image.cell:SavedImage",
)
