"""Tables as CSV: all digits of numbers, so that other programs can go on with them."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from envs_c.text import printable


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as CSV, with a head. A list becomes its values with spaces between; None an empty cell."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return file.getvalue()


def _cell(value: Any) -> Any:
    """A value; a name may be foreign, and the table goes to a terminal too."""
    return " ".join(map(str, value)) if isinstance(value, list) else printable(value) if isinstance(value, str) else value
