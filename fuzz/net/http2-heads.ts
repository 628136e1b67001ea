import { METHODS } from 'node:http'
import { Head } from '#net/http/head.ts'
import { readRequestFields, requestFields } from '#net/http2/heads.ts'
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, type BodyKind } from '#net/stream.ts'
import requests from './corpus/fields.json' with { type: 'json' }
import { mutate, seeded, spice } from './mutate.ts'
import { type NodeReading, readWithNode } from './read-with-node.ts'

// Usage: node fuzz/net/http2-heads.ts [seconds] [seed]
// Accepted fields of HTTP/2 requests are written as HTTP/1.1, and node:http, in its strict mode, must read them as
// exactly one equal request. The first disagreement is printed with its seed and ends the run with 1.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)

type Field = readonly [name: string, value: string]

const REQUESTS = requests as unknown as readonly (readonly Field[])[]
const LIMITS = { maxHeadBytes: 65_536, maxHeaders: 100 }
const KNOWN = new Set(METHODS)
const BODY = 'hello'
/** Fields of one hop or of the framing, which are dropped or rewritten. */
const OF_THIS_HOP = new Set([
  'host',
  'te',
  'trailer',
  'expect',
  'proxy-authenticate',
  'http2-settings',
  'content-length',
])
/** Fields that must never be forwarded. */
const DANGEROUS = ['connection', 'upgrade', 'keep-alive', 'proxy-connection', 'te', 'expect']

const counts = { requests: 0, accepted: 0 }
const until = performance.now() + seconds * 1000
let seed = firstSeed
for (const fields of REQUESTS) await check(fields)
while (performance.now() < until) {
  const random = seeded(++seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const fields = REQUESTS[below(REQUESTS.length)]!.slice()
  const changes = 1 + below(2)
  for (let i = 0; i < changes; i++) change(fields, random)
  await check(fields)
}
console.log(`seed ${firstSeed} to ${seed}:`, counts)

async function check(fields: readonly Field[]): Promise<void> {
  counts.requests++
  const head = new Head()
  const outcome = read(fields, head)
  if (outcome !== 0 || !KNOWN.has(head.method) || head.method === 'CONNECT') return
  counts.accepted++
  checkAgain(fields, head)
  const framings: Framing[] = [
    { kind: BODY_CHUNKED, length: -1, body: `5\r\n${BODY}\r\n0\r\n\r\n` },
    { kind: BODY_LENGTH, length: BODY.length, body: BODY },
    { kind: BODY_NONE, length: -1, body: '' },
  ]
  for (const framing of framings) await checkWritten(fields, head, framing)
}

interface Framing {
  readonly kind: BodyKind
  readonly length: number
  readonly body: string
}

async function checkWritten(fields: readonly Field[], head: Head, { kind, length, body }: Framing): Promise<void> {
  const next = 'GET /next HTTP/1.1\r\nHost: next\r\n\r\n'
  const text = head.writeRequest(kind, length, '') + body
  const node = await readWithNode(text + next)
  const expected = {
    method: firstOf(fields, ':method'),
    target: firstOf(fields, ':path'),
    body: body === '' ? '' : BODY,
  }
  const [request, following] = node.requests
  if (node.error !== undefined || node.requests.length !== 2) fail('read as more or less than one', fields, text, node)
  if (JSON.stringify(request) !== JSON.stringify(expected)) fail('read as another request', fields, text, node)
  if (following?.target !== '/next') fail('another end', fields, text, node)
  checkFields(fields, text, node)
}

/** All fields arrive in order, with name and value, and no others except the framing. */
function checkFields(fields: readonly Field[], text: string, node: NodeReading): void {
  const arrived = node.fields[0]!.map(([name, value]): Field => [name.toLowerCase(), value])
  const hosts = arrived.filter(([name]) => name === 'host')
  const named = firstOf(fields, ':authority') ?? firstOf(fields, 'host')
  if (hosts.length !== 1 || hosts[0]![1] !== named) fail('another host', fields, text, node)
  if (arrived.some(([name]) => DANGEROUS.includes(name))) fail('a field of this hop', fields, text, node)
  const cookies = (of: readonly Field[], by: string) =>
    of
      .flatMap(([name, value]) => (name === 'cookie' ? value : []))
      .filter(Boolean)
      .join(by)
  if (cookies(arrived, '\n') !== cookies(fields, '; ')) fail('other cookies', fields, text, node)
  const passes = ([name]: Field) => name[0] !== ':' && name !== 'cookie' && !OF_THIS_HOP.has(name)
  const [sent, got] = [
    fields.filter(passes),
    arrived.filter((field) => passes(field) && field[0] !== 'transfer-encoding'),
  ]
  if (JSON.stringify(sent) !== JSON.stringify(got)) fail('other fields', fields, text, node)
}

/** Written as HTTP/2 again, it must be the same request. */
function checkAgain(fields: readonly Field[], head: Head): void {
  const sent = requestFields(head, 'https', head.contentLength)
  const again = new Head()
  const outcome = readRequestFields(sent, again, LIMITS)
  const kind = head.contentLength >= 0 ? BODY_LENGTH : BODY_NONE
  const [one, other] = [head, again].map((each) => sortedLines(each.writeRequest(kind, head.contentLength, '')))
  if (outcome !== 0 || one !== other) fail('refused or changed by HTTP/2', fields, sent, one, other)
}

/** The length may be at another position. */
function sortedLines(text: string): string {
  const [start, ...lines] = text.split('\r\n')
  return [start, ...lines.sort()].join('\n')
}

function read(fields: readonly Field[], head: Head): number {
  try {
    return readRequestFields(fields.flat(), head, LIMITS)
  } catch (error) {
    return fail('an exception', fields, String(error))
  }
}

function firstOf(fields: readonly Field[], wanted: string): string | undefined {
  return fields.find(([name]) => name === wanted)?.[1]
}

function change(fields: Field[], random: () => number): void {
  const below = (limit: number) => Math.floor(random() * limit)
  const at = below(fields.length)
  const [name, value] = fields[at] ?? ['x', 'y']
  switch (below(6)) {
    case 0:
      fields[at] = [mutate(name, random), value]
      break
    case 1:
    case 2:
      fields[at] = [name, mutate(value, random)]
      break
    case 3:
      fields.splice(at, 1)
      break
    case 4: {
      const others = REQUESTS[below(REQUESTS.length)]!
      fields.splice(below(fields.length + 1), 0, others[below(others.length)]!)
      break
    }
    default: {
      // A line of HTTP/1 becomes a field, or part of one.
      const [newName = 'x', newValue = ''] = spice(random).split(/: ?/)
      fields.splice(below(fields.length + 1), 0, [newName.toLowerCase(), newValue.trimEnd()])
    }
  }
}

function fail(what: string, fields: readonly Field[], ...readings: unknown[]): never {
  console.log(`${what} (seed ${seed}):\n${JSON.stringify(fields)}`)
  for (const reading of readings) console.log(JSON.stringify(reading, null, 1))
  process.exit(1)
}
