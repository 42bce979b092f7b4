"""One server with two HTTP processes over one PostgreSQL, for all tests of a run."""

import atexit
import functools
import http.client
import json
import time
import unittest
import uuid
from urllib.parse import urlsplit

import psycopg

from larder_server.instance import Instance


# As many seconds a request is sent again to a server that is unavailable.
PATIENCE = 60


@functools.cache
def instance() -> Instance:
    # Processes are killed in tests, the machine is not: nothing has to reach a disk. An autovacuum is a
    # transaction like others, and would hold a pull back now and then.
    started = Instance.start(port=None, processes=2, apart=True, options="-c fsync=off -c autovacuum=off")
    atexit.register(started.stop)
    return started


def logs() -> str:
    """The ends of what the processes of the server wrote, for a test that fails."""
    paths = [*instance().folder.glob("http-*.log"), instance().folder / "data" / "log"]
    return "".join(f"\n{path.name}: {path.read_text(errors='replace')[-2000:]}" for path in paths)


class Answer:
    def __init__(self, status: int, headers, body: bytes):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.status, self.json["error"]


class Client:
    """A signed-in device. `server`: which of the two processes it asks."""

    def __init__(self, token: str | None, scope: str, server: int = 0):
        self.token = token
        self.scope = scope
        self.url = urlsplit(instance().urls[server])

    def send(self, method: str, path: str, body: bytes | None = None, **headers) -> Answer:
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        try:
            if self.token is not None:
                headers["authorization"] = f"Bearer {self.token}"
            connection.request(method, self.url.path + path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def post(self, path: str, value, patience: float = PATIENCE) -> Answer:
        """As every client, it asks again while the server is unavailable: on a busy machine the database may need
        longer for once than the server waits for it."""
        body = json.dumps(value).encode()
        end = time.monotonic() + patience
        while (answer := self.send("POST", path, body)).status == 503 and time.monotonic() < end:
            time.sleep(0.1)
        return answer

    def answered(self, path: str, value) -> dict:
        """The answer to a request that succeeds."""
        answer = self.post(path, value)
        assert answer.status == 200, (answer.status, answer.body, logs())
        return answer.json

    def pull(self, cursor: str | None = None, **more) -> dict:
        return self.answered("/pull", {"scope": self.scope, "cursor": cursor, **more})

    def pull_all(self, cursor: str | None = None, **more) -> tuple[list, str]:
        """Every change behind the cursor, page by page."""
        changes = []
        while True:
            page = self.pull(cursor, **more)
            changes += page["changes"]
            cursor = page["cursor"]
            if not page["more"]:
                return changes, cursor

    def push(self, *mutations: dict, **more) -> list[dict]:
        return self.answered("/push", {"scope": self.scope, "mutations": mutations, **more})["results"]

    def put(self, key: str, document: dict, base: str | None = None) -> str:
        """The revision of an accepted save."""
        (result,) = self.push(save(key, document, base))
        assert result["status"] == "accepted", result
        return result["revision"]

    def remove(self, key: str, base: str) -> str:
        (result,) = self.push(deletion(key, base))
        assert result["status"] == "accepted", result
        return result["revision"]


def save(key: str, document: dict, base: str | None = None, collection: str = "notes") -> dict:
    return {
        "id": str(uuid.uuid4()), "collection": collection, "key": key, "base": base, "document": document,
    }


def deletion(key: str, base: str | None, collection: str = "notes") -> dict:
    return {"id": str(uuid.uuid4()), "collection": collection, "key": key, "base": base, "deleted": True}


def copy_of(changes: list, into: dict | None = None) -> dict:
    """What a device holds after these changes."""
    documents = {} if into is None else into
    for change in changes:
        if "document" in change:
            documents[change["key"]] = change["document"]
        else:
            documents.pop(change["key"], None)
    return documents


class ServerCase(unittest.TestCase):
    """Each test has scopes and users of its own."""

    def setUp(self):
        self.server = instance()
        self.scope = f"scope-{uuid.uuid4()}"
        self.user = f"user-{uuid.uuid4()}"
        self.token = self.server.token(self.user, self.scope)
        self.client = Client(self.token, self.scope)
        self.other = Client(self.token, self.scope, server=1)

    def key(self, name: str) -> str:
        """Keys are one name space for all scopes."""
        return f"{self.scope}/{name}"

    def owner(self) -> psycopg.Connection:
        """A connection that may do everything, as the team's own backend."""
        connection = psycopg.connect(self.server.owner_database)
        self.addCleanup(connection.close)
        return connection

    def new_user(self, *scopes: str) -> Client:
        token = self.server.token(f"user-{uuid.uuid4()}", *scopes)
        return Client(token, scopes[0].partition(":")[0] if scopes else self.scope)
