import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ENDPOINTS_TYPE, HeldVersions, ITEM_TYPE, resourceOf } from '#deliver/plan-resource.ts'
import { frame, routeTo, secretItem } from '#deliver/testing.ts'
import type { PlanItem } from '#plan/item.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { PlanFile, type PlanFileOptions } from './plan-file.ts'
import { StateFolder } from './state-folder.ts'

const SECRET = 'a-key-that-nobody-may-read'
const PLAN = [...frame(), ...routeTo('a'), secretItem('keys', { key: SECRET })]
const KEYS = { current: randomBytes(32), previous: undefined }
const CONFIRMED_MS = Date.UTC(2026, 0, 2)

function openFile(path: string, more: Partial<PlanFileOptions> = {}) {
  const lines: string[] = []
  const report: PlanFileOptions['report'] = (level, message, fields) =>
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const folder = new StateFolder(path, true, report)
  const file = new PlanFile({ folder, keys: KEYS, gatewayUid: 'uid-1', maxAgeMs: undefined, report, ...more })
  return { file, lines, path: join(path, 'plan') }
}

function sourceOf(items: readonly PlanItem[], confirmedMs = CONFIRMED_MS) {
  const held = { [ITEM_TYPE]: new HeldVersions(), [ENDPOINTS_TYPE]: new HeldVersions() }
  for (const item of items) {
    const { type, version } = resourceOf(item)
    held[type].set(item.key, version)
  }
  return { held, confirmedMs }
}

const byKey = (items: readonly PlanItem[]) => new Map(items.map((item) => [item.key, item]))

/** A folder with the file of a proxy that has ended. */
function keep(items: readonly PlanItem[] = PLAN): string {
  const folder = temporaryFolder()
  const { file } = openFile(folder)
  file.start(sourceOf(items), byKey(items))
  file.close()
  return folder
}

test('what one process keeps, the next one reads, with the time of its confirmation', () => {
  const { file, lines } = openFile(keep())
  const { confirmedMs, held } = file.read()!
  expect(confirmedMs).toBe(CONFIRMED_MS)
  expect(held[ENDPOINTS_TYPE].map(({ item }) => item)).toEqual(PLAN.filter(({ kind }) => kind === 'endpoints'))
  expect(new Set(held[ITEM_TYPE].map(({ item }) => item))).toEqual(
    new Set(PLAN.filter(({ kind }) => kind !== 'endpoints')),
  )
  for (const { item, version } of held[ITEM_TYPE]) expect(version).toBe(resourceOf(item).version)
  expect(lines).toEqual([])
})

test('nobody else reads it', () => {
  const { path } = openFile(keep())
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const text = readFileSync(path, 'utf8')
  expect(Buffer.from(text, 'base64url').toString('latin1')).not.toContain(SECRET)
  expect(text).not.toContain(SECRET)
})

const OTHERS: readonly (readonly [string, Partial<PlanFileOptions>])[] = [
  ['another session key', { keys: { current: randomBytes(32), previous: undefined } }],
  ['another Gateway', { gatewayUid: 'uid-2' }],
]
for (const [name, other] of OTHERS)
  test(`with ${name}, the file is ignored, and the log says so`, () => {
    const { file, lines } = openFile(keep(), other)
    expect(file.read()).toBeUndefined()
    expect(lines.join()).toContain('sealed with another session key, for another Gateway')
  })

test('after a change of the session key, the previous one opens the file', () => {
  const { file } = openFile(keep(), { keys: { current: randomBytes(32), previous: KEYS.current } })
  expect(file.read()).toBeDefined()
})

test('a damaged file is ignored', () => {
  const { file, lines, path } = openFile(keep())
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.slice(0, -8))
  expect(file.read()).toBeUndefined()
  expect(lines).toHaveLength(1)
})

test('a plan that was confirmed before the maximum age is not used', () => {
  const folder = keep()
  const hourOld = Date.now() / 1000 - 3600
  utimesSync(join(folder, 'plan'), hourOld, hourOld)
  expect(openFile(folder, { maxAgeMs: 7_200_000 }).file.read()).toBeDefined()
  const { file, lines } = openFile(folder, { maxAgeMs: 1_800_000 })
  expect(file.read()).toBeUndefined()
  expect(lines.join()).toContain('too old')
})

test('while a version arrives, the one before stays', () => {
  const folder = keep()
  const before = readFileSync(join(folder, 'plan'), 'utf8')
  const { file } = openFile(folder)
  file.start({ held: undefined, confirmedMs: CONFIRMED_MS }, byKey(PLAN))
  file.close()
  expect(readFileSync(join(folder, 'plan'), 'utf8')).toBe(before)
})
