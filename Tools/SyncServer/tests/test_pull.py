import json
import random
import threading
import unittest

from .harness import Client, ServerCase, copy_of, deletion, save


class PullTests(ServerCase):
    def test_documents_come_back_as_they_were_written(self):
        text = (
            '{"zero":-0.0,"large":123456789012345678901234567890.50,"small":1e-400,"int":9223372036854775807,'
            '"twice":1,"twice":2,"text":"\\ud83d\\ude00 \\"\\\\ \\u0007 \u00e9","empty":{},"list":[[],null,true]}'
        )
        body = (
            '{"scope":%s,"mutations":[{"id":"0f8fad5b-d9cb-469f-a165-70867728950e","collection":"notes",'
            '"key":%s,"base":null,"document":%s}]}'
            % (json.dumps(self.scope), json.dumps(self.key("a")), text)
        )
        answer = self.client.send("POST", "/push", body.encode())
        self.assertEqual(answer.json["results"][0]["status"], "accepted", answer.body)
        pulled = self.client.send("POST", "/pull", json.dumps({"scope": self.scope}).encode())
        self.assertIn(text.encode(), pulled.body)

    def test_pages_of_every_size_give_the_same(self):
        for number in range(23):
            self.client.put(self.key(str(number)), {"number": number})
        whole, end = self.client.pull_all()
        self.assertEqual([change["document"]["number"] for change in whole], list(range(23)))
        for limit in (1, 2, 7, 22, 23, 24):
            paged, end_of_pages = self.client.pull_all(limit=limit)
            self.assertEqual(paged, whole, limit)
            self.assertEqual(end_of_pages.split(".")[:4], end.split(".")[:4])

    def test_pulling_nothing_new_gives_the_same_cursor(self):
        page = self.client.pull()
        self.assertEqual((page["changes"], page["more"]), ([], False))
        self.client.put(self.key("a"), {})
        _, cursor = self.client.pull_all(page["cursor"])
        for other_writes in range(3):
            self.new_user(f"{self.scope}-{other_writes}").put(self.key(f"x{other_writes}"), {})
            again = self.other.pull(cursor)
            self.assertEqual(again, {"changes": [], "cursor": cursor, "more": False})

    def test_a_page_ends_at_its_bytes(self):
        large = {"text": "x" * 1_500_000}
        for number in range(4):
            self.client.put(self.key(str(number)), large)
        sizes = []
        cursor, more = None, True
        while more:
            page = self.client.pull(cursor)
            cursor, more = page["cursor"], page["more"]
            sizes.append(len(page["changes"]))
        self.assertEqual(sizes, [2, 2])

    def test_a_later_pull_has_tombstones(self):
        self.assertEqual(tombstone_faults(self), [])

    def test_first_load_has_no_tombstones(self):
        self.client.put(self.key("kept"), {"n": 1})
        gone = self.client.put(self.key("gone"), {"n": 2})
        self.client.remove(self.key("gone"), gone)
        first = self.client.pull(limit=1)
        self.assertEqual([change["key"] for change in first["changes"]], [self.key("kept")])

    def test_deleted_between_pages_of_the_first_load(self):
        revisions = [self.client.put(self.key(str(n)), {"n": n}) for n in range(6)]
        page = self.client.pull(limit=3)
        held = copy_of(page["changes"])
        self.client.remove(self.key("0"), revisions[0])
        self.client.remove(self.key("5"), revisions[5])
        self.client.put(self.key("1"), {"n": 100}, revisions[1])
        rest, _ = self.client.pull_all(page["cursor"], limit=2)
        expected = {self.key(str(n)): {"n": n} for n in (2, 3, 4)} | {self.key("1"): {"n": 100}}
        self.assertEqual(copy_of(rest, held), expected)

    def test_a_transaction_that_commits_late_is_not_passed_over(self):
        self.assertEqual(late_commit_faults(self), [])

    def test_writers_at_once_leave_no_gap(self):
        seed = random.randrange(1 << 32)
        self.assertEqual(gap_faults(self, random.Random(seed)), [], f"seed {seed}")

    def test_count_and_manifest_agree_with_what_a_client_has(self):
        revisions = {self.key(str(n)): self.client.put(self.key(str(n)), {"n": n}) for n in range(7)}
        gone = self.key("3")
        self.client.remove(gone, revisions.pop(gone))
        self.assertEqual(
            self.client.post("/count", {"scope": self.scope}).json, {"count": 6, "settled": True}
        )
        entries, after, more = [], None, True
        while more:
            page = self.client.post("/manifest", {"scope": self.scope, "limit": 2, "after": after}).json
            entries += page["entries"]
            after, more = page["entries"][-1], page["more"]
        self.assertEqual({entry["key"]: entry["revision"] for entry in entries}, revisions)

    def test_a_count_beside_an_unsettled_change_says_so(self):
        owner = self.owner()
        owner.execute("select pg_current_xact_id()")
        self.client.put(self.key("a"), {})
        self.assertEqual(self.client.post("/count", {"scope": self.scope}).json["settled"], False)
        owner.commit()
        self.assertEqual(self.client.post("/count", {"scope": self.scope}).json["settled"], True)


