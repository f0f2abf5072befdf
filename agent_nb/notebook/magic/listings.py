"""The tables of `%agent models`, `tools`, `cost`, `config` and `plugins`."""

from collections.abc import Sequence

import agent_nb.plugins  # noqa: F401 - it registers the demo
from agent_nb._base.constants import ACP, DEMO
from agent_nb._base.table import Table
from agent_nb.acp.known import find
from agent_nb.acp.known import states as agent_states
from agent_nb.acp.offered import models_text, stored_models
from agent_nb.acp.session import ask_models
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.engine.cost import SESSION, ModelCosts
from agent_nb.images.maker import EDITS, INPUTS, Studio
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.mcp import allow_agents
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.magic.tool_groups import tool_groups
from agent_nb.notebook.session import Session
from agent_nb.plugins import TOOLS, plugins, switch_off
from agent_nb.providers import full_name
from agent_nb.providers.requirements import missing
from agent_nb.providers.settings import find_key
from agent_nb.providers.studio import studio_for_name
from agent_nb.providers.vendors import VENDORS, Vendor
from agent_nb.tools import Tool, Toolbox
from agent_nb.tools.mcp.server import wait_for
from agent_nb.tools.preview_tools import PAGE_VIEWER
from agent_nb.tools.variant_tools import BASE_VARIANTS

MODEL_COLUMNS = ("model", "key", "can do", "note")


def list_models(session: Session, arguments: str) -> Table:
    rules = CellRules.of(session, "run")
    if arguments:
        return _models_of(session, rules, arguments)
    try:
        choice = ModelChoice.of(session, (), rules)
        default = full_name(choice.names[0])
        note = choice.refusal or f"Cells that name no model use {default}, {choice.reason}."
    except AgentError as error:  # an unknown model in a setting; the table shows the valid ones
        default, note = "", str(error)
    limiting = next((plugin_rules for _, plugin_rules in rules.by_plugin if plugin_rules.models), None)
    rows = model_rows(default, limiting.models if limiting else ())
    if limiting:
        note = f"{note} No others are allowed. (`models` in {limiting.source})"
    return Table(MODEL_COLUMNS, rows, "No models.", note)


def _models_of(session: Session, rules: CellRules, name: str) -> Table:
    """Start an outside agent to ask which models it offers."""
    vendor, _, agent_name = name.partition(":")
    if vendor != ACP:
        raise ConfigError(
            f"`{session.command('models')}` takes at most an outside agent, such as `{ACP}:claude`."
        )
    agent = find(agent_name)
    if any(rules.not_allowed([name])):
        raise ConfigError(f"`{name}` is not allowed in this notebook.")
    agent.check_installed()
    allow_agents(session, [name])
    try:
        models = wait_for(ask_models(agent))
    except KeyboardInterrupt:
        raise ConfigError("Interrupted, so no models are listed.") from None
    rows = [(f"{name}/{model}", title) for model, title in models.items()]
    return Table(("model", "title"), rows, f"{agent.title} does not let its model be chosen.")


def model_rows(default: str, allowlist: Sequence[str] = ()) -> list[tuple[str, str, str, str]]:
    """The rows of `%agent models`; with an allowlist, of those models alone."""
    rows = []
    for vendor in VENDORS.values():
        of_vendor = [name for name in allowlist if name.startswith(f"{vendor.name}:")]
        states = {f"{vendor.name}:{vendor.recommended}": _key_state(vendor)}
        if vendor.name == ACP:
            states = {f"{ACP}:{name}": state for name, state in agent_states().items()}
        for name in of_vendor if allowlist else states:
            offered = models_text([*stored_models(name.partition(":")[2])]) if vendor.name == ACP else ""
            note = f"offers {offered}" if offered else vendor.note
            remark = "; ".join(filter(None, ("default" if name == default else "", note)))
            can_do = "thinking, images, streams files" if vendor.images else "thinking, streams files"
            can_do = "thinking, images, tools of its own" if vendor.name == ACP else can_do
            rows.append((name, states.get(name, _key_state(vendor)), can_do, remark))
    return rows


