"""Calls of the SQL functions, and what their errors mean to a client."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from .settings import Settings

log = logging.getLogger("larder")


@dataclass
class Refusal(Exception):
    """An answer that is no success: `code` is for programs, `message` for people."""

    status: int
    code: str
    message: str
    retry_after: int | None = None


# SQLSTATE classes and codes whose cause passes: try again.
PASSING = ("08", "40", "53", "55P03", "57")


def pool_of(settings: Settings) -> AsyncConnectionPool:
    milliseconds = int(settings.time_for_statement * 1000)
    lock_milliseconds = int(settings.time_for_lock * 1000)
    return AsyncConnectionPool(
        settings.database,
        min_size=1,
        max_size=settings.connections,
        timeout=5,
        open=False,
        check=AsyncConnectionPool.check_connection,
        kwargs={
            "options": f"-c statement_timeout={milliseconds} -c lock_timeout={lock_milliseconds} "
            "-c idle_in_transaction_session_timeout=10000",
        },
    )


class Turns:
    """No token has more than half of the connections at once, so that one device that waits for locks does
    not keep all others waiting."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.most = max(1, settings.connections // 2)
        self.of_tokens: dict[str, list] = {}

    @contextlib.asynccontextmanager
    async def turn(self, token: str):
        # The turns, and how many have one or wait.
        entry = self.of_tokens.setdefault(token, [asyncio.Semaphore(self.most), 0])
        entry[1] += 1
        try:
            async with asyncio.timeout(self.settings.time_for_turn):
                await entry[0].acquire()
            try:
                yield
            finally:
                entry[0].release()
        except TimeoutError:
            raise Refusal(503, "unavailable", "Too many requests of this token.", retry_after=2) from None
        finally:
            entry[1] -= 1
            if entry[1] == 0:
                self.of_tokens.pop(token, None)


async def call(pool: AsyncConnectionPool, token: str, statement: str, *arguments) -> str:
    """The text that a function gives to the user of a token, in a transaction of its own."""
    try:
        async with pool.connection() as connection:
            await sign_in(connection, token)
            cursor = await connection.execute(statement, arguments)
            row = await cursor.fetchone()
            return row[0]
    except (psycopg.Error, PoolTimeout) as error:
        raise refusal_of(error) from error


async def sign_in(connection: psycopg.AsyncConnection, token: str) -> None:
    """Until the end of the transaction, the functions and the row-level rules see this user."""
    cursor = await connection.execute(
        "select set_config('larder.signed_in', user_id, true) from larder.user_of_token(%s) as user_id"
        " where user_id is not null",
        (token,),
    )
    if await cursor.fetchone() is None:
        raise needs_sign_in()


def needs_sign_in() -> Refusal:
    return Refusal(401, "needs-sign-in", "The token is missing, unknown or has expired.")


def refusal_of(error: Exception) -> Refusal:
    state = getattr(error, "sqlstate", None) or ""
    if state.startswith("PT"):
        return Refusal(int(state[2:]), error.diag.message_primary, error.diag.message_detail or "")
    if isinstance(error, psycopg.DataError) or state == "54001":
        said = error.diag.message_primary or error
        return Refusal(400, "malformed", f"The request is no JSON that PostgreSQL can keep: {said}.")
    if state == "42501":
        return Refusal(403, "forbidden", "This user may not do that.")
    if isinstance(error, (PoolTimeout, psycopg.OperationalError)) or state.startswith(PASSING):
        log.warning("unavailable: %s", error)
        return Refusal(503, "unavailable", "The database cannot answer now.", retry_after=2)
    raise error
