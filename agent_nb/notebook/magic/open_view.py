"""Opens the view of a live run without a model, with the options, defaults and rules of a cell."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, cast

from agent_nb.core.errors import ConfigError
from agent_nb.core.options import OPTIONS, Options
from agent_nb.engine.approval import read_policy
from agent_nb.engine.client_runs import ClientProvider, ClientsHandle
from agent_nb.engine.draft import CellDraft
from agent_nb.engine.parts import plan_cell
from agent_nb.engine.request import CellRequest, read_input
from agent_nb.engine.run_input import InputArgs
from agent_nb.engine.start import Prepared
from agent_nb.notebook.front_end import is_watched
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.line import read_given_values, read_settings
from agent_nb.notebook.magic.names import check_name
from agent_nb.notebook.magic.plan import CellRuns
from agent_nb.notebook.magic.show_cell import check_name_is_free, show_cell
from agent_nb.notebook.magic.tool_groups import client_tools
from agent_nb.notebook.parsing import parse_line
from agent_nb.notebook.session import Session
from agent_nb.run.run import request_key

_ALLOWED = {"name", "is_named", "line", "tools", "approve", "data", "seconds", "of_features"}
"""The options of a run without a model."""


async def open_view(
    session: Session, line: str, prompt: str, given_besides: Mapping[str, Any]
) -> ClientsHandle:
    """See `Host.open_view`."""
    options = parse_line(line, session.defaults.magic_name)
    _check(options)
    check_name(options.name, session.namespace)
    check_name_is_free(session, options.name)
    watched = await is_watched(session.shell)
    rules = CellRules.of(session, options.name)
    options = replace(rules.options(options), background=True)
    settings = read_settings(session, options, None, rules)
    settings = replace(settings, limits=rules.limits(settings.limits, ()))
    tools = client_tools(session, options.tools, schema_only=bool(settings.data)).without(rules.without_tools)
    options = replace(options, of_features={**options.of_features, **given_besides})
    given = read_given_values(session, options, None, rules)
    request = CellRequest(
        run_input=read_input(prompt, InputArgs(), settings, tools, None),
        settings=settings,
        toolbox=tools,
        rules=read_policy(rules.approve(options.approve, session.defaults.approve), tools),
        given=given,
        viewer=None,
        bound=None,
    )
    prepared = request.prepare(ClientProvider())
    draft = CellDraft(runs=[prepared], host=session.host, given=given, has_system=False)
    await plan_cell(draft)
    prepared = cast("Prepared", draft.runs[0])
    recorded = {name: value for name, value in prepared.recorded_settings.items() if name != "steps"}
    prepared = replace(prepared, system="", recorded_settings=recorded)  # clients count no turns
    plan = CellRuns(
        session=session,
        options=options,
        rules=rules,
        given=given,
        prepared=(prepared,),
        key=request_key(options.name, prompt),
        note="\n".join((*rules.notes(), *draft.notes)),
    )
    handle = ClientsHandle(prepared)
    await show_cell(plan, handle, "", watched=watched)
    return handle


def _check(options: Options) -> None:
    """Raise `ConfigError` for options of a model."""
    defaults = Options()
    for field in fields(Options):
        if field.name not in _ALLOWED and getattr(options, field.name) != getattr(defaults, field.name):
            raise ConfigError(f"{OPTIONS[field.name].flags[-1]} is for runs of a model. Leave it out.")
