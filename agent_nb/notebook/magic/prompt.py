"""Reads the prompt of a cell, with the parts that features add, and tells the user what the model sees of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from agent_nb._base.secrets import own_values
from agent_nb._base.text import whole_text
from agent_nb._base.threads import off_loop
from agent_nb.engine.description import Description, joined
from agent_nb.engine.draft import CellPrompt
from agent_nb.engine.parts import prompt_parts
from agent_nb.notebook.page.bindings import Bindings
from agent_nb.notebook.session import Session
from agent_nb.notebook.user_variables import user_names
from agent_nb.notebook.values.describe_values import describe_path, expand, is_data, parse_pages, paths_in
from agent_nb.notebook.values.schema import describe_schema, known_names
from agent_nb.notebook.values.value_paths import first_name


async def read_prompt(session: Session, cell: CellPrompt, bindings: Bindings) -> Description:
    namespace, secrets = session.namespace, await off_loop(own_values)
    names = frozenset() if cell.sends_values else known_names(user_names(session.shell))
    describe: Any = partial(describe_schema, allowed_names=names)
    if cell.sends_values:
        describe = partial(describe_path, secrets=secrets)
    # The variables of a fix were not chosen by the user.
    attach = {"attach": True} if cell.sends_values and not cell.about else {}

    def describe_own(path: str, namespace: Mapping[str, Any], braces: str = "") -> Description:
        part: Description = describe(path, namespace, braces, **attach)
        return replace(part, has_data=is_data(namespace.get(first_name(path))))

    async def described(path: str) -> Description:
        await parse_pages([path], namespace)
        return await off_loop(describe_own, path, namespace)

    cell.describe = described
    await parse_pages(paths_in(cell.text, ()), namespace)
    bound = []
    if bindings:
        names_bound = await off_loop(bindings.describe, describe, secrets, schema_only=not cell.sends_values)
        bound = [replace(names_bound, notes=(bindings.note,))]
    others = await prompt_parts(cell)
    own = await off_loop(expand, cell.text, namespace, describe_own, cell.titles)
    parts = [replace(own, has_cells=bool(cell.about)), *bound, *others]
    text = "\n\n".join(part.text for part in parts if part.text)
    prompt = joined(whole_text(text), parts)
    return replace(prompt, broken=prompt.text != text, names=names)


def prompt_notes(prompt: Description, files: Sequence[str]) -> Iterator[str]:
    """Notes for the user on masked, shortened or replaced parts of the prompt."""
    if prompt.tables:
        yield f"The model sees {_listed(prompt.tables)}."
    if prompt.masked:
        yield f"Masked as secrets, so the model does not see them: {_listed(prompt.masked)}."
    if prompt.broken:
        yield "Lone surrogates in the prompt are sent as \ufffd: they cannot be encoded."
    if prompt.shortened:
        yield f"Too long for the prompt, so the model sees part of it: {_listed(prompt.shortened)}."
    yield from prompt.notes
    if files:
        names = _listed([f"`{path}`" for path in files])
        yield f"Too long for the prompt, so the model sees the first lines and can read the rest: {names}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
