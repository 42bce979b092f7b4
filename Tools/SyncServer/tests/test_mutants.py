"""The tests notice a server that is broken on purpose: each function is replaced, and put back."""

import random

from .harness import ServerCase
from .test_pull import gap_faults, late_commit_faults, tombstone_faults
from .test_push import lost_answer_faults, race_faults, stale_faults


class MutantTests(ServerCase):
    def broken(self, function: str, old: str, new: str) -> None:
        """Changes a function until the test ends."""
        owner = self.owner()
        definition = owner.execute(
            "select pg_get_functiondef(%s::regproc)", (function,)
        ).fetchone()[0]
        self.assertIn(old, definition)

        def define(text: str):
            owner.execute(text)
            owner.commit()

        self.addCleanup(define, definition)
        define(definition.replace(old, new))

    def test_a_cursor_that_passes_over_running_transactions(self):
        self.broken("larder.settled", "pg_snapshot_xmin", "pg_snapshot_xmax")
        self.assertNotEqual(late_commit_faults(self), [])

    def test_a_cursor_that_passes_over_them_under_load(self):
        self.broken("larder.settled", "pg_snapshot_xmin", "pg_snapshot_xmax")
        for _ in range(20):
            if gap_faults(self, random.Random()):
                return
        self.fail("no gap was noticed")

    def test_a_save_that_does_not_compare_revisions(self):
        self.broken("larder.compare_and_set", "d.revision =", "'t' or d.revision =")
        self.assertNotEqual(stale_faults(self), [])

    def test_a_creation_that_writes_over_another(self):
        over = "do update set document = excluded.document"
        self.broken("larder.compare_and_set", "do nothing", over)
        self.assertNotEqual(race_faults(self, rounds=40), [])

    def test_a_server_that_forgets_what_it_accepted(self):
        self.broken("larder.note", "s.id, s.content", "gen_random_uuid(), s.content")
        self.assertNotEqual(lost_answer_faults(self), [])

    def test_tombstones_that_are_lost(self):
        self.broken("public.larder_pull", "or d.xid >= asked.since", "")
        self.assertNotEqual(tombstone_faults(self), [])
