import psycopg

from .harness import Client, ServerCase, copy_of, deletion, save


class UserTests(ServerCase):
    def test_who_is_not_known_is_told_to_sign_in(self):
        expired = self.server.token("somebody", self.scope)
        owner = self.owner()
        owner.execute("update larder.token set expires_at = now() where user_id = 'somebody'")
        owner.commit()
        for token in (None, "", "nonsense", expired):
            client = Client(token, self.scope)
            for path in ("/pull", "/push", "/count", "/manifest"):
                answer = client.post(path, {"scope": self.scope})
                self.assertEqual(answer.error, (401, "needs-sign-in"), (token, path))
            self.assertEqual(client.send("GET", "/scopes").status, 401)
            self.assertEqual(client.send("GET", f"/hints?scope={self.scope}").status, 401)

    def test_a_scope_is_for_its_members(self):
        self.client.put(self.key("a"), {"secret": True})
        stranger = Client(self.server.token("stranger"), self.scope)
        for path in ("/pull", "/push", "/count", "/manifest"):
            answer = stranger.post(path, {"scope": self.scope, "mutations": []})
            self.assertEqual(answer.error, (403, "forbidden"), path)
        self.assertEqual(stranger.send("GET", f"/hints?scope={self.scope}").status, 403)
        reader = self.new_user(f"{self.scope}:read")
        self.assertEqual(len(reader.pull()["changes"]), 1)
        answer = reader.post("/push", {"scope": self.scope, "mutations": []})
        self.assertEqual(answer.error, (403, "forbidden"))
        self.assertEqual(
            reader.send("GET", "/scopes").json, {"scopes": [{"scope": self.scope, "mayWrite": False}]}
        )

    def test_a_member_who_is_removed_gets_no_more(self):
        guest = self.new_user(self.scope)
        guest.pull()
        owner = self.owner()
        owner.execute(
            "delete from larder.member where scope = %s and user_id <> %s", (self.scope, self.user)
        )
        owner.commit()
        self.assertEqual(guest.post("/pull", {"scope": self.scope}).error, (403, "forbidden"))

    def test_nothing_of_a_document_elsewhere_shows(self):
        key = self.key("a")
        revision = self.client.put(key, {"secret": True})
        stranger = self.new_user(f"{self.scope}-other")
        mutations = [save(key, {}), save(key, {}, revision), deletion(key, revision)]
        (create,) = stranger.push(mutations[0])
        self.assertEqual((create["status"], create["code"]), ("rejected", "taken"))
        (change,) = stranger.push(mutations[1])
        self.assertEqual((change["status"], change["current"]["deleted"]), ("conflict", True))
        (removal,) = stranger.push(mutations[2])
        self.assertEqual((removal["status"], removal["revision"]), ("accepted", None))
        self.assertEqual(copy_of(self.client.pull_all()[0]), {key: {"secret": True}})

    def test_what_a_reader_may_not_write_is_not_moved_away(self):
        key = self.key("a")
        revision = self.client.put(key, {"n": 1})
        guest = self.new_user(f"{self.scope}-own", f"{self.scope}:read")
        for mutation in (save(key, {"n": 2}, revision), deletion(key, revision)):
            (result,) = guest.push(mutation)
            self.assertEqual((result["status"], result["code"]), ("rejected", "forbidden"))
        self.assertEqual(copy_of(self.client.pull_all()[0]), {key: {"n": 1}})

    def test_two_users_may_use_the_same_mutation_id(self):
        mutation = save(self.key("a"), {"n": 1})
        self.assertEqual(self.client.push(mutation)[0]["status"], "accepted")
        guest = self.new_user(self.scope)
        self.assertEqual(guest.push(mutation)[0]["status"], "conflict")

    def test_a_document_that_moves_leaves_one_scope_and_enters_the_other(self):
        second = f"{self.scope}-second"
        token = self.server.token(self.user, self.scope, second)
        here, there = Client(token, self.scope), Client(token, second)
        key = self.key("a")
        revision = here.put(key, {"n": 1})
        _, here_cursor = here.pull_all()
        _, there_cursor = there.pull_all()
        moved = there.put(key, {"n": 2}, revision)
        left, here_cursor = here.pull_all(here_cursor)
        self.assertEqual(left, [{"collection": "notes", "key": key, "revision": moved, "left": True}])
        entered, there_cursor = there.pull_all(there_cursor)
        self.assertEqual(copy_of(entered), {key: {"n": 2}})
        self.assertEqual(here.pull_all()[0], [])
        back = here.put(key, {"n": 3}, moved)
        self.assertEqual(
            here.pull_all(here_cursor)[0],
            [{"collection": "notes", "key": key, "revision": back, "document": {"n": 3}}],
        )
        self.assertEqual([c["left"] for c in there.pull_all(there_cursor)[0]], [True])

    def test_row_level_rules_hold_for_queries_that_are_not_ours(self):
        self.client.put(self.key("a"), {})
        with psycopg.connect(self.server.http_database) as connection:
            count = "select count(*) from larder.document where scope = %s"
            self.assertEqual(connection.execute(count, (self.scope,)).fetchone()[0], 0)
            connection.execute("select set_config('larder.signed_in', %s, true)", (self.user,))
            self.assertEqual(connection.execute(count, (self.scope,)).fetchone()[0], 1)
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                connection.execute("update larder.document set scope = 'elsewhere'")
            connection.rollback()
            for table in ("token", "member", "generation"):
                with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"select * from larder.{table}")
                connection.rollback()
            for statement in ("larder.purge()", "larder.forget_cursors()"):
                with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"select {statement}")
                connection.rollback()
