import { beforeEach, expect, test, vi } from 'vitest'
import type { Finding } from '#base/finding.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import type { Instance } from '#instance/instance.ts'
import type { FileProblem } from '#store/file-problem.ts'
import type { FileStore, StaleFile } from '#store/files.ts'
import { Terminal } from './terminal.ts'

let said: string[]

beforeEach(() => {
  said = []
  vi.spyOn(console, 'error').mockImplementation((text: string) => said.push(text.replace(/^gatewright: /, '')))
})
/** What is said by one step. */
function saying(step: () => void): string[] {
  said = []
  step()
  return said
}

const STORE = { problems: () => [], locate: () => ({ file: 'a.yaml', line: 3, column: 5 }) } as unknown as FileStore

const finding: Finding = {
  origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'p' },
  path: 'spec.traffic.csrf',
  code: 'no-effect',
  severity: 'warning',
  message: 'is odd',
}

const translation = (...findings: readonly Finding[]) => findings

const instance = (listeners: number) =>
  ({ ports: { admin: 1, metrics: 2, readiness: 3 }, listeners: Array(listeners) }) as unknown as Instance

const at = (url: string, problem?: string) => ({ name: 'default/main/http', url, problem })

test('what is wrong is said once, again when it changes, and that it is resolved', () => {
  const terminal = new Terminal()
  const first = saying(() => terminal.translated(translation(finding), STORE))
  expect(first[0]).toBe('the objects have 0 errors, 1 warning; everything else is in force:')
  expect(first[1]).toMatch(/^ {2}a\.yaml:3:5: warning: spec\.traffic\.csrf/)
  expect(saying(() => terminal.translated(translation(finding), STORE))).toEqual([])
  const worse = { ...finding, severity: 'error' as const }
  expect(saying(() => terminal.translated(translation(worse), STORE))[0]).toContain('1 error, 0 warnings')
  expect(saying(() => terminal.translated(translation(), STORE))).toEqual(['all problems of the objects are resolved'])
  expect(saying(() => terminal.translated(translation(), STORE))).toEqual([])
})

test('nothing wrong from the start: nothing is said', () => {
  expect(saying(() => new Terminal().translated(translation(), STORE))).toEqual([])
})

test('a listener is announced when it is new, fails, or serves again', () => {
  const terminal = new Terminal()
  expect(saying(() => terminal.applied(1, [at('http://a:1')]))).toEqual(['listening on http://a:1 (default/main/http)'])
  expect(saying(() => terminal.applied(2, [at('http://a:1')]))).toEqual([])
  expect(saying(() => terminal.applied(3, [at('http://a:1', 'in use')]))).toEqual([
    'listener default/main/http does not serve: in use',
  ])
  expect(saying(() => terminal.applied(4, [at('http://a:1', 'in use')]))).toEqual([])
  expect(saying(() => terminal.applied(5, [at('http://a:1')]))).toHaveLength(1)
  terminal.applied(6, [])
  expect(saying(() => terminal.applied(7, [at('http://a:1')]))).toHaveLength(1)
})

test('once it runs, every plan is told; before, only what listens', () => {
  const terminal = new Terminal()
  expect(saying(() => terminal.applied(1, []))).toEqual([])
  expect(saying(() => terminal.started(instance(1)))).toEqual([
    'admin http://127.0.0.1:1, metrics port 2, readiness port 3',
  ])
  expect(saying(() => terminal.applied(2, []))).toEqual(['plan 2 is in force'])
})

test('without listeners it says that it waits for them', () => {
  expect(saying(() => new Terminal().started(instance(0)))[1]).toBe(
    'no Gateway listens yet; the files are being watched',
  )
})

