"""The official OpenAI Python SDK against a gateway: only the base URL is changed.

Run by tests/conformance/run, which sets the SLUICE_ variables.
"""

import asyncio
import json
import os
import unittest

import openai

EXPECTED = json.loads(open(os.environ["SLUICE_EXPECTED"], encoding="utf-8").read())
ASK = {"model": "conformance-chat", "messages": [{"role": "user", "content": "What is a sluice?"}]}
SETTINGS = {
    "base_url": os.environ["SLUICE_URL"] + "/v1",
    "api_key": "sk-conformance",
    "max_retries": 0,
    "timeout": 60,
}


class OpenAiPythonTest(unittest.TestCase):
    def setUp(self):
        self.client = openai.OpenAI(**SETTINGS)
        self.addCleanup(self.client.close)

    def assert_whole_stream(self, chunks):
        choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
        self.assertEqual([c.delta.content for c in choices if c.delta.content], EXPECTED["deltas"])
        self.assertEqual(choices[-1].finish_reason, EXPECTED["finish_reason"])
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.model_dump(exclude_none=True), EXPECTED["usage"])

    def test_streams_chat(self):
        stream = self.client.chat.completions.create(
            **ASK, stream=True, stream_options={"include_usage": True})
        self.assert_whole_stream(list(stream))

    def test_answers_chat_whole(self):
        answer = self.client.chat.completions.create(**ASK)
        self.assertEqual(answer.choices[0].message.content, "".join(EXPECTED["deltas"]))
        self.assertEqual(answer.choices[0].finish_reason, EXPECTED["finish_reason"])
        self.assertEqual(answer.usage.model_dump(exclude_none=True), EXPECTED["usage"])

    def test_lists_models(self):
        client = self.client.with_options(base_url=os.environ["SLUICE_ANY_URL"] + "/v1")
        self.assertEqual([model.id for model in client.models.list()], EXPECTED["models"])

    def test_streams_two_chats_at_once(self):
        async def read(client):
            stream = await client.chat.completions.create(
                **ASK, stream=True, stream_options={"include_usage": True})
            return [chunk async for chunk in stream]

        async def read_two():
            async with openai.AsyncOpenAI(**SETTINGS) as client:
                return await asyncio.gather(read(client), read(client))

        for chunks in asyncio.run(read_two()):
            self.assert_whole_stream(chunks)

    def test_leaves_a_stream_and_asks_again(self):
        with self.client.chat.completions.create(**ASK, stream=True) as stream:
            next(stream)
        self.test_streams_chat()

    def test_raises_not_found_for_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as raised:
            self.client.chat.completions.create(**{**ASK, "model": "no-such-model"}, stream=True)
        self.assertEqual(raised.exception.code, "not_found")
        self.assertEqual(raised.exception.type, "invalid_request_error")
        self.assertTrue(raised.exception.request_id)

    def test_raises_a_server_error_when_no_endpoint_answers(self):
        with self.assertRaises(openai.InternalServerError) as raised:
            self.client.chat.completions.create(**{**ASK, "model": "conformance-dead"}, stream=True)
        self.assertEqual(raised.exception.status_code, 503)
        self.assertEqual(raised.exception.code, "no_capacity")
        self.assertEqual(raised.exception.type, "server_error")


if __name__ == "__main__":
    unittest.main()
