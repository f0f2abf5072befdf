"""Writes a run while it goes, and the whole run once it has ended."""

from agent_nb._base.atomic import FOLDER
from agent_nb._base.threads import off_loop
from agent_nb.features.save_runs import SAVE_RUNS
from agent_nb.plugins import CellCode, CellEnd, CellStart
from agent_nb.plugins.engine import RunStore, Saving


class SavesRun(CellCode[bool]):
    def started(self, start: CellStart) -> None:
        if start.get(SAVE_RUNS):
            store = RunStore(start.host.home)
            start.keep = store.save
            start.kept["save_runs"] = Saving(start.handle, store, start.warn)

    async def save(self, end: CellEnd) -> None:
        if not (saving := end.kept.get("save_runs")):
            return
        await saving.end()
        try:
            path = await off_loop(RunStore(end.host.home).save, end.run)
            end.paths.append(path.relative_to(end.host.home).as_posix())
        except OSError as error:
            end.notes.append(
                f"The run could not be saved in {FOLDER}: {error.strerror or error}. "
                f"`{end.run.name}.save(path)` writes it elsewhere."
            )