test('problems of files are told whenever they change, and what stays in force', () => {
  const terminal = new Terminal()
  const place = { file: 'a.yaml', line: 1, column: 2 }
  const problem: FileProblem = { ...place, path: '', code: 'invalid-yaml', severity: 'error', message: 'm' }
  const stale = (...objects: readonly string[]): StaleFile[] => [
    { file: 'a.yaml', since: 0, objects, problems: [problem] },
  ]
  expect(saying(() => terminal.objectsChanged([problem], stale('Gateway/default/main')))).toEqual([
    'the files have 1 error, 0 warnings; objects with errors are left out:',
    '  a.yaml:1:2: error: m [invalid-yaml]',
    'a.yaml has errors; its last good objects stay in force: Gateway/default/main',
  ])
  expect(saying(() => terminal.objectsChanged([problem], stale('Gateway/default/main')))).toEqual([])
  expect(saying(() => terminal.objectsChanged([{ ...problem, line: 2 }], stale('Gateway/default/main')))).toEqual([
    'the files have 1 error, 0 warnings; objects with errors are left out:',
    '  a.yaml:2:2: error: m [invalid-yaml]',
  ])
  expect(saying(() => terminal.objectsChanged([{ ...problem, line: 2 }], stale(...'abcdefg')))).toEqual([
    'a.yaml has errors; its last good objects stay in force: a, b, c, d, e and 2 more',
  ])
  expect(saying(() => terminal.objectsChanged([], []))).toEqual([
    'all problems of the files are resolved',
    'a.yaml is in use again',
  ])
})

test('an access log that cannot be written is told once for all workers, and when it is written again', () => {
  const terminal = new Terminal()
  const failing = { kind: 'failing', cause: 'ENOSPC' } as const
  const told = 'the access log cannot be written (ENOSPC); lines wait in memory, and are lost when there are too many'
  expect(saying(() => terminal.accessLog('w1', failing))).toEqual([told])
  expect(saying(() => terminal.accessLog('w2', failing))).toEqual([])
  expect(saying(() => terminal.accessLog('w1', { kind: 'resumed', lines: 3 }))).toEqual([])
  expect(saying(() => terminal.accessLog('w2', { kind: 'resumed', lines: 4 }))).toEqual([
    'the access log is written again; 7 lines lost',
  ])
  expect(saying(() => terminal.accessLog('w3', failing))).toEqual([told])
  expect(saying(() => terminal.workerReplaced('w3', 'died', 'x'))).toEqual([
    'worker w3 died and is replaced: x',
    'the access log is written again; 0 lines lost',
  ])
  terminal.accessLog('w3', failing)
  terminal.accessLog('w4', failing)
  expect(saying(() => terminal.accessLog('w3', { kind: 'ended', lines: 1 }))).toEqual([])
  expect(saying(() => terminal.accessLog('w4', { kind: 'ended', lines: 0 }))).toEqual([
    'the access log could not be written to the end; 1 line lost',
  ])
})

test('nothing that is said shows a secret', () => {
  const terminal = new Terminal()
  terminal.secrets(new KnownSecrets(['hunter22']))
  expect(saying(() => terminal.bug('7', 'Error: GET https://h/?token=abc failed for hunter22'))).toEqual([
    'a bug in the gateway met request 7: Error: GET https://h/?token=<redacted> failed for <redacted>',
  ])
  expect(saying(() => terminal.translated(translation({ ...finding, message: 'is hunter22' }), STORE))[1]).toContain(
    'is <redacted>',
  )
})

test('workers, bugs and the end', () => {
  const terminal = new Terminal()
  expect(
    saying(() => {
      terminal.workerReplaced('w1', 'died', 'out of memory')
      terminal.workerReplaced('w2', 'stuck', 'its event loop has not turned for 10 s')
      terminal.bug('w1-7', 'Error: x')
      terminal.stopping({ minMs: 0, maxMs: 55_000 })
      terminal.stopping({ minMs: 10_000, maxMs: 55_000 })
    }),
  ).toEqual([
    'worker w1 died and is replaced: out of memory',
    'worker w2 is stuck and is replaced: its event loop has not turned for 10 s',
    'a bug in the gateway met request w1-7: Error: x',
    'stopping: no more connections are accepted; requests in flight have 55 s to finish',
    'stopping: connections are accepted for 10 s; requests in flight have 55 s to finish',
  ])
})
