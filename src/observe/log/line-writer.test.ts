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

/** A writer, what it tells, and where its lines go, which may change. */
function writerTo(descriptor: number, isPipe = false) {
  const told: string[] = []
  const target = { descriptor, isPipe, follow: () => false, reopen: () => {}, close: () => {} }
  let lost = 0
  const writer = new LineWriter(target, {
    failing: (cause) => told.push(`failing: ${cause}`),
    resumed: (lines) => told.push(`resumed: ${lines} lost`),
    ended: (lines) => told.push(`ended: ${lines} lost`),
    lost: (lines) => {
      lost += lines
    },
    lossLine: (lines) => `lost ${lines}\n`,
  })
  return { writer, told, target, lost: () => lost }
}

function toFile() {
  const path = join(folder, 'log')
  return { ...writerTo(open(path, constants.O_WRONLY | constants.O_CREAT)), read: () => readFileSync(path, 'utf8') }
}

/** A pipe without a reader until `read` is called, which returns bytes as latin-1 text. */
function toPipe() {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const made = writerTo(open(path, constants.O_WRONLY | constants.O_NONBLOCK), true)
  const buffer = Buffer.alloc(1024 * 1024)
  const read = (maxBytes = buffer.length) => {
    try {
      return buffer.toString('latin1', 0, readSync(reader, buffer, 0, maxBytes, null))
    } catch {
      return ''
    }
  }
  return { ...made, read, path }
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

test('flush writes all queued lines', () => {
  const { writer, read } = toFile()
  writer.write('last words\n')
  writer.flush()
  expect(read()).toBe('last words\n')
  writer.flush()
  expect(read()).toBe('last words\n')
})

test('a slow reader loses nothing and delays no request', () => {
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

test('when the queue is full, newer lines are dropped, and the log has their number', () => {
  const { writer, read, told, lost } = toPipe()
  const line = `${'x'.repeat(65_535)}\n`
  for (let i = 0; i < 300; i++) writer.write(line)
  let got = ''
  for (let rounds = 0; rounds < 3000 && vi.getTimerCount() > 0; rounds++) {
    got += read()
    vi.advanceTimersByTime(50)
  }
  got += read()
  const [kept, dropped] = [got.split(line).length - 1, Number(/lost (\d+)\n/.exec(got)?.[1])]
  expect(kept).toBeGreaterThan(250)
  expect(dropped).toBeGreaterThan(0)
  expect(kept + dropped).toBe(300)
  expect(told).toEqual(['failing: the reader is too slow', `resumed: ${dropped} lost`])
  expect(lost()).toBe(dropped)
})

test('lines without a possible reader are counted, reported once, and not queued', () => {
  const { writer, told, lost } = writerTo(open(join(folder, 'log'), constants.O_RDONLY | constants.O_CREAT))
  for (let i = 0; i < 3; i++) {
    writer.write('into\n')
    writer.write('the void\n')
    vi.runAllTimers()
  }
  expect(told).toEqual(['failing: EBADF'])
  expect(lost()).toBe(6)
  expect(vi.getTimerCount()).toBe(0)
  writer.flush()
  expect(told, 'nothing was written').toEqual(['failing: EBADF'])
  writer.close()
  expect(told).toEqual(['failing: EBADF', 'ended: 6 lost'])
  expect([lost(), vi.getTimerCount()]).toEqual([6, 0])
})

/** Writing to it fails like writing to a full disk. */
const FULL = '/dev/full'

test('a full disk is reported once; lines are queued and written when there is room', () => {
  const { writer, told, target, lost } = writerTo(open(FULL, constants.O_WRONLY))
  const path = join(folder, 'log')
  const roomy = open(path, constants.O_WRONLY | constants.O_CREAT)
  for (let i = 0; i < 5; i++) {
    writer.write(`line ${i}\n`)
    vi.advanceTimersByTime(3000)
  }
  expect(told).toEqual(['failing: ENOSPC'])
  target.descriptor = roomy
  vi.advanceTimersByTime(1000)
  expect(told).toEqual(['failing: ENOSPC', 'resumed: 0 lost'])
  expect([readFileSync(path, 'utf8'), lost()]).toEqual(['line 0\nline 1\nline 2\nline 3\nline 4\n', 0])
  expect(vi.getTimerCount()).toBe(0)
})

test('a disk that stays full: newer lines are lost, and the log has their number', () => {
  const { writer, told, target, lost } = writerTo(open(FULL, constants.O_WRONLY))
  const path = join(folder, 'log')
  const line = `${'x'.repeat(65_535)}\n`
  for (let i = 0; i < 300; i++) writer.write(line)
  vi.advanceTimersByTime(5000)
  target.descriptor = open(path, constants.O_WRONLY | constants.O_CREAT)
  vi.advanceTimersByTime(1100)
  const text = readFileSync(path, 'utf8')
  const kept = text.split(line).length - 1
  expect(kept).toBeGreaterThan(250)
  expect(text.endsWith(`\nlost ${300 - kept}\n`)).toBe(true)
  expect([told, lost()]).toEqual([['failing: ENOSPC', `resumed: ${300 - kept} lost`], 300 - kept])
})

test('at the end a full disk is not waited for, a slow reader is', () => {
  const full = writerTo(open(FULL, constants.O_WRONLY))
  full.writer.write('one\n')
  full.writer.close()
  expect([vi.getTimerCount(), full.lost(), full.told]).toEqual([0, 1, ['failing: ENOSPC', 'ended: 1 lost']])
  const { writer, lost, read } = toPipe()
  const line = `${'x'.repeat(1023)}\n`
  for (let i = 0; i < 200; i++) writer.write(line)
  writer.close()
  expect([vi.getTimerCount(), lost()]).toEqual([1, 0])
  let got = ''
  for (let rounds = 0; rounds < 100; rounds++) {
    got += read()
    vi.advanceTimersByTime(50)
  }
  expect(got === line.repeat(200)).toBe(true)
})

test('the rest of a line that began in the previous file is omitted and counted', () => {
  const { writer, target, lost } = toPipe()
  // Only what is no pipe is written in part of a line.
  target.isPipe = false
  const line = `${'x'.repeat(1000)}\n`
  for (let i = 0; i < 200; i++) writer.write(line)
  const path = join(folder, 'log')
  target.descriptor = open(path, constants.O_WRONLY | constants.O_CREAT)
  target.follow = () => true
  writer.flush()
  const text = readFileSync(path, 'utf8')
  expect(text.length % line.length).toBe(0)
  expect(text.length).toBeGreaterThan(0)
  expect(text === line.repeat(text.length / line.length)).toBe(true)
  expect(lost()).toBe(1)
})

test('a file that cannot be reopened is reported once; lines continue in the previous one', () => {
  const { writer, told, target, read } = toFile()
  target.follow = () => {
    throw Object.assign(new Error('no'), { code: 'EACCES' })
  }
  for (const line of ['one\n', 'two\n']) {
    writer.write(line)
    vi.advanceTimersByTime(50)
  }
  expect([read(), told]).toEqual(['one\ntwo\n', ['failing: EACCES']])
  target.follow = () => true
  writer.write('three\n')
  vi.runAllTimers()
  expect([read(), told]).toEqual(['one\ntwo\nthree\n', ['failing: EACCES', 'resumed: 0 lost']])
})

test('several workers write to one pipe: every line of at most 4 KiB stays whole, however slow the reader is', () => {
  const { writer, read, path } = toPipe()
  const other = writerTo(open(path, constants.O_WRONLY | constants.O_NONBLOCK), true).writer
  const lines = [writer, other].map((to, worker) =>
    Array.from({ length: 1500 }, (_, i) => {
      const line = `${worker} ${i} ${'x'.repeat(i === 700 ? 4000 : (i * 7) % 300)}`
      to.write(`${line}\n`)
      return line
    }),
  )
  let got = ''
  for (let rounds = 0; rounds < 1000 && vi.getTimerCount() > 0; rounds++) {
    for (const each of [writer, other]) {
      got += read(9000)
      each.flush()
    }
  }
  got += read()
  expect(got.split('\n').slice(0, -1).sort()).toEqual(lines.flat().sort())
})

test('a line that is longer than 4 KiB passes through a pipe whole if nobody else writes', () => {
  const { writer, read } = toPipe()
  const text = ['short', 'x'.repeat(4095), 'y'.repeat(4096), 'z'.repeat(20_000), 'end']
    .map((line) => `${line}\n`)
    .join('')
  for (const line of text.split(/(?<=\n)/)) writer.write(line)
  writer.flush()
  expect(read() === text).toBe(true)
})
