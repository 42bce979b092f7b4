"""What an operator sets, by the environment, so that all processes of one server read the same."""

import os
from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Sizes are in bytes, times in seconds."""

    database: str
    # Told by /health, to tell servers apart.
    name: str = ""
    largest_body: int = 16 * MEBIBYTE
    time_for_body: float = 30
    time_for_statement: float = 30
    connections: int = 16
    # A stream of hints ends after this, so that rights are looked at again.
    time_of_hints: float = 600
    time_between_signs_of_life: float = 20
    most_streams: int = 1000
    most_scopes_of_a_stream: int = 100
    # How long a mutation waits for another one that writes the same document.
    time_for_lock: float = 3
    # How long a request waits for its turn.
    time_for_turn: float = 10


def settings_of_environment() -> Settings:
    def number(name: str, usual: float) -> float:
        text = os.environ.get(name)
        if text is None:
            return usual
        try:
            value = float(text)
        except ValueError:
            value = 0
        if not value > 0:
            raise SystemExit(f"{name} is {text!r}: it has to be a number above zero")
        return value

    database = os.environ.get("LARDER_DATABASE")
    if not database:
        raise SystemExit(
            "LARDER_DATABASE is missing: the connection string of PostgreSQL, "
            "for example postgresql://larder_http@localhost/app"
        )
    return Settings(
        database=database,
        name=os.environ.get("LARDER_NAME", ""),
        largest_body=int(number("LARDER_LARGEST_BODY", Settings.largest_body)),
        connections=int(number("LARDER_CONNECTIONS", Settings.connections)),
        time_for_statement=number("LARDER_STATEMENT_SECONDS", Settings.time_for_statement),
        time_of_hints=number("LARDER_HINT_SECONDS", Settings.time_of_hints),
    )
