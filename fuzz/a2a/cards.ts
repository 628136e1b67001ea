import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { foldCase } from '#base/fold-case.ts'
import { readA2aCall } from '#exchange/a2a-call.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { Head } from '#net/http/head.ts'
import type { CardLocation } from '#protocols/a2a/card-location.ts'
import { type JsonCardForm, rewriteCard } from '#protocols/a2a/rewrite-card.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'

// Usage: node fuzz/a2a/cards.ts [seconds] [seed]
// Damaged agent cards and JSON-RPC calls. The oracle for both is JSON.parse.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)

const fixture = (name: string) =>
  readFileSync(new URL(`../../src/protocols/a2a/fixtures/${name}.json`, import.meta.url), 'utf8')
const CARDS = [fixture('v03'), fixture('v10')]
const AGENT = 'agent.internal:9000'
const LOCATION: CardLocation = {
  clientOrigin: 'https://gateway.example',
  clientPath: '/travel/.well-known/agent-card.json',
  upstreamPath: '/.well-known/agent-card.json',
  backendAuthority: AGENT,
}
const CALLS = [
  '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[{"kind":"text","text":"hi"}]}}}',
  '{"id":"a","params":{"method":"x","id":"t"},"method":"tasks\\/get","jsonrpc":"2.0"}',
  '{ "method" : "SendStreamingMessage" , "params" : [ { "method" : "y" } ] }',
]
const PIECES = [
  ...['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', '\0', 'null', '1e400', '\ufeff', '\\u0000', '\u017f'],
  ...[
    '"url":"http://agent.internal:9000/x",',
    '"URL":"http://agent.internal:9000/y",',
    '"\\u0075rl":"//agent.internal:9000",',
  ],
  ...[
    '"signatures":[],',
    '"supportedInterfaces":[],',
    '"additionalInterfaces":null,',
    '"transport":"GRPC",',
    '"result":{},',
  ],
  ...[
    '"method":"tasks/cancel",',
    '"Method":"tasks/cancel",',
    '"\\u006dethod":"tasks/cancel",',
    'http://',
    'agent.internal:9000',
  ],
]

const counts = { cards: 0, rewritten: 0, calls: 0, read: 0 }
const until = performance.now() + seconds * 1000
let seed = firstSeed
while (performance.now() < until) {
  const random = seededRandom(++seed)
  const card = random.pick(CARDS)
  checkCard(damage(card, random), 'card')
  checkCard(damage(`{"jsonrpc":"2.0","id":1,"result":${card}}`, random), 'result')
  checkCall(damage(random.pick(CALLS), random))
}
console.log(`seed ${firstSeed} to ${seed}:`, counts)

/** Inserts, removes and repeats pieces. */
function damage(text: string, random: SeededRandom): string {
  let damaged = text
  for (let count = random.below(4); count > 0; count--) {
    const at = random.below(damaged.length + 1)
    const end = at + random.below(30)
    const kind = random.below(20)
    // Most insertions are at the beginning of a member, where they leave valid JSON.
    const member = kind < 10 ? damaged.indexOf('{', at) + 1 || damaged.indexOf(',', at) + 1 : at
    if (kind < 14) damaged = damaged.slice(0, member) + random.pick(PIECES) + damaged.slice(member)
    else if (kind < 17) damaged = damaged.slice(0, at) + damaged.slice(end)
    else damaged = damaged.slice(0, end) + damaged.slice(at)
  }
  return damaged
}

/** A card is refused, or its interfaces lead to the gateway and everything else is the same. */
function checkCard(text: string, form: JsonCardForm): void {
  counts.cards++
  const written = rewriteCard(new TextEncoder().encode(text), form, LOCATION)
  const before = parse(text)
  const isObject = typeof before === 'object' && before !== null && !Array.isArray(before)
  if (isObject !== (written !== undefined)) fail('refused or accepted', text, written)
  if (written === undefined) return
  const after = parse(written)
  if (after === undefined) return fail('no JSON any more', text, written)
  if (written === text) return checkAddresses(before, form, text)
  counts.rewritten++
  checkAddresses(after, form, written)
  if (!isDeepStrictEqual(withoutChanges(before, form), withoutChanges(after, form))) fail('changed', text, written)
}

function cardIn(value: unknown, form: JsonCardForm): unknown[] {
  return form === 'card' ? [value] : valuesOf(value, 'result')
}

/** The values of a member in all spellings of its name, as different parsers find it. */
function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([key, member]) => (foldCase(key) === name ? [member] : []))
}

function interfacesOf(card: unknown): unknown[] {
  const lists = [...valuesOf(card, 'additionalinterfaces'), ...valuesOf(card, 'supportedinterfaces')]
  return [card, ...lists.flatMap((list) => (Array.isArray(list) ? list : []))]
}

/** No interface leads to the agent itself. */
function checkAddresses(value: unknown, form: JsonCardForm, text: string): void {
  for (const card of cardIn(value, form)) {
    for (const url of interfacesOf(card).flatMap((one) => valuesOf(one, 'url'))) {
      if (typeof url === 'string' && URL.parse(url)?.host === AGENT) fail('leads around the gateway', text, url)
    }
  }
}

/** What must stay: no addresses of interfaces, and no signatures. */
function withoutChanges(value: unknown, form: JsonCardForm): unknown {
  const copy = structuredClone(value)
  for (const card of cardIn(copy, form)) {
    for (const one of interfacesOf(card)) {
      for (const key of Object.keys((one ?? {}) as object)) {
        const name = foldCase(key)
        if (name === 'url' || (one === card && name === 'signatures')) delete (one as Record<string, unknown>)[key]
      }
    }
  }
  return copy
}

/** A method that the gateway reads is the one that every parser reads. */
function checkCall(text: string): void {
  counts.calls++
  const head = Head.request('POST', '/rpc')
  head.append('content-type', 'application/json')
  const call = readA2aCall(head, wholeBody(new TextEncoder().encode(text)))
  if (call.unreadable !== undefined || call.binding === undefined) {
    if (call.method !== 'unknown') fail('an unreadable call has a method', text, call.method)
    return
  }
  counts.read++
  const message = parse(text)
  const methods = valuesOf(message, 'method')
  const plain = readA2aCall(head, wholeBody(new TextEncoder().encode(JSON.stringify({ method: methods[0] }))))
  if (methods.length !== 1 || plain.method !== call.method) fail('another method', text, call.method)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function fail(what: string, ...texts: unknown[]): never {
  console.error(`seed ${seed}: ${what}`)
  for (const text of texts) console.error(text)
  process.exit(1)
}
