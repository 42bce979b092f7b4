"""Tells streams of clients that a scope has something new. A hint says no more: what is new comes by a pull."""

import asyncio
import hashlib
import logging
from collections import defaultdict

import psycopg
from psycopg_pool import AsyncConnectionPool

from .settings import Settings

log = logging.getLogger("larder.hints")


def name_of(scope: str) -> str:
    """What notifications call a scope (`larder.notify_of`)."""
    return hashlib.md5(scope.encode(), usedforsecurity=False).hexdigest()


class Listener:
    """One connection of a process listens for all its streams.

    PostgreSQL notifies when a transaction commits, but a pull gives its changes only when no older one is
    running. A hint waits for that, as a client that came at once would find nothing and hear no more. For
    the same reason a stream begins with a hint: what was committed before, and could not be pulled yet.
    """

    # More changes than this that wait in one scope are told together.
    MOST_WAITING = 1000

    def __init__(self, settings: Settings, pool: AsyncConnectionPool):
        self.settings = settings
        self.pool = pool
        self.stream_count = 0
        self.streams: dict[str, set[asyncio.Event]] = defaultdict(set)
        # The transactions of which a scope has not been told; None for those up to now.
        self.waiting: dict[str, list[int | None]] = {}
        self.arrived = asyncio.Event()

    def follow(self, scopes: set[str]) -> dict[str, asyncio.Event]:
        """Events that are set when a scope has something new."""
        events = {scope: asyncio.Event() for scope in scopes}
        for scope, event in events.items():
            self.streams[name_of(scope)].add(event)
            self.wait_for(name_of(scope), None)
        self.stream_count += 1
        return events

    def leave(self, events: dict[str, asyncio.Event]) -> None:
        for scope, event in events.items():
            streams = self.streams[name_of(scope)]
            streams.discard(event)
            if not streams:
                del self.streams[name_of(scope)]
                self.waiting.pop(name_of(scope), None)
        self.stream_count -= 1

    def wait_for(self, name: str, xid: int | None) -> None:
        waiting = self.waiting.setdefault(name, [])
        if len(waiting) >= self.MOST_WAITING:
            waiting.pop()
        waiting.append(xid)
        self.arrived.set()

    async def run(self) -> None:
        await asyncio.gather(self.forever(self.listen), self.forever(self.forward))

    async def forever(self, work) -> None:
        """Begins anew after a failure of any kind: streams live on it."""
        while True:
            try:
                await work()
            except Exception as error:
                log.warning("hints: %s", error)
            await asyncio.sleep(1)

    async def listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(self.settings.database, autocommit=True) as connection:
            await connection.execute("listen larder")
            # What was told while nobody listened is lost: everybody looks once.
            for name in list(self.streams):
                self.wait_for(name, None)
            async for notification in connection.notifies():
                # Whoever may connect may notify, too.
                xid, _, name = notification.payload.partition(" ")
                if name in self.streams and xid.isascii() and xid.isdigit():
                    self.wait_for(name, int(xid))

    async def forward(self) -> None:
        pause = 0.01
        while True:
            if not self.waiting:
                self.arrived.clear()
                await self.arrived.wait()
                pause = 0.01
            async with self.pool.connection() as connection:
                cursor = await connection.execute(
                    "select larder.settled()::text, pg_snapshot_xmax(pg_current_snapshot())::text"
                )
                settled, newest = (int(text) for text in await cursor.fetchone())
            for name, waiting in list(self.waiting.items()):
                # Nothing is waited for that no transaction has.
                left = [newest - 1 if xid is None else min(xid, newest - 1) for xid in waiting]
                left = [xid for xid in left if xid >= settled]
                if len(left) < len(waiting):
                    for event in self.streams.get(name, ()):
                        event.set()
                if left:
                    self.waiting[name] = left
                else:
                    del self.waiting[name]
            if self.waiting:
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1)
