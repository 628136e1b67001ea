import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { formatProblem } from './file-problem.ts'
import { FileStore } from './files.ts'

let directory: string
let store: FileStore | undefined
const now = clock.now

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gatewright-files-'))
})

afterEach(() => {
  store?.close()
  store = undefined
  clock.now = now
  rmSync(directory, { recursive: true })
})

const path = (name: string) => join(directory, name)

function write(name: string, text: string): void {
  mkdirSync(join(path(name), '..'), { recursive: true })
  writeFileSync(path(name), text)
}

function configMap(name: string, value = '1'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`
}

const broken = 'a: [\n'
const invalid = (name: string) => configMap(name).replace('"1"', '1')

function open(...paths: string[]): FileStore {
  store = new FileStore(paths.length === 0 ? [directory] : paths)
  return store
}

function namesOf(files: FileStore): readonly string[] {
  return files.list().map(({ metadata, origin }) => `${metadata.name} ${origin.file?.slice(directory.length + 1)}`)
}

test('reads directories to their depth, in order, and passes over other files and hidden ones', () => {
  write('b.yaml', configMap('b'))
  write('a/deep/c.YML', configMap('c'))
  write('a/d.json', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"}}')
  write('readme.md', 'not yaml: [')
  write('.git/x.yaml', broken)
  symlinkSync(directory, path('a/loop'))
  symlinkSync(path('removed'), path('a/dangling.yaml'))
  const files = open()
  expect(files.problems()).toEqual([])
  expect(namesOf(files)).toEqual(['d a/d.json', 'c a/deep/c.YML', 'b b.yaml'])
})

test('a file named by the user is read whatever its ending', () => {
  write('gateway.conf', configMap('a'))
  expect(namesOf(open(path('gateway.conf')))).toEqual(['a gateway.conf'])
})

test('a missing file is named', () => {
  const files = open(path('none.yaml'))
  expect(files.problems().map(formatProblem)).toEqual([
    `${path('none.yaml')}: error: no such file or directory [file-missing]`,
  ])
})

test('a file that cannot be read is named, and keeps the objects that it had', async () => {
  write('a.yaml', configMap('a'))
  const files = open()
  rmSync(path('a.yaml'))
  // A socket cannot be opened as a file, whatever the user may do.
  const server = createServer().listen(path('a.yaml'))
  await once(server, 'listening')
  files.reload()
  expect(files.problems().map(({ file, code, line }) => [file, code, line])).toEqual([
    [path('a.yaml'), 'file-unreadable', undefined],
  ])
  expect(namesOf(files)).toEqual(['a a.yaml'])
  server.close()
})

test('a pipe in a directory is named, and nobody waits for its other side', () => {
  write('a.yaml', configMap('a'))
  const files = open()
  rmSync(path('a.yaml'))
  for (const name of ['a.yaml', 'b.json']) execFileSync('mkfifo', [path(name)])
  write('c.yaml', configMap('c'))
  files.reload()
  expect(
    files.problems().flatMap(({ file, code, message }) => (code === 'file-unreadable' ? [[file, message]] : [])),
  ).toEqual(['a.yaml', 'b.json'].map((name) => [path(name), 'cannot be read: it is not a regular file']))
  expect(namesOf(files)).toEqual(['a a.yaml', 'c c.yaml'])
})

test('a pipe that the user names is read', async () => {
  execFileSync('mkfifo', [path('pipe')])
  const writer = spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', configMap('a'), path('pipe')], { stdio: 'ignore' })
  expect(namesOf(open(path('pipe')))).toEqual(['a pipe'])
  await once(writer, 'exit')
})

test('a directory gains, loses and renames files', () => {
  write('a.yaml', configMap('a'))
  const files = open()
  write('b.yaml', configMap('b'))
  files.reload()
  expect(namesOf(files)).toEqual(['a a.yaml', 'b b.yaml'])
  renameSync(path('a.yaml'), path('z.yaml'))
  files.reload()
  expect(namesOf(files)).toEqual(['b b.yaml', 'a z.yaml'])
  rmSync(path('b.yaml'))
  files.reload()
  expect(namesOf(files)).toEqual(['a z.yaml'])
})

test('subscribers are notified of changes only', () => {
  write('a.yaml', configMap('a'))
  const files = open(directory, path('none.yaml'))
  let calls = 0
  const stop = files.subscribe(() => calls++)
  files.reload()
  expect(calls).toBe(0)
  write('a.yaml', configMap('a', '2'))
  files.reload()
  expect(calls).toBe(1)
  stop()
  rmSync(path('a.yaml'))
  files.reload()
  expect(calls).toBe(1)
})

test('an object that did not change stays the same object; one whose content changed gets a new generation', () => {
  write('a.yaml', configMap('a'))
  write('b.yaml', configMap('b'))
  const files = open()
  const [a, b] = files.list()
  expect(a?.metadata.generation).toBe(1)

  write('a.yaml', `# only a comment\n${configMap('a')}`)
  files.reload()
  expect(files.list()[0]).toMatchObject({ metadata: { generation: 1 }, origin: { line: 2, generation: 1 } })
  expect(files.list()[1]).toBe(b)

  write('a.yaml', configMap('a', '2'))
  files.reload()
  expect(files.list()[0]).toMatchObject({ metadata: { generation: 2 }, data: { value: '2' } })
})

