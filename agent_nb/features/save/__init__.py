"""`--save DIR`: the files of a run in a folder, after asking where they would act or replace something."""

from agent_nb.core.feature import Feature, flag

SAVE: Feature[str] = Feature(
    "save",
    option=flag(
        "--save DIR",
        "Also write the files to this folder; asks before it replaces yours or adds code, settings or unused files.",
        after="background",
        completes="path",
    ),
    cell="agent_nb.features.save.cell:SaveFiles",
)
