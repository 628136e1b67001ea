import { findClientHello } from '#net/accept/client-hello.ts'
import { mutate, seeded } from './mutate.ts'
import { anyHello, readHelloWithNode } from './read-hello-with-node.ts'

// Usage: node fuzz/net/client-hello.ts [seconds] [seed]
// Lets Node's TLS client send ClientHellos with random options, damages them, splits them into other records, and compares with Node's
// TLS server. The names that select a listener must be those of the handshake. The first disagreement is printed with its seed and ends
// the run with 1.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)

const RECORD_HEADER_BYTES = 5
const MAX_RECORD_BYTES = 16_384
const MESSAGE_HEADER_BYTES = 4
/** The longest accepted ClientHello with its records. */
const MAX_BYTES = 200_000

const counts = { hellos: 0, read: 0, readByBoth: 0, stricter: 0, laxer: 0 }
const until = performance.now() + seconds * 1000
let seed = firstSeed
let random = seeded(seed)
while (performance.now() < until) {
  random = seeded(++seed)
  const original = await anyHello(random)
  await check(inRecords(messageOf(original), random), true)
  for (let i = 0; i < 4; i++) await check(damage(original), false)
}
console.log(`seed ${firstSeed} to ${seed}:`, counts)

/** @param sound the message is unchanged, so it must be read */
async function check(bytes: Buffer, sound: boolean): Promise<void> {
  counts.hellos++
  const ours = read(bytes)
  checkCuts(bytes, ours)
  const node = await readHelloWithNode(bytes)
  if (sound && (ours?.hello === undefined || !node.read)) fail('a sound hello is not read', bytes, ours, node)
  if (ours?.hello === undefined) {
    counts.stricter += node.read ? 1 : 0
    if (ours === undefined && bytes.length > MAX_BYTES) fail('waits without end', bytes)
    return
  }
  counts.read++
  if (!node.read) {
    counts.laxer++
    return
  }
  counts.readByBoth++
  const { serverName, alpnProtocols } = ours.hello
  const theirName = plainName(node.serverName ?? '')
  if (theirName !== serverName) fail('another server name', bytes, ours, node)
  if (node.alpnProtocols !== undefined && node.alpnProtocols.join() !== sevenBits(alpnProtocols.join())) {
    fail('other protocols', bytes, ours, node)
  }
}

/** The decision does not depend on where the bytes are split, and later bytes do not change it. */
function checkCuts(bytes: Buffer, whole: ReturnType<typeof findClientHello>): void {
  const expected = JSON.stringify(whole)
  for (let cuts = 0; cuts < 8; cuts++) {
    const at = Math.floor(random() * (bytes.length + 1))
    const part = read(bytes.subarray(0, at))
    if (part !== undefined && JSON.stringify(part) !== expected) fail(`decided on ${at} bytes`, bytes, part, whole)
  }
}

function read(bytes: Buffer): ReturnType<typeof findClientHello> {
  try {
    return findClientHello(bytes)
  } catch (error) {
    return fail('an exception', bytes, String(error))
  }
}

/** Names are compared without case and without a trailing dot. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** Node drops the highest bit of each byte of protocol names. */
function sevenBits(text: string): string {
  return String.fromCharCode(...Buffer.from(text, 'latin1').map((byte) => byte & 127))
}

// Damage.

/** Changes bytes anywhere, or the message with corrected lengths, or the records. */
function damage(original: Buffer): Buffer {
  const way = random()
  if (way < 0.3) return Buffer.from(mutate(original.toString('latin1'), random), 'latin1')
  const message = messageOf(original)
  if (way < 0.4) return inRecords(changed(message), random)
  const body = changed(message.subarray(MESSAGE_HEADER_BYTES))
  const mended = Buffer.concat([Buffer.from([1, body.length >> 16, (body.length >> 8) & 255, body.length & 255]), body])
  return way < 0.8 ? inRecords(mended, () => 1) : inRecords(mended, random)
}

/** Changes one or two bytes, often by one: readers disagree on lengths and types. */
function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  const changes = 1 + Math.floor(random() * 2)
  for (let i = 0; i < changes; i++) {
    // The relevant fields follow the random and the session id.
    const at = random() < 0.8 ? 67 + Math.floor(random() * (copy.length - 67)) : Math.floor(random() * copy.length)
    if (at >= copy.length) continue
    copy[at] = random() < 0.5 ? copy[at]! + (random() < 0.5 ? 1 : 255) : Math.floor(random() * 256)
  }
  return copy
}

function messageOf(hello: Buffer): Buffer {
  return hello.subarray(RECORD_HEADER_BYTES)
}

/** Splits `message` into records of random sizes; a `random` that returns 1 makes one record. */
function inRecords(message: Buffer, random: () => number): Buffer {
  const records: Buffer[] = []
  for (let at = 0; at < message.length; ) {
    const size = random() < 0.7 ? 1 + Math.floor(random() * message.length) : MAX_RECORD_BYTES
    const piece = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 255]), piece)
    at += size
  }
  return Buffer.concat(records)
}

function fail(what: string, bytes: Buffer, ...readings: unknown[]): never {
  console.log(`${what} (seed ${seed}):\n${bytes.toString('hex')}`)
  for (const reading of readings) console.log(JSON.stringify(reading, null, 1))
  process.exit(1)
}