test('a file that stops parsing keeps its last good objects, loudly', () => {
  clock.now = () => 1000
  write('a.yaml', `${configMap('a')}---\n${configMap('b')}`)
  write('c.yaml', configMap('c'))
  const files = open()
  expect(files.stale()).toEqual([])

  write('a.yaml', broken)
  files.reload()
  expect(namesOf(files)).toEqual(['a a.yaml', 'b a.yaml', 'c c.yaml'])
  expect(files.stale()).toMatchObject([
    {
      file: path('a.yaml'),
      since: 1000,
      objects: ['ConfigMap/default/a', 'ConfigMap/default/b'],
      problems: [{ code: 'invalid-yaml', line: 2 }],
    },
  ])

  clock.now = () => 2000
  write('a.yaml', `${broken}# still\n`)
  files.reload()
  expect(files.stale()).toMatchObject([{ since: 1000 }])

  write('a.yaml', configMap('a', '2'))
  files.reload()
  expect(files.stale()).toEqual([])
  expect(files.problems()).toEqual([])
  expect(namesOf(files)).toEqual(['a a.yaml', 'c c.yaml'])
})

test('an object that becomes invalid keeps its last good version, the others of the file move on', () => {
  write('a.yaml', `${configMap('a')}---\n${configMap('b')}`)
  const files = open()
  write('a.yaml', `${invalid('a')}---\n${configMap('b', '2')}`)
  files.reload()
  const values = files.list().map(({ metadata, ...rest }) => [metadata.name, (rest as { data?: unknown }).data])
  expect(values).toEqual([
    ['b', { value: '2' }],
    ['a', { value: '1' }],
  ])
  expect(files.stale()).toMatchObject([{ objects: ['ConfigMap/default/a'], problems: [{ code: 'wrong-type' }] }])
})

test.each([
  ['kind', 'kind: ConfigMap', 'kind: ConfigMpa'],
  ['the field kind', 'kind: ConfigMap', 'knid: ConfigMap'],
  ['apiVersion', 'apiVersion: v1', 'apiVersion: v11'],
  ['the field apiVersion', 'apiVersion: v1', 'apiVersoin: v1'],
  ['the field metadata', 'metadata:', 'metdata:'],
  ['the field metadata.name', 'name: a', 'nmae: a'],
])('a mistake in %s does not remove the object', (_, right, wrong) => {
  write('a.yaml', `${configMap('a')}---\n${configMap('b')}`)
  const files = open()
  write('a.yaml', `${configMap('a').replace(right, wrong)}---\n${configMap('b', '2')}`)
  files.reload()
  files.reload()
  expect(namesOf(files)).toEqual(['b a.yaml', 'a a.yaml'])
  expect(files.stale()).toMatchObject([{ objects: ['ConfigMap/default/a'] }])
  expect(files.removed()).toEqual([])
  write('a.yaml', configMap('b', '3'))
  files.reload()
  expect(namesOf(files)).toEqual(['b a.yaml'])
})

test('a document without kind keeps only the objects with its name and namespace', () => {
  write('a.yaml', `${configMap('a')}---\n${configMap('b')}---\n${configMap('a, namespace: other')}`)
  const files = open()
  write('a.yaml', configMap('a, namespace: other').replace('kind: ConfigMap', 'knid: ConfigMap'))
  files.reload()
  expect(files.stale()).toMatchObject([{ objects: ['ConfigMap/other/a'] }])
  expect(files.removed().map(({ object }) => object)).toEqual(['ConfigMap/default/a', 'ConfigMap/default/b'])
})

