"""A push of many mutations is answered as one that sends each alone, in the order of the keys."""

import random
import uuid

from .harness import ServerCase, copy_of, deletion, save


class World:
    """Where the mutations of a test go, with keys and ids of its own."""

    def __init__(self, case: ServerCase, name: str, sends_together: bool):
        self.case = case
        self.name = name
        self.sends_together = sends_together
        # The revisions of each document, in the order in which they were heard of.
        self.revisions: dict[str, list[str]] = {}
        self.sent: list[dict] = []

    def key(self, letter: str) -> str:
        return self.case.key(f"{self.name}-{letter}")

    def mutation(self, plan: dict) -> dict:
        """What a plan, which says nothing of a world, is here."""
        if (earlier := plan.get("again")) is not None:
            mutation = dict(self.sent[earlier])
            if "other_document" in plan:
                mutation.pop("deleted", None)
                mutation["document"] = plan["other_document"]
            return mutation
        key = self.key(plan["letter"])
        heard = self.revisions.get(key, [])
        base = None
        if plan["base"] == "unknown":
            base = str(uuid.uuid4())
        elif plan["base"] is not None and heard:
            base = heard[-1 - min(plan["base"], len(heard) - 1)]
        if plan["document"] is None:
            return deletion(key, base)
        mutation = save(key, plan["document"], base)
        if plan.get("wrong"):
            mutation["collection"] = None
        return mutation

    def push(self, plans: list[dict]) -> list:
        mutations = [self.mutation(plan) for plan in plans]
        self.sent += mutations
        if self.sends_together:
            results = self.case.client.push(*mutations)
        else:
            results = [None] * len(mutations)
            for number in sorted(range(len(mutations)), key=lambda n: (mutations[n]["key"], n)):
                (results[number],) = self.case.client.push(mutations[number])
        for mutation, result in zip(mutations, results):
            assert result["id"] == mutation["id"], result
        return [self.in_short(mutation["key"], result) for mutation, result in zip(mutations, results)]

    def in_short(self, key: str, result: dict) -> tuple:
        """A result without what is different in each world."""
        current = result.get("current", {})
        revision = result.get("revision", current.get("revision"))
        if revision is not None:
            heard = self.revisions.setdefault(key, [])
            if revision not in heard:
                heard.append(revision)
            revision = heard.index(revision)
        return (
            result["status"], result.get("code"), revision, current.get("document"), current.get("deleted"),
        )

    def documents(self) -> dict:
        changes, _ = self.case.client.pull_all()
        here = [change for change in changes if change["key"].startswith(self.key(""))]
        return {key.removeprefix(self.key("")): value for key, value in copy_of(here).items()}


# Two pushes that get every kind of answer, whatever is drawn after them.
ONE_OF_EACH = [
    [
        {"letter": "a", "base": None, "document": {"n": 1}},
        {"letter": "b", "base": None, "document": {"n": 2}, "wrong": True},
    ],
    [
        {"letter": "a", "base": "unknown", "document": {"n": 3}},
        {"again": 0, "other_document": {"n": 4}},
    ],
]


class BatchTests(ServerCase):
    def test_mutations_of_a_push_are_answered_as_if_each_came_alone(self):
        seed = random.randrange(1 << 32)
        draw = random.Random(seed)
        together, alone = World(self, "together", True), World(self, "alone", False)
        statuses = set()
        with self.subTest(seed=seed):
            for number in range(40):
                plans = ONE_OF_EACH[number] if number < len(ONE_OF_EACH) else self.plans(draw, len(together.sent))
                results = together.push(plans)
                self.assertEqual(results, alone.push(plans), plans)
                statuses |= {result[:2] for result in results}
            self.assertEqual(together.documents(), alone.documents())
            self.assertLessEqual(
                {("accepted", None), ("conflict", None), ("rejected", "malformed"), ("rejected", "reused")},
                statuses,
            )

    def plans(self, draw: random.Random, sent_count: int) -> list[dict]:
        """Mostly one mutation of a document, now and then some."""
        letters = "abcdefghijkl"
        letters = draw.choices(letters, k=6) if draw.random() < 0.3 else draw.sample(letters, 6)
        plans = []
        for letter in letters[: draw.randrange(1, 7)]:
            if sent_count and draw.random() < 0.15:
                plan = {"again": draw.randrange(sent_count)}
                if draw.random() < 0.5:
                    plan["other_document"] = {"n": draw.randrange(1000)}
            else:
                plan = {
                    "letter": letter,
                    "base": draw.choices([None, 0, 1, "unknown"], [4, 8, 1, 1])[0],
                    "document": draw.choices([{"n": draw.randrange(1000)}, None], [5, 2])[0],
                    "wrong": draw.random() < 0.05,
                }
            plans.append(plan)
        return plans

    def test_of_two_mutations_of_one_document_the_second_finds_the_first(self):
        key = self.key("a")
        first, second = save(key, {"n": 1}), save(key, {"n": 2})
        results = self.client.push(first, save(self.key("b"), {}), second, first)
        self.assertEqual(
            [result["status"] for result in results], ["accepted", "accepted", "conflict", "accepted"]
        )
        self.assertEqual(results[2]["current"], {"revision": results[0]["revision"], "document": {"n": 1}})
        self.assertEqual(results[3], results[0])

    def test_nothing_is_a_push_too(self):
        self.assertEqual(self.client.push(), [])
        self.assertEqual(self.client.push(None, 3)[1]["status"], "rejected")

    def test_large_conflicts_are_told_up_to_a_size_and_the_others_are_sent_again(self):
        keys = [self.key(f"{n:02}") for n in range(12)]
        for key in keys:
            self.client.put(key, {"text": "x" * (1 << 20)})
        results = self.client.push(*(save(key, {}) for key in keys), save(self.key("99"), {"n": 1}))
        statuses = [result["status"] for result in results]
        self.assertEqual(statuses, ["conflict"] * 8 + ["retry"] * 4 + ["accepted"])
