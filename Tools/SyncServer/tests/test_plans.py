"""What a push reads does not grow with the tables, also with plans that were made when these were small."""

import json
import unittest
import uuid

import psycopg

from larder_server.instance import Instance

from .harness import deletion, save

ROWS = """
    select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::bigint
    from pg_stat_xact_user_tables where schemaname = 'larder' and relname in ('document', 'mutation')
"""
FILL = """
    insert into larder.document (collection, key, scope, document, revision, xid, seq, changed_at)
    select 'notes', %(prefix)s || n, %(scope)s, case when n %% 2 = 0 then '{}'::json end,
      gen_random_uuid(), pg_current_xact_id(), 0, now()
    from generate_series(1, 4000) n
"""
NOTES = """
    insert into larder.mutation (user_id, id, digest, revision)
    select %s, gen_random_uuid(), '', null from generate_series(1, 4000)
"""


class PlanTests(unittest.TestCase):
    def setUp(self):
        # Its own, as the tables are small at first.
        self.server = Instance.start(port=None, processes=1, apart=True, options="-c fsync=off -c autovacuum=off")
        self.addCleanup(self.server.stop)
        self.scope, self.user = "scope", "user"
        self.server.token(self.user, self.scope)

    def connection(self) -> psycopg.Connection:
        connection = psycopg.connect(self.server.owner_database, autocommit=True)
        self.addCleanup(connection.close)
        return connection

    def push(self, connection, mutations: list[dict]) -> tuple[set, int]:
        """The statuses of a push, and how many rows of the tables it read."""
        with connection.transaction():
            connection.execute("select set_config('larder.signed_in', %s, true)", (self.user,))
            connection.execute("set local role larder_client")
            before = connection.execute(ROWS).fetchone()[0]
            request = json.dumps({"scope": self.scope, "mutations": mutations})
            (answer,) = connection.execute("select larder_push(%s)", (request,)).fetchone()
            read = connection.execute(ROWS).fetchone()[0] - before
        return {result["status"] for result in answer["results"]}, read

    def test_a_push_reads_what_it_names(self):
        owner = self.connection()
        for counted in (True, False):
            if counted:
                for table in ("document", "mutation", "departure", "member"):
                    owner.execute(f"vacuum analyze larder.{table}")
            # Plans are kept after some calls.
            client = self.connection()
            prefix = f"{counted}-"
            for n in range(8):
                key = prefix + f"before-{n}"
                self.push(client, [save(key, {"n": 1})])
                self.push(client, [save(key, {"n": 2})])
                self.push(client, [deletion(key, None), save(key + "-", {})])
            owner.execute(FILL, {"prefix": prefix, "scope": self.scope})
            owner.execute(NOTES, (self.user,))
            there = owner.execute(
                "select key, revision::text from larder.document where key like %s and document is not null"
                " order by key limit 20", (prefix + "%",)
            ).fetchall()
            gone = [
                row[0] for row in owner.execute(
                    "select key from larder.document where key like %s and document is null"
                    " order by key limit 20", (prefix + "%",)
                )
            ]
            new = [save(prefix + f"new-{n}", {"n": n}) for n in range(20)]
            for name, mutations, status in (
                ("new", new, "accepted"),
                ("sent again", new, "accepted"),
                ("in conflict", [save(key, {"n": 1}) for key, _ in there], "conflict"),
                ("stale", [save(key, {"n": 1}, str(uuid.uuid4())) for key, _ in there], "conflict"),
                ("changed", [save(key, {"n": 1}, base) for key, base in there], "accepted"),
                ("revived", [save(key, {"n": 1}) for key in gone[:10]], "accepted"),
                ("gone already", [deletion(key, None) for key in gone[10:]], "accepted"),
            ):
                with self.subTest(name, counted=counted):
                    statuses, read = self.push(client, mutations)
                    self.assertEqual(statuses, {status})
                    # A few looks at each row that is named.
                    self.assertLess(read, 10 * len(mutations))