test('objects that a file with problems no longer contains are known until the file is right or another has them', () => {
  const foreign = 'apiVersion: example.com/v1\nkind: ConfigMap\nmetadata: {name: a}\n'
  write('a.yaml', `${configMap('a')}---\n${configMap('b')}`)
  const files = open()
  write('a.yaml', foreign)
  files.reload()
  const removed = ['ConfigMap/default/a', 'ConfigMap/default/b'].map((object) => ({ file: path('a.yaml'), object }))
  expect(files.removed()).toEqual(removed)
  write('a.yaml', `# later\n${foreign}`)
  files.reload()
  expect(files.removed()).toEqual(removed)
  write('b.yaml', configMap('b'))
  files.reload()
  expect(files.removed()).toEqual(removed.slice(0, 1))
  write('a.yaml', configMap('c'))
  files.reload()
  expect(files.removed()).toEqual([])
})

test('an object that was never good is absent', () => {
  write('a.yaml', invalid('a'))
  const files = open()
  expect(files.list()).toEqual([])
  expect(files.stale()).toEqual([])
  expect(files.problems()).toHaveLength(1)
})

test('a policy that was never valid is reported as not applied; one that keeps a valid version is not', () => {
  const policy = (spec: string) =>
    `apiVersion: gatewright.dev/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: keys}\nspec:\n  ${spec}\n`
  const target = 'targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: main}]'
  const wrong = policy(`${target}\n  traffic: {timeouts: {request: soon}}`)
  write('a.yaml', `${wrong}---\n${invalid('b')}`)
  const files = open()
  const lines = () => files.problems().map((problem) => formatProblem(problem).slice(directory.length + 1))
  expect(lines()).toEqual([
    expect.stringMatching(/^a\.yaml:6:24: error: spec\.traffic\.timeouts\.request: .* \[invalid-duration\]$/),
    expect.stringMatching(/^a\.yaml:11:8: error: .* \[wrong-type\]$/),
    'a.yaml:6:24: warning: ProxyPolicy default/keys is not applied; its targets are served without it [policy-not-applied]',
  ])
  write('a.yaml', policy(`${target}\n  traffic: {csrf: {}}`))
  files.reload()
  expect(files.problems()).toEqual([])
  write('a.yaml', wrong)
  files.reload()
  expect(files.problems()).toMatchObject([{ code: 'invalid-duration' }])
})

test('refused are the objects that are invalid and not in use', () => {
  write('a.yaml', `${configMap('a')}---\n${invalid('b')}---\n${configMap('c').replace('v1', 'v2')}`)
  write('d.yaml', invalid('d'))
  write('e.yaml', configMap('d'))
  const files = open()
  expect([...files.refused()]).toEqual(['ConfigMap/default/b', 'ConfigMap/default/c'])
  expect(files.takeChange().refused).toEqual(files.refused())

  // `a` keeps its last valid version.
  write('a.yaml', `${invalid('a')}---\n${configMap('b')}`)
  files.reload()
  expect(files.takeChange().refused).toEqual(new Set())
  expect(namesOf(files)).toEqual(['b a.yaml', 'a a.yaml', 'd e.yaml'])

  rmSync(path('e.yaml'))
  files.reload()
  expect([...files.refused()]).toEqual(['ConfigMap/default/d'])
})

test('the same object in two files: the first file has it', () => {
  write('a.yaml', configMap('x', 'first'))
  write('b.yaml', configMap('x', 'second'))
  const files = open()
  expect(namesOf(files)).toEqual(['x a.yaml'])
  expect(files.problems()).toMatchObject([
    { file: path('b.yaml'), line: 3, column: 12, code: 'duplicate-object', object: 'ConfigMap default/x' },
  ])
})

test('the second object of a name in a file is ignored and named', () => {
  write('a.yaml', `${configMap('x', 'first')}---\n${configMap('x', 'second')}`)
  const files = open()
  expect(files.list()).toHaveLength(1)
  expect(files.problems().map(formatProblem)).toEqual([
    `${path('a.yaml')}:8:12: error: metadata.name: duplicate ConfigMap: the object at ${path('a.yaml')}:1 has the same name; this object is ignored, so give it another name [duplicate-object]`,
  ])
})

