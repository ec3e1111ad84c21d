// The official OpenAI Node SDK against a gateway: only the base URL is changed.
// Run by tests/conformance/run, which sets the SLUICE_ variables.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import OpenAI from 'openai';

const expected = JSON.parse(readFileSync(process.env.SLUICE_EXPECTED, 'utf8'));
const client = new OpenAI({
  baseURL: `${process.env.SLUICE_URL}/v1`,
  apiKey: 'sk-conformance',
  maxRetries: 0,
  timeout: 60_000,
});
const ask = {
  model: 'conformance-chat',
  messages: [{ role: 'user', content: 'What is a sluice?' }],
};

async function readWholeStream() {
  const stream = await client.chat.completions.create({
    ...ask,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);

  const choices = chunks.filter((c) => c.choices.length).map((c) => c.choices[0]);
  const deltas = choices.map((c) => c.delta.content).filter(Boolean);
  assert.deepEqual(deltas, expected.deltas);
  assert.equal(choices.at(-1).finish_reason, expected.finish_reason);
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.deepEqual(chunks.at(-1).usage, expected.usage);
}

test('streams chat', readWholeStream);

test('answers chat whole', async () => {
  const answer = await client.chat.completions.create(ask);
  assert.equal(answer.choices[0].message.content, expected.deltas.join(''));
  assert.equal(answer.choices[0].finish_reason, expected.finish_reason);
  assert.deepEqual(answer.usage, expected.usage);
});

test('lists models', async () => {
  const ids = [];
  const models = client.withOptions({ baseURL: `${process.env.SLUICE_ANY_URL}/v1` }).models;
  for await (const model of models.list()) ids.push(model.id);
  assert.deepEqual(ids, expected.models);
});

test('streams two chats at once', async () => {
  await Promise.all([readWholeStream(), readWholeStream()]);
});

test('leaves a stream and asks again', async () => {
  const stream = await client.chat.completions.create({ ...ask, stream: true });
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break;
  }
  await readWholeStream();
});

test('throws NotFoundError for an unknown model', async () => {
  await assert.rejects(
    client.chat.completions.create({ ...ask, model: 'no-such-model', stream: true }),
    (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'not_found');
      assert.equal(error.type, 'invalid_request_error');
      assert.ok(error.requestID);
      return true;
    },
  );
});

test('throws InternalServerError when no endpoint answers', async () => {
  await assert.rejects(
    client.chat.completions.create({ ...ask, model: 'conformance-dead', stream: true }),
    (error) => {
      assert.ok(error instanceof OpenAI.InternalServerError);
      assert.equal(error.status, 503);
      assert.equal(error.code, 'no_capacity');
      assert.equal(error.type, 'server_error');
      return true;
    },
  );
});
