"""Takes the digests of what the code of a run reads, before the first call that reads it."""

import re
import secrets
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import agent_nb.features.certificate.forms  # noqa: F401 - adds the forms
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, brief_wire
from agent_nb.features.certificate.certificate import SALT, Certificate, certificate_of
from agent_nb.features.certificate.inputs import Input, code_reads, file_input, files_in, read_inputs
from agent_nb.plugins import Draft, FeatureCode, PartInputs, Run, RunEnd, RunPart, ToolContext, ToolOutput
from agent_nb.plugins.engine import CODE_TOOL, ToolRunner, names_in

_REFERENCE = re.compile(r"(?<!\\)\{\{\s*([^\W\d]\w*)")


class Certifying(FeatureCode[Any]):
    def prepare(self, draft: Draft) -> None:
        draft.kept[self.feature.name] = _REFERENCE.findall(draft.cell or "")

    def part(self, run: PartInputs) -> RunPart | None:
        sent = run.prepared.kept.get(self.feature.name, ())
        return InputsPart(sent, secrets.token_hex(16) if run.prepared.settings.data else "")

    def value(self, run: Run) -> Certificate:
        return certificate_of(run)


class InputsPart(RunPart):
    def __init__(self, sent: Sequence[str], salt: str) -> None:
        self._sent, self._salt = sent, salt
        self._inputs: dict[str, Input] = {}
        self._own: set[str] = set()
        """Names that earlier calls have set."""

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        tool = runner.toolbox.get(CODE_TOOL)
        if tool is None or tool.namespace is None:
            return runner
        namespace = tool.namespace

        async def run(args: Json, context: ToolContext) -> ToolOutput:
            code = str(args["code"])
            await off_loop(self._read, code, namespace())
            output = await cast("Awaitable[ToolOutput]", tool.run(args, context))
            self._own |= names_in(code).sets
            return output

        await off_loop(self._add, dict.fromkeys(self._sent, False), namespace())
        return replace(runner, toolbox=runner.toolbox.replacing(replace(tool, run=run)))

    def _read(self, code: str, namespace: Mapping[str, Any]) -> None:
        self._add(code_reads([code], namespace), namespace)
        for name in files_in(code):
            self._inputs.setdefault(name, file_input(name, self._salt))

    def _add(self, reads: Mapping[str, bool], namespace: Mapping[str, Any]) -> None:
        own = self._own
        for name in [
            name for name, is_read in reads.items() if is_read and name in self._inputs and name not in own
        ]:
            self._inputs[name] = replace(self._inputs[name], is_read=True)
        new = {
            name: is_read
            for name, is_read in reads.items()
            if name in namespace.keys() - own - self._inputs.keys()
        }
        self._inputs |= {each.name: each for each in read_inputs(new, namespace, self._salt)} | self._inputs

    def finish(self, end: RunEnd) -> None:
        if self._inputs:
            inputs = [brief_wire(each) for each in self._inputs.values()]
            end.values["certificate"] = {SALT: self._salt, "inputs": inputs}