test('an earlier version stays in force whether another object has its name or not', () => {
  const value = (files: FileStore) => files.list().map((object) => (object as { data?: object }).data)
  write('a.yaml', `${configMap('x', 'first')}---\n${configMap('x', 'second')}`)
  const files = open()
  write('a.yaml', `${invalid('x')}---\n${configMap('x', 'second')}`)
  files.reload()
  expect(value(files)).toEqual([{ value: 'first' }])
  write('a.yaml', `${configMap('x', 'third')}---\n${invalid('x')}`)
  files.reload()
  expect(value(files)).toEqual([{ value: 'third' }])
})

test('finds fields again for later findings', () => {
  write('a.yaml', `---\n${configMap('a')}---\n${configMap('b')}`)
  const files = open()
  const { origin } = files.list()[1]!
  expect(files.locate(origin, 'data.value')).toEqual({ file: path('a.yaml'), line: 10, column: 8 })
  expect(files.locate(origin, 'data[value]')).toEqual({ file: path('a.yaml'), line: 10, column: 8 })
  expect(files.locate(origin, 'data.other.deeper')).toEqual({ file: path('a.yaml'), line: 10, column: 1 })
  expect(files.locate(origin, '')).toEqual({ file: path('a.yaml'), line: 7, column: 1 })
  expect(files.locate({ ...origin, name: 'c' }, 'data')).toBeUndefined()
  expect(files.locate({ kind: 'ConfigMap', namespace: 'default', name: 'a' }, 'data')).toBeUndefined()
})

test('keys in brackets are found, with and without quotes', () => {
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'
  write('a.yaml', `${head}data:\n  /v1.0: "1"\n  "*": "2"\n  q"].x: "3"\n`)
  const { origin } = open().list()[0]!
  const lines = ['data[/v1.0]', 'data["/v1.0"]', 'data["*"]', 'data["q\\"].x"]', 'data["none"]'].map(
    (field) => store!.locate(origin, field)?.line,
  )
  expect(lines).toEqual([5, 5, 6, 7, 4])
})

test('generations of an object that was removed and is written again start at 1', () => {
  write('a.yaml', configMap('a'))
  const files = open()
  write('a.yaml', configMap('a', '2'))
  files.reload()
  expect(files.list()[0]?.metadata.generation).toBe(2)
  rmSync(path('a.yaml'))
  files.reload()
  write('a.yaml', configMap('a', '3'))
  files.reload()
  expect(files.list()[0]?.metadata.generation).toBe(1)
})

test('statuses live as long as their objects', () => {
  write('a.yaml', configMap('a'))
  const files = open()
  const key = 'ConfigMap/default/a'
  files.writeStatuses({
    written: [
      [key, { fine: true }],
      ['ConfigMap/default/none', {}],
    ],
    withdrawn: [],
  })
  expect(files.statusOf(key)).toEqual({ fine: true })
  expect(files.statusOf('ConfigMap/default/none')).toBeUndefined()
  files.writeStatuses({ written: [], withdrawn: [key] })
  expect(files.statusOf(key)).toBeUndefined()
  files.writeStatuses({ written: [[key, { fine: true }]], withdrawn: [] })
  rmSync(path('a.yaml'))
  files.reload()
  expect(files.statusOf(key)).toBeUndefined()
})

/** Settles when the files hold what is expected; a change may be reported in several steps. */
function until(files: FileStore, expected: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (namesOf(files).join() === expected.join()) resolve()
    }
    files.subscribe(look)
    look()
  })
}

test('watches a directory and the files in it', async () => {
  write('a.yaml', configMap('a'))
  store = new FileStore([directory], { watch: true, quietMs: 1 })
  write('b.yaml', configMap('b'))
  await until(store, ['a a.yaml', 'b b.yaml'])
  rmSync(path('a.yaml'))
  await until(store, ['b b.yaml'])
})

test('watches a single file that an editor replaces', async () => {
  write('a.yaml', configMap('a'))
  store = new FileStore([path('a.yaml')], { watch: true, quietMs: 1 })
  write('a.yaml~', configMap('new'))
  renameSync(path('a.yaml~'), path('a.yaml'))
  await until(store, ['new a.yaml'])
})

test('notices a path that appears later', async () => {
  store = new FileStore([path('later')], { watch: true, quietMs: 1, pollMs: 5 })
  expect(store.problems()).toMatchObject([{ code: 'file-missing' }])
  write('later/a.yaml', configMap('a'))
  await until(store, ['a later/a.yaml'])
  expect(store.problems()).toEqual([])
})
