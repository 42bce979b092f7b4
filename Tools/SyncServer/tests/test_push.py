import threading
import time
import uuid

from .harness import Client, ServerCase, deletion, save


class PushTests(ServerCase):
    def test_create_change_delete_and_create_again(self):
        key = self.key("a")
        first = self.client.put(key, {"n": 1})
        second = self.client.put(key, {"n": 2}, first)
        gone = self.client.remove(key, second)
        again = self.client.put(key, {"n": 3})
        self.assertEqual(len({first, second, gone, again}), 4)
        changes, _ = self.client.pull_all()
        self.assertEqual(
            changes,
            [{"collection": "notes", "key": key, "revision": again, "document": {"n": 3}}],
        )

    def test_an_older_base_is_a_conflict_with_what_stands_here(self):
        key = self.key("a")
        first = self.client.put(key, {"n": 1})
        second = self.client.put(key, {"n": 2}, first)
        stands = {"revision": second, "document": {"n": 2}}
        for mutation in (save(key, {"n": 9}, first), save(key, {"n": 9}), deletion(key, first)):
            (result,) = self.other.push(mutation)
            self.assertEqual((result["status"], result["current"]), ("conflict", stands))
        gone = self.client.remove(key, second)
        (result,) = self.other.push(save(key, {"n": 9}, second))
        self.assertEqual(
            (result["status"], result["current"]), ("conflict", {"revision": gone, "deleted": True})
        )
        # With that revision, the document comes back to life.
        self.client.put(key, {"n": 9}, gone)

    def test_deleting_what_is_gone_is_accepted(self):
        key = self.key("a")
        (never_there,) = self.client.push(deletion(key, None))
        self.assertEqual((never_there["status"], never_there["revision"]), ("accepted", None))
        gone = self.client.remove(key, self.client.put(key, {}))
        (result,) = self.client.push(deletion(key, str(uuid.uuid4())))
        self.assertEqual((result["status"], result["revision"]), ("accepted", gone))

    def test_a_lost_answer_is_given_again(self):
        self.assertEqual(lost_answer_faults(self), [])

    def test_an_id_is_not_used_for_something_else(self):
        mutation = save(self.key("a"), {"n": 1})
        self.client.push(mutation)
        for other in ({"key": self.key("b")}, {"document": {"n": 2}}, {"base": str(uuid.uuid4())}):
            (result,) = self.client.push({**mutation, **other})
            self.assertEqual((result["status"], result["code"]), ("rejected", "reused"), other)

    def test_the_same_mutation_in_other_words_is_the_same(self):
        mutation = save(self.key("a"), {"n": 1, "m": 2})
        (first,) = self.client.push(mutation)
        mutation["document"] = {"m": 2, "n": 1}
        (second,) = self.client.push({**mutation, "id": mutation["id"].upper()})
        self.assertEqual(second, {**first, "id": mutation["id"].upper()})

    def test_a_conflict_may_be_sent_again_under_its_id(self):
        key = self.key("a")
        mutation = save(key, {"n": 2})
        gone = self.client.put(key, {"n": 1})
        self.assertEqual(self.client.push(mutation)[0]["status"], "conflict")
        self.client.remove(key, gone)
        self.assertEqual(self.client.push(mutation)[0]["status"], "accepted")

    def test_a_save_over_an_older_revision_is_not_accepted(self):
        self.assertEqual(stale_faults(self), [])

    def test_of_two_writers_on_one_revision_one_is_accepted(self):
        self.assertEqual(race_faults(self, rounds=40), [])

    def test_a_push_that_waited_for_a_writer_finds_what_that_wrote(self):
        for is_alone in (True, False):
            for was_deleted in (True, False):
                with self.subTest(is_alone=is_alone, was_deleted=was_deleted):
                    name = f"waits-{is_alone}-{was_deleted}"
                    key, beside = self.key(name), self.key(name + "-beside")
                    base = self.client.put(key, {"n": 1})
                    if was_deleted:
                        self.client.remove(key, base)
                        base = None
                    mutations = [save(key, {"n": 2}, base)]
                    if not is_alone:
                        mutations.append(save(beside, {"n": 2}))
                    owner = self.owner()
                    owner.execute(
                        "update larder.document set document = '{\"n\": 9}' where key = %s", (key,)
                    )
                    results = []
                    push = threading.Thread(target=lambda: results.extend(self.client.push(*mutations)))
                    push.start()
                    self.wait_for_a_lock()
                    owner.commit()
                    push.join()
                    self.assertEqual(results[0]["status"], "conflict")
                    self.assertEqual(results[0]["current"]["document"], {"n": 9})
                    self.assertEqual([result["status"] for result in results[1:]], ["accepted"] * (not is_alone))

    def wait_for_a_lock(self):
        """Until a client waits for somebody's transaction."""
        waiting = "select exists (select from pg_locks where not granted and locktype = 'transactionid')"
        watcher = self.owner()
        watcher.autocommit = True
        end = time.monotonic() + 60
        while not watcher.execute(waiting).fetchone()[0]:
            self.assertLess(time.monotonic(), end, "nobody waits")
            time.sleep(0.01)

    def test_the_same_push_at_the_same_time_is_one(self):
        for round in range(20):
            mutation = save(self.key(f"same-{round}"), {"round": round})
            results = at_once(self, [[mutation], [mutation], [mutation]])
            self.assertEqual({result[0]["status"] for result in results}, {"accepted"})
            self.assertEqual(len({result[0]["revision"] for result in results}), 1)

    def test_pushes_over_the_same_keys_do_not_wait_in_a_circle(self):
        keys = [self.key(str(n)) for n in range(30)]
        forth = [save(key, {"from": 0}) for key in keys]
        back = [save(key, {"from": 1}) for key in reversed(keys)]
        results = at_once(self, [forth, back])
        for one, two in zip(results[0], reversed(results[1])):
            self.assertEqual({one["status"], two["status"]}, {"accepted", "conflict"})

    def test_one_wrong_mutation_leaves_the_others(self):
        good = [save(self.key(str(n)), {"n": n}) for n in range(8)]
        wrong = [
            {**good[0], "id": 5},
            {**good[1], "id": "no uuid"},
            {**good[2], "key": ""},
            {**good[3], "key": "x" * 1001},
            {**good[4], "collection": None},
            {**good[5], "base": "older"},
            {**good[6], "document": [1]},
            {**good[7], "document": {"text": "a\u0000b"}},
            {**good[0], "deleted": True},
            {**good[1], "document": {"text": "x" * (5 << 20)}},
            {"id": str(uuid.uuid4())},
            "no object",
            None,
        ]
        results = self.client.push(*[m for pair in zip(wrong, good) for m in pair], *wrong[len(good):])
        statuses = [result["status"] for result in results]
        self.assertEqual(statuses, ["rejected", "accepted"] * len(good) + ["rejected"] * 5)
        self.assertTrue(all(result["reason"] for result in results if result["status"] == "rejected"))
        self.assertEqual(len(self.client.pull_all()[0]), len(good))

    def test_a_text_that_only_looks_like_nul_is_kept(self):
        documents = [{"text": "\\u0000"}, {"text": "\\\\u0000"}, {"\\u0000": 1}]
        for number, document in enumerate(documents):
            self.client.put(self.key(str(number)), document)
        # Beside one that has it.
        results = self.client.push(
            save(self.key("nul"), {"text": "\\\u0000"}), save(self.key("three"), documents[0])
        )
        self.assertEqual([result["status"] for result in results], ["rejected", "accepted"])
        changes, _ = self.client.pull_all()
        self.assertEqual([change["document"] for change in changes], [*documents, documents[0]])

    def test_half_of_a_surrogate_pair_takes_no_other_with_it(self):
        texts = ["\\ud800", "\\uDC00", "\\ud800\\ud800", "x\\udfff\\ud83d", "\\ude00\\ud83d"]
        kept = ["\\ud83d\\ude00", "\\\\ud800", "\\u00d8", "\\ud83d\\ude00\\ud83d\\ude00"]
        mutations = [
            '{"id":"%s","collection":"notes","key":"%s","document":{"t":"%s"}}'
            % (uuid.uuid4(), self.key(str(number)), text)
            for number, text in enumerate(texts + kept)
        ]
        body = '{"scope":"%s","mutations":[%s]}' % (self.scope, ",".join(mutations))
        results = self.client.send("POST", "/push", body.encode()).json["results"]
        self.assertEqual(
            [result["status"] for result in results],
            ["rejected"] * len(texts) + ["accepted"] * len(kept),
        )
        pulled = self.client.send("POST", "/pull", ('{"scope":"%s"}' % self.scope).encode()).body
        for text in kept:
            self.assertIn(('{"t":"%s"}' % text).encode(), pulled)

    def test_documents_have_as_many_levels_as_are_told(self):
        levels = self.client.send("GET", "").json["limits"]["documentLevels"]

        def nested(count: int, text: str = "[{]}\"\\"):
            value = text
            for level in range(count - 1):
                value = [value] if level % 2 or level < 10 else {"a": value, "b": [[]] * 3}
            return {"deep": value}

        results = self.client.push(
            save(self.key("fits"), nested(levels)),
            save(self.key("deeper"), nested(levels + 1)),
            save(self.key("wide"), {"many": [{"n": [n]} for n in range(1000)]}),
        )
        self.assertEqual([result["status"] for result in results], ["accepted", "rejected", "accepted"])

    def test_what_is_neither_true_nor_false_is_refused(self):
        mutations = [save(self.key("a"), {})]
        answer = self.client.post("/push", {"scope": self.scope, "mutations": mutations, "atomic": 1})
        self.assertEqual(answer.error, (400, "malformed"))
        (result,) = self.client.push({**deletion(self.key("a"), None), "deleted": 1})
        self.assertEqual(result["status"], "rejected")

    def test_all_or_none_where_it_is_asked_for(self):
        taken = self.client.put(self.key("taken"), {"n": 1})
        mutations = [save(self.key("new"), {}), save(self.key("taken"), {}), save(self.key("zuletzt"), {})]
        results = self.client.push(*mutations, atomic=True)
        self.assertEqual([result["status"] for result in results], ["retry", "conflict", "retry"])
        self.assertEqual([change["key"] for change in self.client.pull_all()[0]], [self.key("taken")])
        mutations[1] = save(self.key("taken"), {}, taken)
        results = self.client.push(*mutations, atomic=True)
        self.assertEqual({result["status"] for result in results}, {"accepted"})


