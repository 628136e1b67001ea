import { expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import type { Identity } from '#exchange/exchange.ts'
import { LocalTable } from '#state/shared-table.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { endSession, openSession, type SessionOwner, sealSession } from './session-state.ts'

const sealer = testSealer()
const HOUR_MS = 60 * 60 * 1000

const nobody: Identity = { jwt: undefined, apiKey: undefined, basicAuth: undefined }
const user = (claims: JsonObject): Identity => ({ ...nobody, jwt: { claims, token: 'x' } })
const alice = user({ iss: 'https://idp', sub: 'alice', exp: 1 })

const session = {
  key: 'k1',
  createdMs: 1_000_000,
  targets: [
    {
      target: 'a',
      sessionId: 's-1',
      version: '2025-11-25',
      capabilities: new Set(['tools', 'logging'] as const),
      endpoint: '10.0.0.1:80',
    },
    { target: 'b', sessionId: undefined, version: '2025-03-26', capabilities: new Set<never>(), endpoint: undefined },
  ],
  client: { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } },
  bareTarget: undefined,
}

interface Attempt {
  readonly owner?: Partial<SessionOwner>
  readonly nowMs?: number
  readonly table?: LocalTable
}

const owner: SessionOwner = { backend: 'ProxyBackend/default/tools', identity: alice }
const id = sealSession(sealer, owner, session)

function open(id: string, { owner: other, nowMs = 1_000_001, table = new LocalTable() }: Attempt = {}) {
  return openSession(id, { ...owner, ...other }, { sealer, table, nowMs })
}

test('an id holds the whole session', () => {
  expect(open(id)).toEqual(session)
})

test('a later token of the same caller opens it', () => {
  expect(open(id, { owner: { identity: user({ iss: 'https://idp', sub: 'alice', exp: 2 }) } })).toEqual(session)
})

const strangers: [name: string, owner: Partial<SessionOwner>][] = [
  ['another backend', { backend: 'ProxyBackend/default/other' }],
  ['nobody', { identity: nobody }],
  ['another subject', { identity: user({ iss: 'https://idp', sub: 'bob' }) }],
  ['another issuer', { identity: user({ iss: 'https://other', sub: 'alice' }) }],
  ['an issuer and a subject that read alike', { identity: user({ iss: 'https://idp","alice', sub: '' }) }],
  ['a token without subject', { identity: user({ iss: 'https://idp' }) }],
  [
    'an API key besides',
    {
      identity: { ...owner.identity, apiKey: { key: 'x', entry: 'default/keys/alice', metadata: {} } },
    },
  ],
  ['an API key', { identity: { ...nobody, apiKey: { key: 'x', entry: 'alice', metadata: {} } } }],
  ['a user', { identity: { ...nobody, basicAuth: { username: 'alice', credential: 'x' } } }],
]

test.each(strangers)('%s finds no session', (_, other) => {
  expect(open(id, { owner: other })).toBeUndefined()
})

test('entries of one name in two Secrets are two callers', () => {
  const by = (entry: string) => ({ ...owner, identity: { ...nobody, apiKey: { key: 'x', entry, metadata: {} } } })
  const own = sealSession(sealer, by('default/first/alice'), session)
  expect(open(own, { owner: by('default/first/alice') })).toEqual(session)
  expect(open(own, { owner: by('default/second/alice') })).toBeUndefined()
  expect(open(own, { owner: by('other/first/alice') })).toBeUndefined()
})

test('the user of basic authentication is the caller', () => {
  const by = (username: string) => ({ ...owner, identity: { ...nobody, basicAuth: { username, credential: 'x' } } })
  const own = sealSession(sealer, by('alice'), session)
  expect(open(own, { owner: by('alice') })).toEqual(session)
  expect(open(own, { owner: by('bob') })).toBeUndefined()
})

test('without a subject only the same token is the same caller', () => {
  const by = (token: string) => ({ ...owner, identity: { ...nobody, jwt: { claims: { iss: 'i' }, token } } })
  const own = sealSession(sealer, by('a.b.c'), session)
  expect(open(own, { owner: by('a.b.c') })).toEqual(session)
  // Another signature of the same token.
  expect(open(own, { owner: by('a.b.d') })).toEqual(session)
  expect(open(own, { owner: by('a.d.c') })).toBeUndefined()
})

test('it ends after a day', () => {
  expect(open(id, { nowMs: 1_000_000 + 24 * HOUR_MS })).toEqual(session)
  expect(open(id, { nowMs: 1_000_001 + 24 * HOUR_MS })).toBeUndefined()
})

test('an ended session is refused, also in threads that are only notified', () => {
  const elsewhere = new LocalTable()
  const here = new LocalTable((entry) => elsewhere.add(entry))
  endSession(session, here)
  expect(open(id, { table: here })).toBeUndefined()
  expect(open(id, { table: elsewhere })).toBeUndefined()
})

test('an id under another key, and any other text, makes the client start again', () => {
  const other = sealSession(testSealer(), owner, session)
  expect(open(other)).toBeUndefined()
  expect(open('garbage')).toBeUndefined()
  expect(open('')).toBeUndefined()
  expect(open(`${id} x`)).toBeUndefined()
})

test('a session is of one caller, however callers are identified', () => {
  const callers: Identity[] = [
    nobody,
    alice,
    { ...nobody, apiKey: { key: 'x', entry: 'a', metadata: {} } },
    { ...nobody, apiKey: { key: 'x', entry: 'b', metadata: {} } },
    { ...nobody, basicAuth: { username: 'a', credential: 'x' } },
    { ...nobody, basicAuth: { username: 'b', credential: 'x' } },
    { ...alice, basicAuth: { username: 'a', credential: 'x' } },
  ]
  for (const [at, identity] of callers.entries()) {
    const own = sealSession(sealer, { ...owner, identity }, session)
    const opening = callers.map((other) => typeof open(own, { owner: { identity: other } }) === 'object')
    expect(opening).toEqual(callers.map((_, other) => other === at))
  }
})
