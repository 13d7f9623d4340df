"""In the API server: who is told 400 that a request never fits, and 429 that there is no room now."""

import asyncio
import json
import unittest
from types import SimpleNamespace

import fakes
from kvbudget.vllm import front, middleware, segment, settings
from metrics_test import start
from scheduler_test import step


def arrived(prompt, output, tenant=None, **fields):
    """As EngineCoreRequest has it."""
    extra = {"kvbudget_tenant": tenant} if tenant else None
    parameters = SimpleNamespace(max_tokens=output, extra_args=extra)
    fields = {"sampling_params": parameters, "resumable": False} | fields
    return SimpleNamespace(prompt_token_ids=[7] * prompt, prompt_embeds=None, **fields)


class TooLarge(Exception):
    def __init__(self, message, parameter, value):
        super().__init__(message)
        self.parameter, self.value = parameter, value


class NeverFitTest(unittest.TestCase):
    def setUp(self):
        self.scheduler = start()
        self.addCleanup(self.scheduler.shutdown)

    def refusal(self, *arguments, **fields):
        return front.refusal(arrived(*arguments, **fields), segment.read()[0])

    def test_it_says_what_the_scheduler_says(self):
        why = self.refusal(100, 100)
        self.scheduler.add_request(fakes.request("never", prompt=100, output=100))
        self.assertEqual(why, step(self.scheduler)[0].outputs[0].stop_reason)

    def test_the_boundary_is_the_schedulers(self):
        for tokens in range(96, 150):  # with the one that is sampled last
            name = f"r{tokens}"
            self.scheduler.add_request(fakes.request(name, prompt=tokens - 16, output=15))
            outputs = step(self.scheduler).get(0)
            refused = outputs is not None and any(o.request_id == name for o in outputs.outputs)
            self.assertEqual(bool(self.refusal(tokens - 16, 15)), refused, tokens)
            self.scheduler.finish_requests(None, fakes.RequestStatus.FINISHED_ABORTED)
            step(self.scheduler)

    def test_a_tenants_own_bound_counts(self):
        self.assertEqual(self.refusal(60, 3, tenant="a"), "")
        self.assertIn("above_tenant_share", self.refusal(60, 4, tenant="a"))
        self.assertEqual(self.refusal(60, 4, tenant="b"), "")

    def test_sessions_and_pooling_requests_are_judged_by_what_they_reserve(self):
        self.assertIn("above_budget", self.refusal(16, 15, resumable=True))
        self.assertEqual(self.refusal(126, 0, tenant="b", sampling_params=None), "")
        self.assertIn("above_budget", self.refusal(160, 0, sampling_params=None))

    def test_other_modes_refuse_what_they_are_sure_of(self):
        for mode, refused in (("observe", False), ("optimistic", False)):
            before, self.scheduler = self.scheduler, None
            before.shutdown()
            self.scheduler = start({"mode": mode})
            self.addCleanup(self.scheduler.shutdown)
            self.assertEqual(bool(self.refusal(100, 100)), refused, mode)
        self.assertIn("above_budget", self.refusal(160, 1))  # by its prompt alone

    def test_the_method_is_replaced_and_keeps_what_it_returns(self):
        class Processor:
            def process_inputs(self, prompt, output):
                return arrived(prompt, output)

        figures = [segment.read()[0], segment.read()[0] | {"budget_blocks": 20}]
        figures[1]["tenants"] = []
        for ranks, is_refused in (([0], True), ([0, 1], False), ([], False)):
            class Fresh(Processor):
                pass

            front.wrap(Fresh, TooLarge, lambda: {rank: figures[rank] for rank in ranks})
            self.assertEqual(len(Fresh().process_inputs(10, output=10).prompt_token_ids), 10)
            if is_refused:
                with self.assertRaisesRegex(TooLarge, "need 13 KV blocks") as raised:
                    Fresh().process_inputs(100, output=100)
                self.assertEqual((raised.exception.parameter, raised.exception.value), ("max_tokens", 100))
            else:
                Fresh().process_inputs(100, output=100)

    def test_an_engine_without_the_method_keeps_the_schedulers_rule(self):
        class Later:
            async def process_inputs(self):
                pass

        self.assertIn("coroutine", front.problem_with(Later))
        self.assertIn("has no process_inputs", front.problem_with(object))
        with self.assertLogs("vllm.kvbudget", "WARNING") as logs:
            front.install(settings.Settings(), 1)  # no engine is installed here
        self.assertIn("refused by the scheduler alone", logs.output[0])


