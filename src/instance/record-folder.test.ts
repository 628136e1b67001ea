import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { DecisionRing } from '#observe/decision-ring.ts'
import { keptDecision } from '#observe/testing.ts'
import { RecordFolder, type RecordFolderOptions } from './record-folder.ts'

const ring = new DecisionRing('w1', new DecisionIds(), 1)
const record = (target: string) => {
  ring.keep(keptDecision({ target }))
  return ring.list()[0]!
}

function open(values: Partial<RecordFolderOptions> = {}) {
  const path = mkdtempSync(join(tmpdir(), 'gatewright-records-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const counts = { written: 0, dropped: {} as Record<string, number> }
  const reports: string[] = []
  const options: RecordFolderOptions = {
    folder: path,
    limitBytes: 2 ** 20,
    version: '1.2.3',
    hide: (text) => text.replaceAll('hunter22', '<redacted>'),
    written: (records) => {
      counts.written += records
    },
    dropped: (records, reason) => {
      counts.dropped[reason] = (counts.dropped[reason] ?? 0) + records
    },
    report: (level, message, fields) => reports.push(`${level} ${message} ${fields.cause ?? fields.lost}`),
    ...values,
  }
  return { folder: new RecordFolder(options), path, counts, reports, files: () => readdirSync(path).toSorted() }
}

const linesOf = (path: string) =>
  gunzipSync(readFileSync(path))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('records are lines of compressed files, without secrets; what is missing is told at its place', async () => {
  const { folder, path, counts, files } = open()
  folder.records([record('/a?x=hunter22')])
  await folder.close()
  folder.lost(3)
  folder.records([record('/b')])
  await folder.close()
  const [name] = files()
  expect(files()).toHaveLength(1)
  expect(name).toMatch(/^records-\d{8}T\d{9}Z-\d+-000001\.jsonl\.gz$/)
  expect(statSync(join(path, name!)).mode & 0o777).toBe(0o600)
  expect(linesOf(join(path, name!))).toMatchObject([
    { format: 'gatewright-records', formatVersion: 1, gatewright: '1.2.3' },
    { worker: 'w1', target: '/a?x=<redacted>', time: '1970-01-01T00:00:00.000Z' },
    { missing: 3 },
    { target: '/b' },
  ])
  expect(counts).toEqual({ written: 2, dropped: { 'not-read': 3 } })
})

test('the oldest files are removed at the limit, also those of an earlier process, and no others', async () => {
  const { folder, path, files } = open({ limitBytes: 20_000 })
  const old = 'records-20200101T000000000Z-1-000001.jsonl.gz'
  writeFileSync(join(path, old), Buffer.alloc(15_000))
  writeFileSync(join(path, 'other.jsonl.gz'), Buffer.alloc(50_000))
  for (let i = 0; i < 40; i++) {
    // Random, so that it cannot be compressed.
    folder.records([record(`/${i}/${crypto.getRandomValues(Buffer.alloc(1500)).toString('hex')}`)])
    await folder.close()
    const bytes = files()
      .filter((name) => name.startsWith('records-'))
      .reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
    expect(bytes).toBeLessThanOrEqual(20_000)
  }
  expect(existsSync(join(path, old))).toBe(false)
  expect(existsSync(join(path, 'other.jsonl.gz'))).toBe(true)
  const kept = files().filter((name) => name.startsWith('records-'))
  expect(kept.length).toBeGreaterThan(3)
  const last = linesOf(join(path, kept.at(-1)!)).at(-1)!
  expect(last.target).toMatch(/^\/39\//)
})

test('a full disk is survived: records are dropped and counted, parts of batches are cut off, and writing goes on', async () => {
  let isFull = false
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  const { folder, path, counts, reports, files } = open({
    append: async (file, bytes) => {
      await appendFile(file, isFull ? bytes.subarray(0, 10) : bytes)
      if (isFull) throw full
    },
  })
  folder.records([record('/before')])
  await folder.close()
  isFull = true
  for (const target of ['/lost-1', '/lost-2']) {
    folder.records([record(target)])
    await folder.close()
  }
  expect(files()).toHaveLength(1)
  isFull = false
  folder.records([record('/after')])
  await folder.close()
  expect(counts).toEqual({ written: 2, dropped: { 'write-failed': 2 } })
  expect(reports).toEqual([
    'error decision records cannot be written ENOSPC',
    'info decision records can be written again 2',
  ])
  expect(files().map((name) => linesOf(join(path, name)).slice(1))).toMatchObject([
    [{ target: '/before' }],
    [{ missing: 2 }, { target: '/after' }],
  ])
})

test('a slow disk delays nothing: what is too much is dropped and counted', async () => {
  const gate = Promise.withResolvers<void>()
  const { folder, counts } = open({ limitBytes: 2 ** 30, append: () => gate.promise })
  const large = record(`/${'x'.repeat(2 ** 20)}`)
  folder.records([large])
  folder.records(Array(20).fill(large))
  expect(counts.dropped['queue-full']).toBeGreaterThan(0)
  gate.resolve()
  await folder.close()
  expect(counts.written + counts.dropped['queue-full']!).toBe(21)
})

test('few records are written after a second', async () => {
  const timers: (readonly [number, () => void])[] = []
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    timers.push([ms, run])
    return { cancel: () => {} }
  })
  const { folder, files } = open()
  folder.records([record('/a')])
  folder.records([record('/b')])
  expect([files(), timers.map(([ms]) => ms)]).toEqual([[], [1000]])
  timers[0]![1]()
  await vi.waitFor(() => expect(files()).toHaveLength(1))
})
