import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { createSlotMemory } from '#state/slots.ts'
import { TokenBucket } from '#state/token-bucket.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { LevelFile, type MachineTime } from './level-file.ts'
import { StateFolder } from './state-folder.ts'

const MINUTE = { rate: 10, capacity: 15, unitMs: 60_000 }
const NO_BOOT: MachineTime = { boot: undefined, sinceBootMs: 0 }

function setUp() {
  const time = new VirtualTime()
  onTestFinished(() => time[Symbol.dispose]())
  const folder = join(temporaryFolder(), 'state')
  const file = join(folder, 'rate-limits.json')
  const messages: string[] = []
  /** A gateway with one limit; `machine` is the time of its machine. */
  const start = (machine: MachineTime = NO_BOOT) => {
    const state = new StateFolder(folder, true, (level, message, fields) =>
      messages.push(`${level} ${message}: ${fields.cause}`),
    )
    const it = new LevelFile(state, () => machine)
    const bucket = new TokenBucket(createSlotMemory(1, false), 0, MINUTE)
    it.levels.opened('limit', bucket)
    it.start()
    return { it, bucket }
  }
  return { time, folder, file, messages, start }
}

test('levels survive a stop; only the owner can read the file', () => {
  const { file, folder, messages, start } = setUp()
  const { it, bucket } = start()
  bucket.take(14)
  it.close()
  expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700])
  expect(existsSync(`${file}.new`)).toBe(false)
  expect(start().bucket.remaining()).toBe(1)
  expect(messages).toEqual([])
})

test('levels are saved every 5 seconds, for a gateway that is killed', async () => {
  const { time, file, start } = setUp()
  const { bucket } = start()
  await time.pass(4999)
  bucket.take(14)
  expect(existsSync(file)).toBe(false)
  await time.pass(1)
  expect(start().bucket.remaining()).toBe(1)
})

test('nothing is written while there is nothing to save; later levels replace earlier ones', async () => {
  const { time, file, start } = setUp()
  const first = start()
  first.it.close()
  expect(existsSync(file)).toBe(false)
  first.bucket.take(14)
  first.it.start()
  first.it.close()
  first.it.start()
  await time.pass(120_000)
  first.it.close()
  expect(JSON.parse(readFileSync(file, 'utf8')).saved.buckets).toEqual([])
  expect(start().bucket.remaining()).toBe(15)
})

test.each<[what: string, saved: MachineTime, now: MachineTime, wallStepMs: number, level: number]>([
  ['the same machine', { boot: 'a', sinceBootMs: 1000 }, { boot: 'a', sinceBootMs: 60_999 }, 0, 1],
  ['the same machine, a minute later', { boot: 'a', sinceBootMs: 1000 }, { boot: 'a', sinceBootMs: 61_000 }, 0, 11],
  ['a clock that was set forward', { boot: 'a', sinceBootMs: 1000 }, { boot: 'a', sinceBootMs: 2000 }, 3_600_000, 1],
  ['a clock that was set back', { boot: 'a', sinceBootMs: 1000 }, { boot: 'a', sinceBootMs: 61_000 }, -3_600_000, 11],
  ['a machine that was restarted', { boot: 'a', sinceBootMs: 90_000 }, { boot: 'b', sinceBootMs: 5 }, 60_000, 11],
  [
    'a machine that was restarted at once',
    { boot: 'a', sinceBootMs: 5 },
    { boot: 'b', sinceBootMs: 90_000 },
    59_999,
    1,
  ],
  ['another machine with a slow clock', { boot: 'a', sinceBootMs: 5 }, { boot: 'b', sinceBootMs: 90_000 }, -60_000, 1],
  ['a system without identifiers', NO_BOOT, { boot: undefined, sinceBootMs: 90_000 }, 59_999, 1],
])('time without a gateway: %s', async (_, saved, now, wallStepMs, level) => {
  const { start } = setUp()
  const { it, bucket } = start(saved)
  bucket.take(14)
  it.close()
  const wallMs = clock.now() + wallStepMs
  clock.now = () => wallMs
  expect(start(now).bucket.remaining()).toBe(level)
})

const DAMAGE: readonly [what: string, damage: (text: string) => string, cause: string][] = [
  ['is empty', () => '', 'Unexpected end of JSON input'],
  ['ends early', (text) => text.slice(0, -9), 'JSON'],
  ['has another level', (text) => text.replace('"level":1', '"level":9'), 'the content does not match its hash'],
  ['is of something else', () => '{}', 'the content does not match its hash'],
  ['is null', () => 'null', 'null'],
  ['has no list of levels', (text) => rehashed(text, () => ({})), 'the content has another form'],
  [
    'has a level without a key',
    (text) => rehashed(text, ([bucket]) => [{ ...bucket, key: undefined }]),
    'the content has another form',
  ],
  [
    'has a level above the capacity',
    (text) => rehashed(text, ([bucket]) => [{ ...bucket, level: 16 }]),
    'the content has another form',
  ],
  ['has a rate of 0', (text) => rehashed(text, ([bucket]) => [{ ...bucket, rate: 0 }]), 'the content has another form'],
]

/** The document with other levels, and their hash. */
function rehashed(text: string, change: (buckets: Record<string, unknown>[]) => unknown): string {
  const { saved } = JSON.parse(text)
  const changed = { ...saved, buckets: change(saved.buckets) }
  return JSON.stringify({ sha256: createHash('sha256').update(JSON.stringify(changed)).digest('hex'), saved: changed })
}

for (const [what, damage, cause] of DAMAGE) {
  test(`a file that ${what} is reported, and all limits are unused`, async () => {
    const { file, messages, start } = setUp()
    const { it, bucket } = start()
    bucket.take(14)
    it.close()
    const text = damage(readFileSync(file, 'utf8'))
    writeFileSync(file, text)
    const next = start()
    expect(next.bucket.remaining()).toBe(15)
    expect(messages).toHaveLength(1)
    expect(messages[0]).toContain('warn a state file cannot be read; the gateway continues without it')
    expect(messages[0]).toContain(cause)
    next.bucket.take(5)
    next.it.close()
    expect(start().bucket.remaining(), 'the next save repairs it').toBe(10)
  })
}

test('a gateway that cannot start leaves the file of another one as it is', () => {
  const { folder, file, start } = setUp()
  const { it, bucket } = start()
  bucket.take(14)
  it.close()
  const before = readFileSync(file, 'utf8')
  clock.now = () => 1_900_000_000_000
  new LevelFile(new StateFolder(folder, true, () => {})).close()
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('levels that another process has begun with are not saved again until they are kept again', async () => {
  const { time, file, start } = setUp()
  const { it, bucket } = start()
  bucket.take(3)
  it.close()
  const lent = readFileSync(file, 'utf8')
  bucket.take(5)
  await time.pass(60_000)
  it.close()
  expect(readFileSync(file, 'utf8')).toBe(lent)
  it.start()
  it.close()
  expect(readFileSync(file, 'utf8')).not.toBe(lent)
})
