"""${message}

Revision: ${up_revision}, after ${down_revision | comma,n}.
"""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision: str = ${repr(up_revision)}
down_revision: str | None = ${repr(down_revision)}


def upgrade() -> None:
    """The way up."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """The way down."""
    ${downgrades if downgrades else "pass"}
