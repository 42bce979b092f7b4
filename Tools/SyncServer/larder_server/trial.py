"""`Tools/server trial`: a server whose parts are killed and started again, for campaigns that attack it.

Two HTTP processes over one PostgreSQL. Reads a command a line and answers each with a line: what was asked for,
`done`, or `error` and why. All of it ends, and its data are removed, when the input ends.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import psycopg

from .instance import CannotRun, Instance

# Processes are killed here, the machine is not: nothing has to reach a disk. An autovacuum would hold pulls
# back now and then.
OPTIONS = "-c fsync=off -c autovacuum=off"


class Trial:
    def __init__(self, instance: Instance):
        self.instance = instance

    def token(self, *scopes: str) -> str:
        return self.instance.token("trial", *scopes)

    def kill_http(self, number: str) -> None:
        self.instance.kill_http(self.port(number))

    def start_http(self, number: str) -> None:
        self.instance.start_http(self.port(number), 1)

    def port(self, number: str) -> int:
        return self.instance.state["ports"][int(number)]

    def kill_postgres(self) -> None:
        """The first process, as a kill of the whole does; the others end when they notice."""
        parent = self.postmaster()
        # So that it begins no process that is not listed, which would go on beside the next PostgreSQL.
        os.kill(parent, signal.SIGSTOP)
        children = children_of(parent)
        os.kill(parent, signal.SIGKILL)
        for pid in children:
            until_ended(pid, helping=True)
        until_ended(parent)
        # They name a process that has ended, and that may not have been waited for: it would be taken for alive.
        for lock in [self.instance.folder / "data" / "postmaster.pid", *self.instance.folder.glob(".s.*.lock")]:
            lock.unlink(missing_ok=True)

    def start_postgres(self) -> None:
        self.instance.start_postgres()

    def kill_backend(self) -> None:
        """One process that serves a connection: PostgreSQL ends all connections then, and recovers."""
        for pid in children_of(self.postmaster()):
            if b"larder_http" in command_of(pid):
                os.kill(pid, signal.SIGKILL)
                return

    def settle(self) -> None:
        """Until no transaction runs that pulls wait for: one may outlive the process that began it."""
        running = "select pg_snapshot_xmin(s) < pg_snapshot_xmax(s) from pg_current_snapshot() s"
        end = time.monotonic() + 120
        while True:
            try:
                with psycopg.connect(self.instance.owner_database, autocommit=True) as connection:
                    while connection.execute(running).fetchone()[0]:
                        if time.monotonic() > end:
                            raise CannotRun("a transaction has been running for two minutes")
                        time.sleep(0.01)
                    return
            except psycopg.OperationalError:
                # It recovers from what was killed.
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def postmaster(self) -> int:
        return int((self.instance.folder / "data" / "postmaster.pid").read_text().split()[0])

    COMMANDS = {
        "token": token, "kill-http": kill_http, "start-http": start_http, "kill-postgres": kill_postgres,
        "start-postgres": start_postgres, "kill-backend": kill_backend, "settle": settle,
    }


def children_of(parent: int) -> list[int]:
    return [pid for pid, (_, of) in processes().items() if of == parent]


def processes() -> dict[int, tuple[str, int]]:
    """The state and the parent of each process, by its number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # It may end meanwhile.
        with contextlib.suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            found[int(folder.name)] = (state, int(parent))
    return found


def command_of(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def until_ended(pid: int, helping: bool = False) -> None:
    """`helping`: kills what does not end by itself within two seconds."""
    for turn in range(3000):
        if processes().get(pid, ("Z", 0))[0] == "Z":
            return
        if helping and turn == 200:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    raise CannotRun(f"process {pid} does not end")


def run() -> int:
    # The campaign is interrupted together with this process, and ends the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    instance = Instance.start(port=None, processes=2, apart=True, options=OPTIONS)
    try:
        trial = Trial(instance)
        answer("urls", *instance.urls)
        for line in sys.stdin:
            name, *arguments = line.split()
            try:
                answer(Trial.COMMANDS[name](trial, *arguments) or "done")
            except (CannotRun, OSError, psycopg.Error) as error:
                answer("error", *str(error).split())
    finally:
        instance.stop()
    return 0


def answer(*words: str) -> None:
    print(*words, flush=True)
