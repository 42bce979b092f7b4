"""Puts the tables and functions into a database, and makes tokens. What an owner of the schema does."""

import secrets
from pathlib import Path

import psycopg

FOLDER = Path(__file__).resolve().parent.parent / "sql"


def install(database: str) -> bool:
    """False where the schema is there already. All of it comes in one transaction, or none."""
    with psycopg.connect(database) as connection:
        if connection.execute("select to_regnamespace('larder')").fetchone()[0] is not None:
            return False
        for file in sorted(FOLDER.glob("*.sql")):
            connection.execute(file.read_text())
    return True


def add_token(database: str, user: str, scopes: list[str], days: float | None = None) -> str:
    """A new token of a user, who becomes a member of these scopes; "NAME:read" may not write.

    The database has its hash alone: this is the only time that it can be read.
    """
    token = secrets.token_urlsafe(32)
    with psycopg.connect(database) as connection:
        for scope in scopes:
            name = scope.removesuffix(":read")
            connection.execute(
                "insert into larder.member (scope, user_id, may_write) values (%s, %s, %s)"
                " on conflict (user_id, scope) do update set may_write = excluded.may_write",
                (name, user, name == scope),
            )
        connection.execute(
            "insert into larder.token (hash, user_id, expires_at) values"
            " (sha256(convert_to(%s, 'UTF8')), %s, now() + %s * interval '1 day')",
            (token, user, days),
        )
    return token
