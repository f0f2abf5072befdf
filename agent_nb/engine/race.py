"""Several runs of one prompt at once. Each has its own files and events; together they look like one run."""

from collections.abc import Sequence
from functools import partial

from agent_nb.engine.handle import Handle, RunHandle
from agent_nb.engine.journal import EventLog
from agent_nb.errors import ConfigError
from agent_nb.events import Reason
from agent_nb.files import Files
from agent_nb.run.run import Run, combine_variants

MOST_VARIANTS = 8


def count_variants(models: int, variants: int) -> int:
    if not isinstance(variants, int):
        raise ConfigError(f"`variants` is a whole number, not {variants!r}.")
    total = max(1, models) * variants
    if not 1 <= total <= MOST_VARIANTS:
        raise ConfigError(f"There can be 1 to {MOST_VARIANTS} variants in all, not {total}.")
    return total


class Race(Handle):
    """Variants in progress: `await` it for their `Run`, iterate over it for events, `stop()` one or all."""

    def __init__(self, handles: Sequence[RunHandle]) -> None:
        super().__init__(handles[0].id, EventLog(), handles)
        self.handles = tuple(handles)
        self.settings = handles[0].settings
        self._event_log.on_interrupt = partial(self.stop, "interrupted")
        for handle in handles:
            handle.subscribe(self._event_log.publish)
            handle.when_done.append(self._settle)

    def label(self, name: str, key: str) -> None:
        super().label(name, key)
        for handle in self.handles:
            handle.label(name, key)

    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        for handle in self.handles:
            if number is None or handle.variant == number - 1:
                handle.stop(reason)

    def pick(self, number: int) -> None:
        """Makes a finished variant, counted from 1, the result, and stops the others."""
        if not 1 <= number <= len(self.handles):
            raise ConfigError(f"There is no variant {number}; there are 1 to {len(self.handles)}.")
        if not self.handles[number - 1].done:
            raise ConfigError(f"Variant {number} is still running. Wait for it or stop it, then pick.")
        self.chosen = number
        if self.result is not None:
            self.result = self.result.pick(number)
        self.stop()

    @property
    def files(self) -> Files:
        return self.result.files if self.result else self.files_of(0)

    async def _wait(self) -> Run:
        for handle in self.handles:
            await handle
        assert self.result is not None
        return self.result

    def __repr__(self) -> str:
        done = sum(handle.done for handle in self.handles)
        return f"<Race {self.name} {self.model}: {done} of {len(self.handles)} ended>"

    def _settle(self) -> None:
        results = [handle.result for handle in self.handles if handle.result is not None]
        if len(results) == len(self.handles):
            run = combine_variants(results)
            self.result = run if self.chosen is None else run.pick(self.chosen)
            self._event_log.close()
