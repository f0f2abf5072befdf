"""`%agent key`, which stores a key in this kernel's memory, and the error for a model without a key."""

import getpass
import warnings

from agent_nb._base.constants import DEMO_MODEL, IN_BROWSER
from agent_nb._base.secrets import register
from agent_nb._base.table import Table
from agent_nb.core.errors import ConfigError, MissingKeyError
from agent_nb.notebook.asking import NO_INPUT
from agent_nb.notebook.front_end import say
from agent_nb.notebook.session import Session
from agent_nb.providers.settings import forget_key, key_source, remember_key
from agent_nb.providers.vendors import VENDORS, Vendor

FORGET = "--forget"


def key_command(session: Session, arguments: str) -> Table | None:
    if not arguments:
        return _list_keys()
    name, *options = arguments.split()
    vendor = VENDORS.get(name.lower().rstrip(":"))
    vendors = [row.name for row in VENDORS.values() if row.keys]
    if vendor is None or not vendor.keys:
        problem = f"{vendor.title} takes no key" if vendor else "There is no such vendor"
        raise ConfigError(f"{problem}. `{session.command('key VENDOR')}` takes {', '.join(vendors)}.")
    if options == [FORGET]:
        was_set = forget_key(vendor.keys[0])
        say(f"{'Forgot the key' if was_set else 'There was no key in memory'} for {vendor.title}.")
    elif options:
        for word in options:
            register(word)
        command = session.command(f"key {vendor.name}")
        raise ConfigError(
            f"Do not write a key into a cell, where it is saved. Remove it and run `{command}`, which asks for it."
        )
    else:
        _enter(session, vendor)
    return None


def _list_keys() -> Table:
    rows = [
        (vendor.name, key_source(vendor.keys) or "none", vendor.key_variable, vendor.key_page)
        for vendor in VENDORS.values()
        if vendor.keys
    ]
    return Table(("vendor", "key", "variable", "get one at"), rows, "No vendors.")


def _enter(session: Session, vendor: Vendor) -> None:
    key = _ask(session, f"Key for {vendor.title} (not shown, not saved): ").strip()
    if not key:
        raise ConfigError("No key was entered, so nothing has changed.")
    remember_key(vendor.keys[0], key)
    forget = session.command(f"key {vendor.name} {FORGET}")
    if IN_BROWSER:
        place = f"this tab's memory until you close or reload the page, or run `{forget}`"
    else:
        place = f"this kernel's memory until the kernel ends or `{forget}`"
    say(f"The key for {vendor.title} is in {place}.")


def _ask(session: Session, prompt: str) -> str:
    """Read hidden input; raises `ConfigError` if nobody can answer or the text would be echoed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(prompt)
    except (*NO_INPUT, getpass.GetPassWarning):
        command = session.command("key")
        raise ConfigError(
            f"`{command}` cannot ask here: there is no hidden input. Set the vendor's variable instead."
        ) from None


def missing_key(session: Session, error: MissingKeyError) -> str:
    vendor = VENDORS.get(error.vendor)
    if vendor is None:
        return str(error)
    command = session.command(f"key {vendor.name}")
    alternative = ", and keeps it in this tab alone" if IN_BROWSER else f", or set `{vendor.key_variable}`"
    page = f" Get a key at {vendor.key_page}" if vendor.key_page else ""
    return (
        f"{vendor.title} needs a key: run `{command}`, which asks for it{alternative}. Without a key, `-m {DEMO_MODEL}`"
        f" answers offline.{page}"
    )