def lost_answer_faults(case: ServerCase) -> list[str]:
    """A push whose answer never came is sent again, to another process, after somebody else's change."""
    key = case.key("lost")
    mutation = save(key, {"n": 1})
    (first,) = case.client.push(mutation)
    case.other.put(key, {"n": 2}, first["revision"])
    (second,) = case.other.push(mutation)
    faults = [] if second == first else [f"{first} was answered again as {second}"]
    (stands,) = [change for change in case.client.pull_all()[0] if change["key"] == key]
    if stands["document"] != {"n": 2}:
        faults.append(f"the second sending overwrote what came between: {stands}")
    return faults


def stale_faults(case: ServerCase) -> list[str]:
    """Saves over a revision that is not the last one any more."""
    faults = []
    for number in range(2):
        key = case.key(f"stale-{number}")
        base = case.client.put(key, {"n": 0})
        case.client.put(key, {"n": 1}, base)
        # Alone, and beside another one.
        beside = [save(case.key("beside"), {})] * number
        result = case.other.push(save(key, {"n": 2}, base), *beside)[0]
        if result["status"] != "conflict":
            faults.append(f"{number}: a save over an older revision was {result['status']}")
    return faults


def race_faults(case: ServerCase, rounds: int) -> list[str]:
    faults = []
    for round in range(rounds):
        key = case.key(f"race-{round}")
        base = case.client.put(key, {"n": 0}) if round % 2 else None
        results = at_once(case, [[save(key, {"writer": w}, base)] for w in range(4)])
        accepted = [n for n, result in enumerate(results) if result[0]["status"] == "accepted"]
        if len(accepted) != 1:
            faults.append(f"round {round}: writers {accepted} were accepted")
    return faults


def at_once(case: ServerCase, pushes: list[list[dict]]) -> list[list[dict]]:
    """The results of pushes that begin together, over both processes."""
    start = threading.Barrier(len(pushes))
    results = [None] * len(pushes)

    def push(number: int):
        client = Client(case.token, case.scope, server=number % 2)
        start.wait()
        results[number] = client.push(*pushes[number])

    threads = [threading.Thread(target=push, args=(number,)) for number in range(len(pushes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
