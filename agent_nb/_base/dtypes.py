"""Names of the types of columns. Versions of pandas differ in them, and prompts must not."""

import re

_UNIT = re.compile(r"(?<=64)\[(?:s|ms|us|ns)(?:, (?=.)|(?=\]))")


def without_unit(dtype: str) -> str:
    """`datetime64[ns]` -> `datetime64`, `datetime64[us, UTC]` -> `datetime64[UTC]`: pandas 3 has other units."""
    return _UNIT.sub("[", dtype).replace("64[]", "64")
