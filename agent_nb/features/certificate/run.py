"""Takes the digests of what the code of a run reads, and makes the run's certificate of them."""

import re
import secrets
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, cast

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, brief_wire
from agent_nb.features.certificate.certificate import Certificate, certificate_of
from agent_nb.features.certificate.inputs import Input, files_in, named_in, read_file_input, read_inputs
from agent_nb.plugins import Draft, FeatureCode, PartInputs, Run, RunEnd, RunPart, ToolContext, ToolOutput
from agent_nb.plugins.engine import CODE_TOOL, ToolRunner, names_in

_REFERENCE = re.compile(r"(?<!\\)\{\{\s*([^\W\d]\w*)")


class Certifying(FeatureCode[Any]):
    def prepare(self, draft: Draft) -> None:
        draft.kept[self.feature.name] = _REFERENCE.findall(draft.cell or "")

    def part(self, run: PartInputs) -> RunPart | None:
        sent = run.prepared.kept.get(self.feature.name, ())
        return Recording(sent, is_salted=run.prepared.settings.data == "schema")

    def value(self, run: Run) -> Certificate:
        return certificate_of(run)


class Recording(RunPart):
    """Reads the names of a call just before it runs, each once."""

    def __init__(self, sent: list[str], *, is_salted: bool) -> None:
        self._sent, self._salt = sent, secrets.token_hex(16) if is_salted else ""
        self._inputs: dict[str, Input] = {}
        self._own: set[str] = set()
        """Names that earlier calls have set."""

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        tool = runner.toolbox.get(CODE_TOOL)
        if tool is None or tool.namespace is None:
            return runner
        namespace = tool.namespace

        async def run(args: Json, context: ToolContext) -> ToolOutput:
            code = str(args.get("code", ""))
            await off_loop(self._read, code, namespace())
            output = await cast("Awaitable[ToolOutput]", tool.run(args, context))
            self._own |= names_in(code).sets
            return output

        await off_loop(self._read_sent, namespace())
        return replace(runner, toolbox=runner.toolbox.replacing(replace(tool, run=run)))

    def _read_sent(self, namespace: Mapping[str, Any]) -> None:
        for each in read_inputs(
            {name: "sent" for name in self._sent if name in namespace}, namespace, self._salt
        ):
            self._inputs[each.name] = each

    def _read(self, code: str, namespace: Mapping[str, Any]) -> None:
        uses = {name: use for name, use in named_in(code, namespace).items() if name not in self._own}
        for name, use in uses.items():
            if use == "read" and name in self._inputs:
                self._inputs[name] = replace(self._inputs[name], use="read")
        new = {name: use for name, use in uses.items() if name not in self._inputs}
        self._inputs |= {each.name: each for each in read_inputs(new, namespace, self._salt)}
        for name in files_in([code]):
            self._inputs.setdefault(name, read_file_input(name, self._salt))

    def finish(self, end: RunEnd) -> None:
        if self._inputs:
            inputs = [brief_wire(each) for each in self._inputs.values()]
            end.values["certificate"] = {"salt": self._salt, "inputs": inputs}
