import gzip
import http.client
import json
import socket
import threading
import time

import psycopg

from larder_server.hints import name_of

from .harness import ServerCase, save


class HTTPTests(ServerCase):
    def test_what_is_no_request_is_refused_with_a_reason(self):
        pull = {"scope": self.scope}
        bodies = {
            b"": 400,
            b"{": 400,
            b"[]": 400,
            b"null": 400,
            b'"scope"': 400,
            b'{"scope":5}': 400,
            b'{"scope":"\\u0000"}': 400,
            b'{"scope":"\\ud800"}': 400,
            b'{"scope":"\xff"}': 400,
            b"\x00": 400,
            b"[" * 1_000_000: 400,
            json.dumps({**pull, "cursor": "nonsense"}).encode(): 400,
            json.dumps({**pull, "cursor": "1.0123456789ab.1.1.99999999999999999999"}).encode(): 400,
            json.dumps({**pull, "limit": 0}).encode(): 400,
            json.dumps({**pull, "limit": -1}).encode(): 400,
            json.dumps({**pull, "limit": "many"}).encode(): 400,
            json.dumps({**pull, "cursor": "1.0123456789ab.1.1.1"}).encode(): 410,
        }
        for body, status in bodies.items():
            answer = self.client.send("POST", "/pull", body)
            self.assertEqual(answer.status, status, (body[:80], answer.body))
            self.assertEqual(set(answer.json), {"error", "message"}, body[:80])
        for mutations in (None, {}, "many", 5):
            answer = self.client.post("/push", {"scope": self.scope, "mutations": mutations})
            self.assertEqual(answer.error, (400, "malformed"))

    def test_paths_and_methods(self):
        self.assertEqual(self.client.send("GET", "/pull").error, (405, "malformed"))
        self.assertEqual(self.client.send("POST", "/elsewhere", b"{}").error, (404, "malformed"))
        about = self.client.send("GET", "").json
        self.assertEqual(about["protocol"], 1)
        health = {"healthy": True, "name": self.server.folder.name}
        self.assertEqual(self.client.send("GET", "/health").json, health)

    def test_limits_that_are_told_are_those_that_hold(self):
        limits = self.client.send("GET", "").json["limits"]
        many = [save(self.key("a"), {}) for _ in range(limits["mutations"] + 1)]
        answer = self.client.post("/push", {"scope": self.scope, "mutations": many})
        self.assertEqual(answer.error, (413, "too-large"))
        self.client.push(*[save(self.key(str(n)), {}) for n in range(limits["mutations"])])

        fits = {"t": "x" * (limits["documentBytes"] - len('{"t": ""}'))}
        self.client.put(self.key("fits"), fits)
        (result,) = self.client.push(save(self.key("more"), {"t": fits["t"] + "x"}))
        self.assertEqual(result["status"], "rejected")

        declared = self.client.send("POST", "/pull", b" " * (limits["bodyBytes"] + 1))
        self.assertEqual(declared.error, (413, "too-large"))

    def test_a_body_without_a_length_is_bounded(self):
        connection = http.client.HTTPConnection(self.client.url.hostname, self.client.url.port, timeout=60)
        self.addCleanup(connection.close)
        connection.putrequest("POST", "/v1/pull")
        connection.putheader("authorization", f"Bearer {self.token}")
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()
        piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        try:
            for _ in range(64):
                connection.send(piece)
        except (BrokenPipeError, ConnectionResetError):
            return  # It hung up, which is a bound as well.
        self.assertEqual(connection.getresponse().status, 413)

    def test_nobody_without_a_token_has_a_body_read(self):
        with socket.create_connection((self.client.url.hostname, self.client.url.port), timeout=30) as s:
            s.sendall(b"POST /v1/push HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n")
            self.assertIn(b" 401 ", s.recv(100))

    def test_nobody_unknown_has_much_of_a_body_kept(self):
        with socket.create_connection((self.client.url.hostname, self.client.url.port), timeout=30) as s:
            s.sendall(
                b"POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\n"
                b"Content-Length: 16000000\r\n\r\n" + b" " * 100_000
            )
            self.assertIn(b" 401 ", s.recv(100))

    def test_one_token_does_not_take_all_connections(self):
        key = self.key("locked")
        revision = self.client.put(key, {})
        owner = self.owner()
        owner.execute("select from larder.document where key = %s for update", (key,))
        threads = [
            threading.Thread(
                target=self.client.post,
                args=("/push", {"scope": self.scope, "mutations": [save(key, {"n": n}, revision)]}),
            )
            for n in range(20)
        ]
        for thread in threads:
            thread.start()
        guest = self.new_user(self.scope)
        for _ in range(5):
            self.assertEqual(guest.post("/pull", {"scope": self.scope}).status, 200)
        owner.rollback()
        for thread in threads:
            thread.join()

    def test_a_body_that_breaks_off_changes_nothing(self):
        body = json.dumps({"scope": self.scope, "mutations": [save(self.key("a"), {})]}).encode()
        with socket.create_connection((self.client.url.hostname, self.client.url.port), timeout=30) as s:
            head = (
                f"POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            s.sendall(head.encode() + body[:-1])
        self.assertEqual(self.client.pull()["changes"], [])

    def test_pages_come_compressed_to_who_asks(self):
        for number in range(50):
            self.client.put(self.key(str(number)), {"text": "again and again " * 20})
        body = json.dumps({"scope": self.scope}).encode()
        plain = self.client.send("POST", "/pull", body)
        small = self.client.send("POST", "/pull", body, **{"accept-encoding": "gzip"})
        self.assertEqual(small.headers["content-encoding"], "gzip")
        self.assertEqual(json.loads(gzip.decompress(small.body)), plain.json)
        self.assertLess(len(small.body) * 4, len(plain.body))
        sent = self.client.send("POST", "/pull", gzip.compress(body), **{"content-encoding": "gzip"})
        self.assertEqual(sent.status, 415)


class HintTests(ServerCase):
    def follow(self, server: int = 0):
        """Lines of the stream, read in a thread of their own."""
        client = [self.client, self.other][server]
        connection = http.client.HTTPConnection(client.url.hostname, client.url.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request(
            "GET", f"/v1/hints?scope={self.scope}", headers={"authorization": f"Bearer {self.token}"}
        )
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        self.assertEqual(response.readline(), b": hints\n")
        # What was committed before.
        self.next_hint(response)
        return response

    def next_hint(self, response) -> dict:
        while True:
            line = response.readline()
            self.assertTrue(line, "the stream ended")
            if line.startswith(b"data: "):
                return json.loads(line[len(b"data: ") :])

    def test_both_processes_tell_of_a_change(self):
        streams = [self.follow(0), self.follow(1)]
        cursor = self.client.pull()["cursor"]
        for number in range(3):
            self.client.put(self.key(str(number)), {})
            for stream in streams:
                self.assertEqual(self.next_hint(stream), {"scope": self.scope})
            changes, cursor = self.client.pull_all(cursor)
            self.assertEqual([change["key"] for change in changes], [self.key(str(number))])

    def test_a_change_by_hand_is_told_as_well(self):
        revision = self.client.put(self.key("a"), {"n": 1})
        _, cursor = self.client.pull_all()
        stream = self.follow()
        owner = self.owner()
        owner.execute(
            "update larder.document set document = '{\"n\":2}' where key = %s", (self.key("a"),)
        )
        owner.commit()
        self.next_hint(stream)
        (change,), cursor = self.client.pull_all(cursor)
        self.assertEqual(change["document"], {"n": 2})
        self.assertNotEqual(change["revision"], revision)
        owner.execute("delete from larder.document where key = %s", (self.key("a"),))
        owner.commit()
        self.next_hint(stream)
        (change,), _ = self.client.pull_all(cursor)
        self.assertEqual(change["deleted"], True)

    def test_a_stream_that_begins_beside_an_unsettled_change_hears_of_it(self):
        _, cursor = self.client.pull_all()
        owner = self.owner()
        owner.execute("select pg_current_xact_id()")
        self.client.put(self.key("a"), {})
        opened = threading.Event()
        client = self.client
        thread = threading.Thread(target=lambda: (self.follow(), opened.set()))
        thread.start()
        self.assertEqual(client.pull(cursor)["changes"], [])
        self.assertFalse(opened.is_set())
        owner.commit()
        thread.join()
        self.assertEqual(len(client.pull(cursor)["changes"]), 1)

    def test_notifications_that_are_none_of_ours_do_no_harm(self):
        stream = self.follow()
        with psycopg.connect(self.server.http_database, autocommit=True) as anybody:
            name = name_of(self.scope)
            for payload in ("", "x", "5", f"x {name}", f"-1 {name}", f"{'9' * 30} {name}", f"\u0663 {name}"):
                anybody.execute("select pg_notify('larder', %s)", (payload,))
        self.client.put(self.key("a"), {})
        self.next_hint(stream)
        streams = [self.follow(0), self.follow(1)]
        self.client.put(self.key("b"), {})
        for other in streams:
            self.next_hint(other)

    def test_streams_are_bounded(self):
        connection = http.client.HTTPConnection(self.client.url.hostname, self.client.url.port, timeout=60)
        self.addCleanup(connection.close)
        query = "&".join([f"scope={self.scope}"] * 500)
        connection.request(
            "GET", f"/v1/hints?{query}", headers={"authorization": f"Bearer {self.token}"}
        )
        # The same scope is one.
        self.assertEqual(connection.getresponse().status, 200)
        many = self.new_user(*[f"{self.scope}-{number}" for number in range(101)])
        query = "&".join(f"scope={self.scope}-{number}" for number in range(101))
        self.assertEqual(many.send("GET", f"/hints?{query}").error, (413, "too-large"))

    def test_a_hint_waits_until_a_pull_gives_the_change(self):
        stream = self.follow()
        _, cursor = self.client.pull_all()
        owner = self.owner()
        owner.execute("select pg_current_xact_id()")
        self.client.put(self.key("a"), {})
        heard = threading.Event()
        thread = threading.Thread(target=lambda: (self.next_hint(stream), heard.set()))
        thread.start()
        # Nothing to hear yet: a pull would find nothing. How long we look decides nothing.
        time.sleep(0.3)
        self.assertEqual(self.client.pull(cursor)["changes"], [])
        self.assertFalse(heard.is_set())
        owner.commit()
        thread.join()
        self.assertEqual(len(self.client.pull(cursor)["changes"]), 1)