def _key_state(vendor: Vendor) -> str:
    if to_do := missing(vendor):
        return to_do
    if vendor.identity or find_key(vendor.keys):
        return "ready"
    return "ready, no key needed" if vendor.name == DEMO else "no key needed"


def list_tools(session: Session, arguments: str) -> Table:
    studio = studio_for_name(ModelChoice.of(session, (), CellRules.of(session, "run")).names[0])
    user_tools = {name: value for name, value in session.namespace.items() if isinstance(value, Tool)}
    tools = [(tool, _when_offered(tool, studio)) for tool in Toolbox.default()]
    groups = {**tool_groups(session), **TOOLS}
    tools += [(tool, f"-t {family}") for family, members in groups.items() for tool in members]
    tools += [(tool, f"-t {name}") for name, tool in user_tools.items()]
    tools += [(tool, f"-t {tool.origin}") for server in session.servers.values() for tool in server.tools]
    rows = [
        (
            tool.name,
            condition,
            tool.served_by(studio) if tool.served_by else "",
            tool.approval,
            tool.spec.description.strip().partition("\n")[0],
        )
        for tool, condition in tools
    ]
    return Table(("tool", "offered", "served by", "asks first", "description"), rows, "No tools.")


def _when_offered(tool: Tool, studio: Studio) -> str:
    conditions = {
        INPUTS: "with images (-i)",
        EDITS: "with a key for OpenAI or Gemini",
        BASE_VARIANTS: "after variants (-n)",
        PAGE_VIEWER: "where a browser can show the page",
    }
    return ", ".join(conditions[need] for need in sorted(tool.needs - studio.serves)) or "always"


def list_costs(session: Session, arguments: str) -> Table:
    costs = SESSION.by_model()
    rows = [
        (
            model,
            str(entry.runs),
            f"{entry.usage.input:,}",
            f"{entry.usage.output:,}",
            _cost_of(entry),
            f"{entry.replays}, {_dollars(entry.recorded_cost)} when recorded" if entry.replays else "",
        )
        for model, entry in costs.items()
    ]
    note = f"Total in this session: {_dollars(sum(entry.cost for entry in costs.values()))}."
    if any(entry.unpriced for entry in costs.values()):
        note += " Some prices are not known."
    heads = ("model", "runs", "tokens in", "tokens out", "cost", "replayed")
    column_count = len(heads) if any(entry.replays for entry in costs.values()) else len(heads) - 1
    return Table(heads[:column_count], [row[:column_count] for row in rows], "No runs yet.", note, heads[1:5])


def _cost_of(costs: ModelCosts) -> str:
    if not costs.unpriced:
        return _dollars(costs.cost)
    return "not known" if costs.unpriced == costs.runs else f"at least {_dollars(costs.cost)}"


def _dollars(cost: float) -> str:
    return f"${cost:.4f}"


def list_settings(session: Session, arguments: str) -> Table:
    traits = sorted(session.defaults.traits(config=True).items())
    rows = [(name, repr(getattr(session.defaults, name)), trait.help) for name, trait in traits]
    note = "Change a value with `%config AgentMagics.NAME = VALUE`."
    return Table(("name", "value", "meaning"), rows, "", note)


def list_plugins(session: Session, arguments: str) -> Table | str:
    action, _, name = arguments.partition(" ")
    if action == "off" and name:
        switch_off(name)
        return f"Cells run without the plugin {name}, for as long as this kernel runs."
    if arguments:
        raise ConfigError(f"`{session.command('plugins')}` takes at most `off NAME`, not {arguments!r}.")
    rows = [
        (plugin.name, plugin.origin, "off" if plugin.is_off else plugin.problem or ", ".join(plugin.adds))
        for plugin in plugins()
    ]
    return Table(("plugin", "from", "adds"), rows, "No plugins are installed.")
