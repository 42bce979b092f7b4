"""Tools/server: starts, lists and stops servers to try things with, and readies a database for a real one."""

import argparse
import signal
import sys

import psycopg

from . import trial
from .instance import CannotRun, Instance
from .schema import add_token, install


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tools/server", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    start = commands.add_parser("start", help="PostgreSQL and the HTTP server, on this machine alone")
    start.add_argument("--port", type=int, help="a free one unless told")
    start.add_argument("--processes", type=int, default=2, help="HTTP processes; 2 unless told")
    start.add_argument("--user", default="me", help="who the token is for; 'me' unless told")
    start.add_argument(
        "--scope", action="append", help="what this user may read and write; 'main' unless told"
    )
    commands.add_parser("list", help="the servers that were started here")
    kill = commands.add_parser("kill", help="ends a server at once, as a crash does, and leaves its data")
    kill.add_argument("id")
    revive = commands.add_parser("revive", help="starts a server that was killed, at the address that it had")
    revive.add_argument("id")
    stop = commands.add_parser("stop", help="ends a server and removes its data")
    stop.add_argument("id")

    token = commands.add_parser("token", help="a new token of a user, printed once")
    where = token.add_mutually_exclusive_group(required=True)
    where.add_argument("--server", metavar="ID", help="of `start`")
    where.add_argument("--database", help="a connection string of the schema's owner")
    token.add_argument("user")
    token.add_argument("scopes", nargs="*", help="a member of these; NAME:read may not write")
    token.add_argument("--days", type=float, help="how long it holds; without end unless told")

    schema = commands.add_parser("schema", help="puts the tables and functions into a database of yours")
    schema.add_argument("database", help="a connection string, for example postgresql://owner@host/app")

    commands.add_parser("trial", help="for Tools/stress sync: killed and started as the input says")

    arguments = parser.parse_args()
    # What was begun is ended, as after Control-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return {
            "start": do_start, "list": do_list, "kill": do_kill, "revive": do_revive, "stop": do_stop,
            "token": do_token, "schema": do_schema, "trial": do_trial,
        }[arguments.command](arguments)
    except (CannotRun, psycopg.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def do_start(arguments) -> int:
    instance = Instance.start(arguments.port, arguments.processes)
    token = instance.token(arguments.user, *(arguments.scope or ["main"]))
    print(f"id     {instance.folder.name}")
    print(f"url    {instance.urls[0]}")
    print(f"token  {token}")
    print(f"\nTools/server stop {instance.folder.name} ends it and removes its data.")
    return 0


def do_list(arguments) -> int:
    for instance in Instance.all():
        print(instance.folder.name, *instance.urls)
    return 0


def do_kill(arguments) -> int:
    Instance.named(arguments.id).kill()
    return 0


def do_revive(arguments) -> int:
    Instance.named(arguments.id).revive()
    return 0


def do_stop(arguments) -> int:
    Instance.named(arguments.id).stop()
    return 0


def do_token(arguments) -> int:
    database = arguments.database or Instance.named(arguments.server).owner_database
    print(add_token(database, arguments.user, arguments.scopes, arguments.days))
    return 0


def do_trial(arguments) -> int:
    return trial.run()


def do_schema(arguments) -> int:
    done = install(arguments.database)
    print("installed" if done else "nothing to do: the schema larder is there already")
    return 0


sys.exit(main())
