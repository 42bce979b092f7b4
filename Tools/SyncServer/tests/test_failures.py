import http.client
import random
import threading

from .harness import Client, ServerCase, copy_of, save


class FailureTests(ServerCase):
    def test_without_a_database_the_answer_is_to_come_again(self):
        self.client.put(self.key("a"), {"n": 1})
        _, cursor = self.client.pull_all()
        self.server.stop_postgres()
        try:
            answer = self.client.post("/pull", {"scope": self.scope, "cursor": cursor}, patience=0)
            self.assertEqual(answer.error, (503, "unavailable"))
            self.assertTrue(answer.headers["retry-after"].isdigit())
            self.assertEqual(self.client.send("GET", "/health").status, 503)
        finally:
            self.server.start_postgres()
        self.assertEqual(self.until_answered("/pull", {"scope": self.scope, "cursor": cursor})["changes"], [])

    def until_answered(self, path: str, body: dict, client: Client | None = None) -> dict:
        # Only so that a server which never answers again fails the test and does not hang it.
        for _ in range(100_000):
            try:
                answer = (client or self.client).post(path, body, patience=0)
            except (OSError, http.client.HTTPException):
                continue
            if answer.status == 200:
                return answer.json
            self.assertEqual(answer.status, 503, answer.body)
        self.fail("the server never answered again")

    def test_what_was_accepted_outlives_a_crash_and_is_there_once(self):
        """Two clients push, each again until it is answered, while PostgreSQL and a process of the server
        are killed."""
        seed = random.randrange(1 << 32)
        numbers = random.Random(seed)
        finished = threading.Event()
        accepted: list[dict] = [{}, {}]
        wrong = []

        def push(number: int):
            client = Client(self.token, self.scope, server=number)
            counter = self.key(f"counter-{number}")
            base = None
            step = 0
            while not finished.is_set():
                step += 1
                mutations = [
                    save(counter, {"n": step}, base),
                    save(self.key(f"{number}-{step}"), {"n": step}),
                ]
                body = {"scope": self.scope, "mutations": mutations}
                results = self.until_answered("/push", body, client)["results"]
                if [result["status"] for result in results] != ["accepted", "accepted"]:
                    wrong.append((number, step, results))
                    return
                base = results[0]["revision"]
                accepted[number][mutations[1]["key"]] = {"n": step}
                accepted[number][counter] = {"n": step}

        threads = [threading.Thread(target=push, args=(number,)) for number in range(2)]
        self.pushing = threads
        for thread in threads:
            thread.start()
        port = self.server.state["ports"][1]
        for _ in range(3):
            self.pause(accepted, numbers.randrange(1, 10))
            self.server.stop_postgres("immediate")
            self.server.start_postgres()
            self.pause(accepted, numbers.randrange(1, 10))
            self.server.kill_http(port)
            self.server.start_http(port, 1)
        finished.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [], f"seed {seed}")
        expected = accepted[0] | accepted[1]
        self.assertEqual(copy_of(self.client.pull_all()[0]), expected, f"seed {seed}")

    def pause(self, accepted: list[dict], pushes: int):
        """Until that many pushes more have been answered."""
        want = sum(len(each) for each in accepted) + pushes
        while sum(len(each) for each in accepted) < want and any(thread.is_alive() for thread in self.pushing):
            threading.Event().wait(0.01)