def late_commit_faults(case: ServerCase) -> list[str]:
    """A row whose transaction began first and commits last, with pulls between."""
    owner = case.owner()
    insert = (
        "insert into larder.document (collection, key, scope, document, revision, xid, seq, changed_at)"
        " values ('notes', %s, %s, '{}', gen_random_uuid(), '0', 0, now())"
    )
    owner.execute(insert, (case.key("late"), case.scope))
    case.client.put(case.key("early"), {})
    changes, cursor = case.client.pull_all()
    owner.commit()
    rest, _ = case.client.pull_all(cursor)
    seen = sorted(change["key"] for change in changes + rest)
    expected = sorted([case.key("early"), case.key("late")])
    return [] if seen == expected else [f"saw {seen} of {expected}"]


def tombstone_faults(case: ServerCase) -> list[str]:
    """A deletion behind a cursor."""
    revision = case.client.put(case.key("gone"), {})
    _, cursor = case.client.pull_all()
    case.client.remove(case.key("gone"), revision)
    told = [(change["key"], change.get("deleted")) for change in case.client.pull_all(cursor)[0]]
    return [] if told == [(case.key("gone"), True)] else [f"told was {told}"]


def gap_faults(case: ServerCase, numbers: random.Random) -> list[str]:
    """Four writers through two processes, transactions that stay open for a while, and a reader that never
    rests: in the end its copy is that of a first load."""
    stop = threading.Event()
    errors = []

    def write(number: int, own: random.Random):
        client = Client(case.token, case.scope, server=number % 2)
        held = {}
        for step in range(40):
            key = case.key(f"{number}-{own.randrange(12)}")
            mutation = (
                deletion(key, held[key])
                if key in held and own.random() < 0.25
                else save(key, {"step": step, "writer": number}, held.get(key))
            )
            (result,) = client.push(mutation)
            if result["status"] != "accepted":
                errors.append(f"not accepted: {result}")
            elif "deleted" in mutation:
                del held[key]
            else:
                held[key] = result["revision"]

    def linger(own: random.Random):
        owner = case.owner()
        while not stop.is_set():
            owner.execute(
                "insert into larder.document (collection, key, scope, document, revision, xid, seq, changed_at)"
                " values ('notes', %s, %s, '{}', gen_random_uuid(), '0', 0, now())"
                " on conflict (collection, key) do update set document = '{\"again\":true}'",
                (case.key(f"slow-{own.randrange(5)}"), case.scope),
            )
            stop.wait(own.random() * 0.02)
            owner.commit()

    writers = [
        threading.Thread(target=write, args=(number, random.Random(numbers.random()))) for number in range(4)
    ]
    slow = threading.Thread(target=linger, args=(random.Random(numbers.random()),))
    for thread in [*writers, slow]:
        thread.start()
    held, cursor = {}, None
    while any(writer.is_alive() for writer in writers):
        changes, cursor = case.client.pull_all(cursor, limit=numbers.choice([1, 3, 50]))
        copy_of(changes, held)
    stop.set()
    slow.join()
    changes, cursor = case.client.pull_all(cursor)
    copy_of(changes, held)
    fresh, _ = case.other.pull_all()
    if copy_of(fresh) != held:
        differing = {
            key for key in held.keys() | copy_of(fresh).keys() if held.get(key) != copy_of(fresh).get(key)
        }
        errors.append(f"a reader that followed differs at {sorted(differing)}")
    return errors


if __name__ == "__main__":
    unittest.main()
