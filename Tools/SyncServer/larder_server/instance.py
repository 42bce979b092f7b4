"""A server to try things with: PostgreSQL in a temporary folder, and the HTTP processes over it.

Nothing is shared with a PostgreSQL that the machine runs: the folder, the socket and the processes are its
own, and `stop` takes all of it away.
"""

import contextlib
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from .schema import add_token, install

PACKAGE = Path(__file__).resolve().parent.parent


class CannotRun(Exception):
    pass


def binaries() -> Path:
    """Where initdb and pg_ctl are: on PATH, or where Debian puts the newest version."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True
    )
    for folder in folders:
        if (folder / "initdb").exists():
            return folder
    raise CannotRun("PostgreSQL is missing: on Debian, apt-get install postgresql")


def unprivileged() -> tuple[dict, list[str]]:
    """How to run PostgreSQL, which refuses to be root: root runs it as the user that Debian made for it."""
    if os.geteuid() != 0:
        return {}, []
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}, [name]
    raise CannotRun("PostgreSQL does not run as root, and there is no user postgres or nobody")


# Below the ports that Linux and macOS give to outgoing connections: one of those could take the port of a server
# that was ended and is about to be started again.
PORTS = range(10_240, 32_768)


def free_port(*taken: int) -> int:
    while True:
        port = secrets.choice(PORTS)
        if port in taken:
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Instance:
    def __init__(self, folder: Path, options: str = ""):
        self.folder = folder
        self.note = folder / "instance.json"
        # Of PostgreSQL.
        self.options = options
        self.processes: list[subprocess.Popen] = []

    @staticmethod
    def home() -> Path:
        home = Path(tempfile.gettempdir()) / f"larder-server-{os.geteuid()}"
        home.mkdir(mode=0o711, exist_ok=True)
        if home.is_symlink() or home.stat().st_uid != os.geteuid():
            raise CannotRun(f"{home} belongs to somebody else")
        return home

    @classmethod
    def all(cls) -> list["Instance"]:
        return [cls(note.parent) for note in sorted(cls.home().glob("*/instance.json"))]

    @classmethod
    def named(cls, identifier: str) -> "Instance":
        for instance in cls.all():
            if instance.folder.name == identifier:
                return instance
        raise CannotRun(f"there is no server {identifier}: `list` names those that there are")

    @property
    def state(self) -> dict:
        return json.loads(self.note.read_text())

    @property
    def owner_database(self) -> str:
        return f"host={self.folder} user=larder_owner dbname=postgres"

    @property
    def http_database(self) -> str:
        return f"host={self.folder} user=larder_http dbname=postgres"

    @classmethod
    def start(
        cls, port: int | None, processes: int, apart: bool = False, options: str = ""
    ) -> "Instance":
        """`apart`: a port for each process, where one is to be asked or ended by itself."""
        instance = cls(cls.home() / secrets.token_hex(4), options)
        instance.folder.mkdir(mode=0o711)
        try:
            # First, so that `list` and `stop` know it whatever happens.
            ports = [port or free_port()]
            if apart:
                while len(ports) < processes:
                    ports.append(free_port(*ports))
            instance.note.write_text(json.dumps({"ports": ports, "http": []}))
            instance.start_postgres(create=True)
            install(instance.owner_database)
            for each in ports:
                instance.start_http(each, 1 if apart else processes)
        except BaseException:
            instance.stop()
            raise
        return instance

    def start_postgres(self, create: bool = False) -> None:
        kwargs, user = unprivileged()
        data = self.folder / "data"
        if create:
            data.mkdir(mode=0o700)
            if user:
                # The socket stands beside the data.
                shutil.chown(self.folder, user[0])
                shutil.chown(data, user[0])
            self.run(
                "initdb", "--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust", "--username=larder_owner",
                f"--pgdata={data}", **kwargs,
            )
        self.run(
            "pg_ctl", "--wait", f"--pgdata={data}", f"--log={data}/log",
            # Whoever reaches the socket is whoever they say: the folder's owner and root alone.
            f"--options=-c listen_addresses='' -c unix_socket_directories={self.folder}"
            f" -c unix_socket_permissions=0700 {self.options}",
            "start", **kwargs,
        )

    def stop_postgres(self, how: str = "fast") -> None:
        """`immediate` is what a kill or a loss of power is to PostgreSQL."""
        kwargs, _ = unprivileged()
        data = self.folder / "data"
        if (data / "postmaster.pid").exists() and self.is_running(data):
            self.run("pg_ctl", "--wait", f"--pgdata={data}", f"--mode={how}", "stop", **kwargs)

    def is_running(self, data: Path) -> bool:
        try:
            os.kill(int((data / "postmaster.pid").read_text().split()[0]), 0)
        except PermissionError:
            return True
        except (OSError, ValueError, IndexError):
            return False
        return True

    def run(self, program: str, *arguments: str, **kwargs) -> None:
        # Not into a pipe: the server that pg_ctl starts would keep it open.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [binaries() / program, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                cwd="/", env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"}, **kwargs,
            )
            if done.returncode != 0:
                output.seek(0)
                raise CannotRun(f"{program} failed:\n{output.read().decode(errors='replace')}")

    def start_http(self, port: int, processes: int) -> None:
        log = open(self.folder / f"http-{port}.log", "ab")
        started = subprocess.Popen(
            [
                sys.executable, "-m", "uvicorn", "larder_server.app:app", "--host", "127.0.0.1",
                "--port", str(port), "--workers", str(processes), "--log-level", "warning",
                "--no-server-header", "--timeout-graceful-shutdown", "2",
            ],
            cwd=PACKAGE,
            env={**os.environ, "LARDER_DATABASE": self.http_database, "LARDER_NAME": self.folder.name},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )
        log.close()
        self.processes.append(started)
        state = self.state
        state["http"] = [entry for entry in state["http"] if entry["port"] != port]
        state["http"].append({"port": port, "pid": started.pid, "processes": processes})
        self.note.write_text(json.dumps(state))
        self.wait_until_healthy(port, started)

    def wait_until_healthy(self, port: int, started: subprocess.Popen) -> None:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/health", timeout=5) as answer:
                    if json.load(answer)["name"] == self.folder.name:
                        return
                raise CannotRun(f"another server listens at port {port}")
            except (OSError, KeyError, ValueError):
                if started.poll() is not None:
                    log = (self.folder / f"http-{port}.log").read_text(errors="replace")
                    raise CannotRun(f"the HTTP server ended:\n{log[-2000:]}") from None
                time.sleep(0.1)
        raise CannotRun("the HTTP server did not begin to answer within a minute")

    def kill_http(self, port: int) -> None:
        for entry in self.state["http"]:
            if entry["port"] == port:
                self.end_group(entry["pid"], signal.SIGKILL)
        self.reap()

    def kill(self) -> None:
        """What a loss of power is to all of it; the data stay."""
        for port in self.state["ports"]:
            self.kill_http(port)
        self.stop_postgres("immediate")

    def revive(self) -> None:
        if self.is_running(self.folder / "data"):
            raise CannotRun(f"{self.folder.name} is running")
        self.start_postgres()
        for entry in self.state["http"]:
            self.start_http(entry["port"], entry["processes"])

    def reap(self) -> None:
        self.processes = [process for process in self.processes if process.poll() is None]

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}/v1" for port in self.state["ports"]]

    def token(self, user: str, *scopes: str) -> str:
        return add_token(self.owner_database, user, list(scopes))

    def stop(self) -> None:
        if self.note.exists():
            for entry in self.state["http"]:
                self.end_group(entry["pid"], signal.SIGTERM)
        self.reap()
        with contextlib.suppress(CannotRun):
            self.stop_postgres("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_group(self, group: int, how: signal.Signals) -> None:
        """Ends a server and its workers, also where the one that began the others has gone."""
        for _ in range(50):
            ours = [pid for pid in processes_of(group) if self.is_ours(pid)]
            for pid in ours:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, how)
            if not ours:
                return
            time.sleep(0.05)
            self.reap()
        for pid in ours:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def is_ours(self, pid: int) -> bool:
        """A number may be another process's by now; what a process was started with is not."""
        if not Path("/proc").exists():
            return True
        try:
            return f"LARDER_NAME={self.folder.name}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False


def processes_of(group: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == group and not row[2].startswith("Z")]
