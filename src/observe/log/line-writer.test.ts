import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LineWriter } from './line-writer.ts'

let folder: string
let stops: (() => void)[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewright-lines-'))
  stops = []
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  for (const stop of stops) stop()
  rmSync(folder, { recursive: true })
})

function open(path: string, flags: number): number {
  const descriptor = openSync(path, flags, 0o600)
  stops.push(() => closeSync(descriptor))
  return descriptor
}

function toFile() {
  const path = join(folder, 'log')
  const writer = new LineWriter(open(path, constants.O_WRONLY | constants.O_CREAT))
  return { writer, read: () => readFileSync(path, 'utf8') }
}

/** A pipe that nobody reads before `read` is called, which gives bytes as latin-1 text. */
function toPipe() {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = new LineWriter(open(path, constants.O_WRONLY | constants.O_NONBLOCK))
  const buffer = Buffer.alloc(1024 * 1024)
  const read = () => {
    try {
      return buffer.toString('latin1', 0, readSync(reader, buffer))
    } catch {
      return ''
    }
  }
  return { writer, read }
}

test('lines are gathered and written together after a moment', () => {
  const { writer, read } = toFile()
  writer.write('one\n')
  writer.write('two\n')
  expect(read()).toBe('')
  vi.runAllTimers()
  expect(read()).toBe('one\ntwo\n')
  writer.write('three\n')
  vi.runAllTimers()
  expect(read()).toBe('one\ntwo\nthree\n')
  expect(vi.getTimerCount()).toBe(0)
})

test('much is written at once', () => {
  const { writer, read } = toFile()
  const line = `${'x'.repeat(1023)}\n`
  for (let i = 0; i < 64; i++) writer.write(line)
  expect(read()).toBe(line.repeat(64))
  expect(vi.getTimerCount()).toBe(0)
})

test('flush writes what is there', () => {
  const { writer, read } = toFile()
  writer.write('last words\n')
  writer.flush()
  expect(read()).toBe('last words\n')
  writer.flush()
  expect(read()).toBe('last words\n')
})

test('a slow reader loses nothing and holds nobody up', () => {
  const { writer, read } = toPipe()
  const lines = Array.from({ length: 5000 }, (_, i) => `${i} ${'ä'.repeat(i % 90)}\n`)
  for (const line of lines) writer.write(line)
  let got = ''
  for (let rounds = 0; rounds < 1000 && vi.getTimerCount() > 0; rounds++) {
    got += read()
    vi.advanceTimersByTime(50)
  }
  got += read()
  expect(Buffer.from(got, 'latin1').toString() === lines.join('')).toBe(true)
})

test('when too much waits newer lines are dropped, and the log says how many', () => {
  const { writer, read } = toPipe()
  const line = `${'x'.repeat(65_535)}\n`
  for (let i = 0; i < 300; i++) writer.write(line)
  let got = ''
  for (let rounds = 0; rounds < 3000 && vi.getTimerCount() > 0; rounds++) {
    got += read()
    vi.advanceTimersByTime(50)
  }
  got += read()
  const [kept, dropped] = [got.split(line).length - 1, Number(/access log: (\d+) lines dropped/.exec(got)?.[1])]
  expect(kept).toBeGreaterThan(250)
  expect(dropped).toBeGreaterThan(0)
  expect(kept + dropped).toBe(300)
})

test('lines that can never be written end nothing', () => {
  const unwritable = open(join(folder, 'log'), constants.O_RDONLY | constants.O_CREAT)
  const writer = new LineWriter(unwritable)
  writer.write('into the void\n')
  expect(() => vi.runAllTimers()).not.toThrow()
  expect(vi.getTimerCount()).toBe(0)
})
