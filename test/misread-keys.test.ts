import { expect, test } from 'vitest'
import { openJson } from '#base/sealer.ts'
import { readA2aCall } from '#exchange/a2a-call.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { readKeySet } from '#policies/shared/authentication/read-key-set.ts'
import { readToken } from '#policies/shared/jwt/read-token.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '#policies/shared/testing.ts'
import { parseEntry } from '#policies/traffic/api-key-authentication/parse-entry.ts'
import { authorization } from '#policies/traffic/authorization/index.ts'
import { trafficAuthorization } from '#policies/traffic/authorization/schema.ts'
import { scanMembers } from '#protocols/llm/json/scan-members.ts'
import { SentRequest } from '#protocols/llm/route/sent-request.ts'
import { parseMessage } from '#protocols/mcp/message/json-rpc.ts'
import { importKey } from './support/import-key.ts'
import { prepareMisreading } from './support/misread-keys.ts'
import { testSealer } from './support/test-sealer.ts'
import { createSigningKey } from './support/token-issuer.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const base64url = (text: string) => Buffer.from(text).toString('base64url')
const { jwk } = createSigningKey('P-256', 'k')

function decide(action: 'Allow' | 'Deny', expression: string, body: string): string {
  const spec = specFrom(trafficAuthorization, { action, policy: { matchExpressions: [expression] } })
  return codeOf(
    authorization.compile([sourceOf(spec)], contextWith())!.request!(exchangeWith({ method: 'POST', body })),
  )
}

function readPrompt(text: string): unknown {
  const members = scanMembers(bytesOf(text))
  if ('fault' in members) throw new Error(members.fault)
  return new SentRequest('Completions', members).prompt
}

/** Texts with escaped keys, and what their readers make of them. V8 must not hide any of these members (decision 0231). */
const readers: readonly [name: string, text: string, read: (text: string) => unknown, expected: unknown][] = [
  [
    'an MCP message',
    '{"jsonrpc":"2.0","id":1,"met\\u0068od":"tools/call","params":{"name":"t"}}',
    (text) => parseMessage(text),
    { kind: 'request', method: 'tools/call' },
  ],
  [
    'the arguments of an MCP tool',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","argu\\u006dents":{"p\\u0061th":"/x"}}}',
    (text) => parseMessage(text),
    { params: { name: 't', arguments: { path: '/x' } } },
  ],
  [
    'an A2A call',
    '{"jsonrpc":"2.0","id":1,"met\\u0068od":"SendMessage"}',
    (text) => readA2aCall(exchangeWith({ method: 'POST' }).request, wholeBody(bytesOf(text))).method,
    'SendMessage',
  ],
  [
    'a body in a rule that denies',
    '{"amount":1,"r\\u006fle":"admin"}',
    (text) => decide('Deny', 'default(json(request.body).role, "") == "admin"', text),
    'authorization-denied',
  ],
  [
    'a body with a member twice, of which servers use the last',
    '{"model":"cheap","m\\u006fdel":"costly"}',
    (text) => decide('Allow', 'json(request.body).model == "cheap"', text),
    'authorization-denied',
  ],
  [
    'the same in the variable for the model',
    '{"model":"cheap","m\\u006fdel":"costly"}',
    (text) => decide('Allow', 'llm.clientModel == "cheap"', text),
    'authorization-denied',
  ],
  [
    'a body with exact numbers',
    '{"amount":1.0,"r\\u006fle":"admin"}',
    (text) => decide('Deny', 'default(json(request.body).role, "") == "admin"', text),
    'authorization-denied',
  ],
  [
    'claims of a token',
    '{"sub":"a","d\\u0069sabled":true}',
    (text) => readToken(`${base64url('{"alg":"ES256","kid":"k"}')}.${base64url(text)}.AAAA`),
    { claims: { sub: 'a', disabled: true } },
  ],
  [
    'the head of a token',
    '{"alg":"ES256","kid":"k","cr\\u0069t":["b64"]}',
    (text) => readToken(`${base64url(text)}.${base64url('{"sub":"a"}')}.AAAA`),
    'critical-extension',
  ],
  [
    'a key set',
    JSON.stringify({ keys: [{ ...jwk, use: 'enc' }] }).replace('"use"', '"u\\u0073e"'),
    (text) => readKeySet(text, importKey),
    { keys: new Map(), faults: [] },
  ],
  [
    'an API key',
    '{"key":"k-1","met\\u0061data":{"r\\u006fle":"guest"}}',
    (text) => parseEntry(text),
    { key: 'k-1', metadata: { role: 'guest' } },
  ],
  [
    'messages to a model',
    '{"model":"m","messages":[{"role":"user","cont\\u0065nt":"hello"}]}',
    readPrompt,
    [{ role: 'user', content: 'hello' }],
  ],
  [
    'a sealed text',
    '{"k":"s","us\\u0065r":"a"}',
    (text) => {
      const sealer = testSealer()
      return openJson(sealer, 's', sealer.seal(bytesOf(text)))
    },
    { k: 's', user: 'a' },
  ],
]

test.each(readers)('%s is read correctly after texts that mislead V8', (_, text, read, expected) => {
  const known = [prepareMisreading(text), ...innerObjects(text).map(prepareMisreading)]
  const result = read(text)
  if (typeof expected === 'string') expect(result).toBe(expected)
  else expect(result).toMatchObject(expected as object)
  expect(known.length).toBeGreaterThan(0)
})

/** Some readers parse a part of the text. */
function innerObjects(text: string): string[] {
  return text.match(/\{[^{}]*\}/g) ?? []
}
