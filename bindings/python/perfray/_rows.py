# SPDX-License-Identifier: Apache-2.0
"""Lists of rows with named fields, which notebooks show as tables."""
from __future__ import annotations

from typing import Any, List, Sequence, TypeVar

Row = TypeVar("Row")
_SHOWN = 50


class Rows(List[Row]):
    """A list of rows, which `to_pandas()` converts to a frame. `fields` are the names of the columns."""

    def __init__(self, rows: Sequence[Row], fields: Sequence[str]) -> None:
        super().__init__(rows)
        self.fields = tuple(fields)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a column for each field."""
        from perfray import _pandas
        return _pandas.rows(self, self.fields)

    def _repr_html_(self) -> str:
        import html  # takes long to import
        head = "".join("<th>%s</th>" % html.escape(str(field)) for field in self.fields)
        body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(_cell(value)) for value in row)  # type: ignore[attr-defined]
                       for row in self[:_SHOWN])
        more = "<p>%d more rows</p>" % (len(self) - _SHOWN) if len(self) > _SHOWN else ""
        return "<table><tr>%s</tr>%s</table>%s" % (head, body, more)


def _cell(value: Any) -> str:
    return "" if value is None else "%.2f" % value if isinstance(value, float) else str(value)
