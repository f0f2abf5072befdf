"""Names of the types of columns. Versions of pandas differ in them, and prompts must not."""

import re

_UNIT = re.compile(r"(?<=64)\[(?:s|ms|us|ns)(?:, (?=.)|(?=\]))")


def without_unit(dtype: str) -> str:
    """`datetime64[ns]` -> `datetime64`, `datetime64[us, UTC]` -> `datetime64[UTC]`: pandas 3 has other units."""
    return _UNIT.sub("[", dtype).replace("64[]", "64")


def with_unit(dtype: str, unit: str) -> str:
    """`datetime64` -> `datetime64[ns]`, `datetime64[UTC]` -> `datetime64[ns, UTC]`."""
    name, bracket, zone = dtype.partition("[")
    return f"{name}[{unit}, {zone}" if bracket else f"{name}[{unit}]"