class MiddlewareTest(unittest.TestCase):
    def setUp(self):
        self.reached = []
        self.admission = {"max_pending": 2, "max_hold_seconds": 30}
        self.now = 0.0

    def scheduler(self, requests=0, setting=None):
        admission = self.admission | {"tenants": [{"name": "b", "min_blocks": 2}]}
        scheduler = start(setting, admission, blocks=41)
        self.addCleanup(scheduler.shutdown)
        scheduler.kvb._now = lambda: 100.0
        for i in range(requests):
            scheduler.add_request(fakes.request(f"r{i}"))
        step(scheduler)
        return scheduler

    def post(self, path="/v1/completions", body=b"{}", method="POST", headers=(), setting=None, app=None):
        """(status, headers, body); the application behind answers 200 and keeps what it got."""

        async def application(scope, receive, send):
            message = await receive()
            self.reached.append((scope, message["body"]))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        chunks = [body[:5], body[5:]]
        sent = []

        async def receive():
            return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

        async def send(message):
            sent.append(message)

        config = fakes.vllm_config(setting or {})
        scope = {"type": "http", "method": method, "path": path, "headers": list(headers)}
        scope["app"] = SimpleNamespace(state=SimpleNamespace(vllm_config=config))
        app = app or middleware.Admission(application, now=lambda: self.now)
        app._app = application
        asyncio.run(app(scope, receive, send))
        return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]

    def test_a_full_queue_is_429_with_when_to_come_back(self):
        self.scheduler(4)
        self.assertEqual(self.post()[0], 200)
        self.scheduler_of_more(2)
        status, headers, body = self.post()
        self.assertEqual(status, 429)
        self.assertGreaterEqual(int(headers[b"retry-after"]), 1)
        error = json.loads(body)["error"]
        self.assertEqual(error["code"], 429)
        self.assertIn("2 requests wait for KV blocks", error["message"])
        self.assertEqual(len(self.reached), 1)

    def scheduler_of_more(self, more):
        self.doCleanups()
        return self.scheduler(4 + more)

    def test_a_queue_that_waits_too_long_is_429(self):
        self.scheduler(5)
        self.now = 129.0
        self.assertEqual(self.post()[0], 200)
        self.now = 131.0
        status, _, body = self.post()
        self.assertEqual(status, 429)
        self.assertIn("wait 31 seconds", json.loads(body)["error"]["message"])

    def test_what_brings_no_work_passes(self):
        self.scheduler(6)
        for method, path in (
            ("GET", "/health"),
            ("GET", "/metrics"),
            ("GET", "/v1/models"),
            ("POST", "/v1/load_lora_adapter"),
            ("POST", "/tokenize"),
            ("POST", "/v1/responses/abc/cancel"),
        ):
            self.assertEqual(self.post(path, method=method)[0], 200, path)
        for path in ("/v1/chat/completions", "/v1/embeddings", "/v1/messages", "/prefix/v1/responses"):
            self.assertEqual(self.post(path)[0], 429, path)

    def test_observe_mode_and_an_absent_segment_let_all_pass(self):
        self.scheduler(6, {"mode": "observe"})
        self.assertEqual(self.post()[0], 200)
        self.doCleanups()
        app = middleware.Admission(None)
        with self.assertLogs("vllm.kvbudget", "WARNING") as logs:
            self.assertEqual(self.post(app=app)[0], 200)
            self.assertEqual(self.post(app=app)[0], 200)
        self.assertEqual(len(logs.output), 1)

    def test_a_reading_that_fails_lets_all_pass(self):
        def broken(share, ranks):
            raise OSError("torn")

        with self.assertLogs("vllm.kvbudget", "WARNING") as logs:
            self.assertEqual(self.post(app=middleware.Admission(None, read=broken))[0], 200)
        self.assertIn("torn", logs.output[0])

    def test_one_rank_with_room_is_enough(self):
        full = {"engine": {"mode": 1}, "tenants": [], "max_pending": 2, "max_hold_seconds": 0}
        full |= {"oldest_since": 1.0, "promoted_total": 2, "hold_seconds_total": 9.0}
        ranks = {0: full | {"pending": 2}, 1: full | {"pending": 1}}
        app = middleware.Admission(None, read=lambda share, count: ranks)
        self.assertEqual(self.post(app=app)[0], 200)
        ranks[1]["pending"] = 3
        status, headers, _ = self.post(app=app)
        self.assertEqual((status, headers[b"retry-after"]), (429, b"5"))

    def test_the_tenant_of_the_header_replaces_the_clients(self):
        self.scheduler()
        setting = {"tenant_header": "X-Team"}
        body = json.dumps({"prompt": "é", "vllm_xargs": {"kvbudget_tenant": "b", "k": 1}}).encode()
        self.post(body=body, headers=[(b"x-team", b"a"), (b"Content-Length", b"9")], setting=setting)
        self.post(body=body, setting=setting)
        self.post(path="/inference/v1/generate", headers=[(b"x-team", b"a")], setting=setting)
        contents = [json.loads(body) for _, body in self.reached]
        self.assertEqual(contents[0]["vllm_xargs"], {"kvbudget_tenant": "a", "k": 1})
        self.assertEqual(contents[0]["prompt"], "é")
        self.assertEqual(contents[1]["vllm_xargs"]["kvbudget_tenant"], "default")
        self.assertEqual(contents[2]["sampling_params"]["extra_args"], {"kvbudget_tenant": "a"})
        for scope, body in self.reached:
            lengths = [v for k, v in scope["headers"] if k.lower() == b"content-length"]
            self.assertEqual(lengths, [str(len(body)).encode()])

    def test_what_is_no_json_object_is_left_to_the_server(self):
        setting = {"tenant_header": "X-Team"}
        for body in (b"{not json", b"[1,2,3]"):
            with self.assertLogs("vllm.kvbudget", "WARNING"):
                self.post(body=body, setting=setting)
            self.assertEqual(self.reached[-1][1], body)

    def test_a_tenant_below_its_minimum_is_let_in_where_others_wait(self):
        self.scheduler(6)
        setting = {"tenant_header": "X-Team"}
        self.assertEqual(self.post(headers=[(b"x-team", b"b")], setting=setting)[0], 200)
        self.assertEqual(self.post(headers=[(b"x-team", b"a")], setting=setting)[0], 429)


if __name__ == "__main__":
    unittest.main()
