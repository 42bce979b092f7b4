import json
import subprocess
import sys
import uuid

import psycopg

from larder_server.instance import binaries

from .harness import Client, ServerCase, copy_of, save


class UpkeepTests(ServerCase):
    def purge(self, age: str = "0 seconds") -> int:
        owner = self.owner()
        removed = owner.execute("select larder.purge(%s::interval)", (age,)).fetchone()[0]
        owner.commit()
        return removed

    def test_a_cursor_behind_purged_tombstones_has_expired(self):
        keys = [self.key(str(n)) for n in range(3)]
        revisions = [self.client.put(key, {}) for key in keys]
        _, before = self.client.pull_all()
        self.client.remove(keys[0], revisions[0])
        _, at_the_end = self.client.pull_all()
        _, followed = self.client.pull_all(before)
        self.assertGreater(self.purge(), 0)
        answer = self.client.post("/pull", {"scope": self.scope, "cursor": before})
        self.assertEqual(answer.error, (410, "cursor-expired"))
        for current in (at_the_end, followed):
            self.assertEqual(self.client.pull(current)["changes"], [])
        changes, _ = self.client.pull_all()
        self.assertEqual(sorted(copy_of(changes)), keys[1:])

    def test_a_first_load_goes_on_beside_a_purge_of_older_tombstones(self):
        revisions = [self.client.put(self.key(str(n)), {}) for n in range(5)]
        self.client.remove(self.key("4"), revisions[4])
        page = self.client.pull(limit=2)
        self.purge()
        rest, _ = self.client.pull_all(page["cursor"])
        self.assertEqual(len(page["changes"] + rest), 4)

    def test_a_quiet_scope_keeps_its_cursor_while_others_are_purged(self):
        self.client.put(self.key("a"), {})
        _, cursor = self.client.pull_all()
        busy = self.new_user(f"{self.scope}-busy")
        busy.remove(self.key("b"), busy.put(self.key("b"), {}))
        self.purge()
        self.assertEqual(self.client.pull(cursor)["changes"], [])

    def test_what_is_younger_stays(self):
        self.client.remove(self.key("a"), self.client.put(self.key("a"), {}))
        _, cursor = self.client.pull_all()
        mutation = save(self.key("b"), {})
        (first,) = self.client.push(mutation)
        self.purge("1 day")
        self.assertEqual(self.client.push(mutation), [first])
        self.assertEqual(len(self.client.pull(cursor)["changes"]), 1)

    def test_a_purged_document_may_be_created_again(self):
        key = self.key("a")
        gone = self.client.remove(key, self.client.put(key, {}))
        self.purge()
        (result,) = self.client.push(save(key, {}, gone))
        self.assertEqual(
            (result["status"], result["current"]), ("conflict", {"revision": None, "deleted": True})
        )
        self.client.put(key, {"again": True})

    def test_forgetting_cursors_has_everybody_begin_again(self):
        self.client.put(self.key("a"), {})
        _, cursor = self.client.pull_all()
        owner = self.owner()
        owner.execute("select larder.forget_cursors()")
        owner.commit()
        answer = self.client.post("/pull", {"scope": self.scope, "cursor": cursor})
        self.assertEqual(answer.error, (410, "cursor-expired"))
        self.assertEqual(len(self.client.pull_all()[0]), 1)

    def test_a_restored_dump_is_adopted_before_it_is_used(self):
        """In another database of the same cluster, whose transactions are numbered alike."""
        keys = [self.key(str(n)) for n in range(3)]
        for key in keys:
            self.client.put(key, {"key": key})
        before, _ = self.client.pull_all()
        name = f"restored_{uuid.uuid4().hex}"
        dump = subprocess.run(
            [binaries() / "pg_dump", "--dbname", self.server.owner_database], capture_output=True, check=True
        ).stdout
        owner = self.owner()
        owner.autocommit = True
        owner.execute(f"create database {name}")
        database = self.server.owner_database.replace("dbname=postgres", f"dbname={name}")
        subprocess.run(
            [binaries() / "psql", "--quiet", "--set=ON_ERROR_STOP=1", database],
            input=dump, capture_output=True, check=True,
        )
        with psycopg.connect(database, autocommit=True) as restored:

            def pull(cursor=None):
                restored.execute("select set_config('larder.signed_in', %s, false)", (self.user,))
                request = json.dumps({"scope": self.scope, "cursor": cursor})
                return restored.execute("select larder_pull(%s::json)", (request,)).fetchone()[0]

            with self.assertRaises(psycopg.Error) as refused:
                pull()
            self.assertEqual(refused.exception.sqlstate, "PT503")
            restored.execute("select larder.adopt()")
            self.assertEqual(pull()["changes"], before)
            with self.assertRaises(psycopg.Error) as refused:
                pull(self.client.pull()["cursor"])
            self.assertEqual(refused.exception.sqlstate, "PT410")
            with self.assertRaises(psycopg.Error):
                restored.execute("select larder.adopt()")
        owner.execute(f"drop database {name}")

    def test_a_first_load_begins_at_what_is_durable(self):
        """Numbers of transactions that wrote nothing come again after a crash."""
        revision = self.client.put(self.key("a"), {})
        owner = self.owner()
        for _ in range(50):
            owner.execute("select pg_current_xact_id()")
            owner.rollback()
        settled = int(owner.execute("select larder.settled()::text").fetchone()[0])
        _, cursor = self.client.pull_all()
        self.assertLess(int(cursor.split(".")[-1]), settled - 40)
        self.client.remove(self.key("a"), revision)
        self.assertEqual(len(self.client.pull(cursor)["changes"]), 1)

    def test_a_scope_may_have_any_name(self):
        for name in (f"{self.scope}:x", f"{self.scope}:read:x", "a b\nc\u00e9"):
            guest = Client(self.server.token(f"user-{name}", name), name)
            self.assertEqual(guest.send("GET", "/scopes").json["scopes"], [{"scope": name, "mayWrite": True}])

    def test_the_schema_is_installed_once(self):
        again = subprocess.run(
            [sys.executable, "-m", "larder_server", "schema", self.server.owner_database],
            capture_output=True, text=True,
        )
        self.assertEqual((again.returncode, "already" in again.stdout), (0, True), again.stderr)

    def test_a_token_is_kept_as_a_hash(self):
        owner = self.owner()
        rows = owner.execute("select t::text from larder.token t").fetchall()
        self.assertTrue(rows)
        self.assertFalse([row for row in rows if self.token in row[0]])
        self.assertEqual(Client(self.token, self.scope).send("GET", "/scopes").status, 200)
