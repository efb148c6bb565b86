"""`python -m app.commands.docs`: write the parts of `docs/` that are generated from the code.

    docs/settings.md                  app/settings.py
    docs/errors.md                    app/errors/codes.py
    docs/metrics.md, its table        app/observability/metrics/declared.py
    docs/openrtb.md, the mapping      app/openrtb/table.py

Run it in the root of the repository. A test checks that the files are up to date.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from app.errors.codes import CODES, PYDANTIC
from app.observability.metrics.declared import METRICS
from app.observability.metrics.merge import WORKER
from app.openrtb.table import IMP, NOT_FED, REQUEST
from app.settings import Settings, variable

SETTINGS = """\
# Settings

Environment variables, read once at the start. An empty variable counts as not set.

- `copse settings` prints the current values.
- `python -m app.commands.docs` generates this page from [app/settings.py](../app/settings.py).

{table}
"""


def settings_page() -> str:
    """The whole page."""
    rows = [
        (f"`{variable(name)}`", _default(field.default), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    return SETTINGS.format(table=_table(("variable", "default", "meaning"), rows))


ERRORS = """\
# Error codes

Each item in `errors` of a problem has a `code` ([api.md](api.md#errors)). Codes are stable.

- `python -m app.commands.docs` generates this page from
  [app/errors/codes.py](../app/errors/codes.py).

{table}
"""


def errors_page() -> str:
    """The whole page."""
    rows = [(f"`{code}`", meaning) for code, meaning in CODES.items()]
    more = "a parameter or a body has a wrong type or value; the rest is pydantic's name for it"
    rows.append((f"`{PYDANTIC}…`", more))
    return ERRORS.format(table=_table(("code", "meaning"), rows))


def metrics_table() -> str:
    """The table of all metrics."""
    rows = []
    for metric in METRICS:
        labels = (*metric.labels, *((WORKER,) if metric.per_worker else ()))
        named = ", ".join(f"`{label}`" for label in labels)
        rows.append((f"`{metric.name}`", metric.kind.value, named, metric.help))
    return _table(("metric", "kind", "labels", "meaning"), rows)


def mapping_table() -> str:
    """The table from the fields of a bid request to attributes."""
    rows = [
        (f"`{row.attribute}`", row.type, ", ".join(f"`{path}`" for path in row.paths), row.how)
        for row in (*REQUEST, *IMP)
    ]
    rows += [(f"`{name}`", type, "none", why) for name, (type, why) in NOT_FED.items()]
    return _table(("attribute", "type", "from", "how"), rows)


def pages(directory: Path) -> dict[Path, str]:
    """Every page with generated parts, as it should be."""
    metrics, openrtb = directory / "metrics.md", directory / "openrtb.md"
    return {
        directory / "settings.md": settings_page(),
        directory / "errors.md": errors_page(),
        metrics: _with_table(metrics.read_text(), metrics_table()),
        openrtb: _with_table(openrtb.read_text(), mapping_table()),
    }


def main() -> int:
    """Write the pages that have changed."""
    for path, text in pages(Path("docs")).items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"wrote {path}")
    return 0


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in (head, *rows)]
    first, *rest = [f"| {line} |" for line in cells]
    return "\n".join([first, "|---" * len(head) + "|", *rest])


def _with_table(page: str, table: str) -> str:
    """The page with the table in place of the one that has the same head."""
    head = re.escape(table.partition("\n")[0])
    return re.sub(rf"^{head}\n(?:\|.*\n)*", lambda _: f"{table}\n", page, flags=re.MULTILINE)


def _default(value: object) -> str:
    return "" if value in (None, "") else f"`{value}`"


if __name__ == "__main__":
    sys.exit(main())
