"""Tables as prompts had them in earlier versions. Cassettes that were recorded then match by that text."""

from typing import Any

from agent_nb.notebook.values.table_masking import is_of
from agent_nb.notebook.values.tables import TableText, dtype_name


def former_table(value: Any) -> TableText | None:
    """What the model saw of a table; None if it could not be described."""
    try:
        if is_of(value, "pandas", "DataFrame"):
            return _frame(value)
        if is_of(value, "pandas", "Series"):
            kind = f"Series {value.name!r} of {len(value):,} {dtype_name(value)} values"
            text = f"{kind}\n{value.head(10).to_string()}"
            return TableText(text, f"{min(10, len(value))} of {len(value):,} rows")
        if is_of(value, "numpy", "ndarray"):
            facts = f"ndarray of shape {value.shape}, {value.dtype}"
            if value.size and value.dtype.kind in "iuf":
                facts += f", from {value.min()} to {value.max()}, mean {value.mean():.4g}"
            return TableText(f"{facts}\n{value!r}", "")
        return TableText(repr(value), "an excerpt")
    except Exception:  # the code of a cell
        return None


def _frame(value: Any) -> TableText:
    columns = "\n".join(
        f"- {name}: {dtype_name(value.iloc[:, place])}" for place, name in enumerate(value.columns)
    )
    text = (
        f"DataFrame with {len(value):,} rows and {len(value.columns)} columns\n{columns}\n"
        f"First rows:\n{value.head(5).to_csv(index=type(value.index).__name__ != 'RangeIndex')}"
    )
    return TableText(text, f"{min(5, len(value))} of {len(value):,} rows")
