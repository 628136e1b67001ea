import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type SecretObject, secret } from '#api/secret.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { validate } from '#schema/index.ts'
import { formatProblem } from './file-problem.ts'
import { FileStore, type FileStoreOptions } from './files.ts'

let directory = ''
let store: FileStore | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'entries-'))
})
afterEach(() => {
  store?.close()
  store = undefined
  rmSync(directory, { recursive: true })
})

const path = (name: string) => join(directory, name)

function write(name: string, text: string | Buffer): void {
  mkdirSync(join(path(name), '..'), { recursive: true })
  writeFileSync(path(name), text)
}

function open(options: FileStoreOptions = {}): FileStore {
  store = new FileStore([path('objects')], { environment: {}, ...options })
  return store
}

function secretYaml(...lines: string[]): string {
  return ['apiVersion: v1', 'kind: Secret', 'metadata: {name: keys}', ...lines, ''].join('\n')
}

/** The problems as terminals show them, without the temporary folder. */
function problemsOf(files: FileStore): readonly string[] {
  return files.problems().map((each) => formatProblem(each).replaceAll(`${directory}/`, ''))
}

test('entries of a Secret come from the environment and from files beside the file that names them', () => {
  write(
    'objects/in/keys.yaml',
    secretYaml('data: {a: YQ==}', 'dataFrom:', '  b: {env: KEY_B}', '  c: {file: ../c.bin}'),
  )
  write('objects/c.bin', Buffer.from([0xff, 0x0a]))
  const files = open({ environment: { KEY_B: 'vé' } })
  expect(problemsOf(files)).toEqual([])
  const [object] = files.list()
  expect(object).toMatchObject({ stringData: { b: 'vé' }, data: { a: 'YQ==', c: '/wo=' } })
  expect(object).not.toHaveProperty('dataFrom')
  expect(object!.origin.entryFiles).toEqual({ c: path('objects/c.bin') })
})

test('entries of a ConfigMap do, too', () => {
  write('objects/map.yaml', secretYaml('dataFrom: {b: {env: KEY_B}, c: {file: c.pem}}').replace('Secret', 'ConfigMap'))
  write('objects/c.pem', 'pem')
  const [object] = open({ environment: { KEY_B: 'v' } }).list()
  expect(object).toMatchObject({ data: { b: 'v' }, binaryData: { c: 'cGVt' } })
})

const problems = [
  {
    name: 'a variable that is not set',
    entry: '{env: KEY_B}',
    problem: '4:16: error: dataFrom[b].env: environment variable KEY_B is not set [variable-missing]',
  },
  {
    name: 'an empty variable',
    entry: '{env: EMPTY}',
    problem: '4:16: error: dataFrom[b].env: environment variable EMPTY is empty [variable-missing]',
  },
  {
    name: 'a variable with another name than variables have; it may be the value itself',
    entry: '{env: sk-secret}',
    problem: '4:16: error: dataFrom[b].env: must be the name of an environment variable [invalid-variable-name]',
  },
  {
    name: 'a missing file',
    entry: '{file: none.pem}',
    problem: '4:16: error: dataFrom[b].file: objects/none.pem: no such file or directory [file-missing]',
  },
  {
    name: 'a folder',
    entry: '{file: .}',
    problem: '4:16: error: dataFrom[b].file: objects is not a regular file [file-unreadable]',
  },
  {
    name: 'a file that is too large',
    entry: '{file: large}',
    problem: '4:16: error: dataFrom[b].file: objects/large has more than 1 MiB [file-too-large]',
  },
  {
    name: 'both sources',
    entry: '{env: SET, file: large}',
    problem: '4:12: error: dataFrom[b]: exactly one of env, file must be set; env and file are set [exactly-one-of]',
  },
  {
    name: 'no source',
    entry: '{}',
    problem: '4:12: error: dataFrom[b]: exactly one of env, file must be set; none is set [exactly-one-of]',
  },
]

test.each(problems)('$name is a problem of the object, with its position', ({ entry, problem }) => {
  write('objects/keys.yaml', secretYaml(`dataFrom: {b: ${entry}}`))
  write('objects/large', Buffer.alloc(1024 * 1024 + 1))
  const files = open({ environment: { SET: 'a value', EMPTY: '' } })
  expect(problemsOf(files)).toEqual([`objects/keys.yaml:${problem}`])
  expect(files.list()).toEqual([])
})

test('a file of exactly 1 MiB is read', () => {
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: large}}'))
  write('objects/large', Buffer.alloc(1024 * 1024, 'a'))
  expect(problemsOf(open())).toEqual([])
})

test('a pipe is refused without waiting for its other side', () => {
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: pipe}}'))
  execFileSync('mkfifo', [path('objects/pipe')])
  expect(problemsOf(open())).toEqual([
    'objects/keys.yaml:4:16: error: dataFrom[b].file: objects/pipe is not a regular file [file-unreadable]',
  ])
})

test.each(['data: {b: YQ==}', 'stringData: {b: a}'])('an entry has one value: %s', (line) => {
  write('objects/keys.yaml', secretYaml(line, 'dataFrom: {b: {env: SET}}'))
  const field = line.split(':')[0]
  expect(problemsOf(open({ environment: { SET: 'a value' } }))).toEqual([
    `objects/keys.yaml:5:12: error: dataFrom[b]: ${field} has an entry of this name, too [not-together]`,
  ])
})

test('objects from elsewhere cannot read the environment or files of the gateway', () => {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, dataFrom: { b: { env: 'HOME' } } }
  const { value, problems: found } = validate(secret, object)
  expect(value).toBeUndefined()
  expect(found).toEqual([
    { path: 'dataFrom', code: 'files-only', message: 'is allowed only in local files', severity: 'error' },
  ])
})

test('while a value is missing, the last valid object stays, and other objects of the file apply', () => {
  const other = (value: string) => `---\n${secretYaml(`stringData: {v: ${value}}`).replace('keys', 'other')}`
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: b}}') + other('one'))
  write('objects/b', 'first')
  const files = open()
  rmSync(path('objects/b'))
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: b}}') + other('two'))
  files.reload()
  expect(problemsOf(files)).toHaveLength(1)
  expect(files.stale()).toMatchObject([{ objects: ['Secret/default/keys'] }])
  expect(files.list()).toMatchObject([{ stringData: { v: 'two' } }, { data: { b: 'Zmlyc3Q=' } }])
})

test('a reload reads a changed file again, and the object has a new generation', () => {
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: ../b}}'))
  write('b', 'first')
  const files = open()
  const [before] = files.list()
  files.reload()
  expect(files.list()[0]).toBe(before)
  write('b', 'second one')
  files.reload()
  expect(files.list()).toMatchObject([{ metadata: { generation: 2 }, data: { b: 'c2Vjb25kIG9uZQ==' } }])
})

/** Settles when entry b of the Secret has the value. */
function untilValue(files: FileStore, value: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const { data } = (files.list()[0] ?? {}) as { data?: Record<string, string> }
      if (atob(data?.b ?? '') === value) resolve()
    }
    files.subscribe(look)
    look()
  })
}

test('a file outside of the watched paths is watched: edits, replacements and links', async () => {
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: ../live/b}}'))
  write('archive/b1', 'first')
  mkdirSync(path('live'))
  symlinkSync('../archive/b1', path('live/b'))
  const files = open({ watch: true, quietMs: 1 })
  await untilValue(files, 'first')
  write('archive/b1', 'edited')
  await untilValue(files, 'edited')
  write('archive/b2', 'replaced')
  symlinkSync('../archive/b2', path('live/new'))
  renameSync(path('live/new'), path('live/b'))
  await untilValue(files, 'replaced')
  write('archive/b2', 'edited again')
  await untilValue(files, 'edited again')
})

test('a folder on the way to a file outside that is a link: each swap of it counts, and edits after it', async () => {
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: ../live/current/b}}'))
  write('live/first/b', 'first')
  write('live/second/b', 'second')
  symlinkSync('first', path('live/current'))
  const swapTo = (folder: string) => {
    symlinkSync(folder, path('live/new'))
    renameSync(path('live/new'), path('live/current'))
  }
  const files = open({ watch: true, quietMs: 1 })
  await untilValue(files, 'first')
  swapTo('second')
  await untilValue(files, 'second')
  write('live/second/b', 'edited')
  await untilValue(files, 'edited')
  swapTo('first')
  await untilValue(files, 'first')
})

test('a file of which even the folder is missing is found when it comes', async () => {
  write('objects/keys.yaml', secretYaml('dataFrom: {b: {file: ../late/b}}'))
  const files = open({ watch: true, quietMs: 1, pollMs: 20 })
  write('late/b', 'here')
  await untilValue(files, 'here')
})

test('a pair that does not fit while its files are replaced keeps the last good pair; swapped files are named', () => {
  const pairs = [CERTIFICATES.server, CERTIFICATES.serverRsa]
  const put = (cert: string, key: string) => {
    write('tls.crt', cert)
    write('tls.key', key)
  }
  put(pairs[0]!.cert, pairs[0]!.key)
  write('objects/keys.yaml', secretYaml('dataFrom: {tls.crt: {file: ../tls.crt}, tls.key: {file: ../tls.key}}'))
  const files = open({ tlsMaterial: TLS_MATERIAL })
  const certificate = () => (files.list()[0] as SecretObject).data?.['tls.crt']
  const first = certificate()
  expect(problemsOf(files)).toEqual([])
  put(pairs[1]!.cert, pairs[0]!.key)
  files.reload()
  expect(problemsOf(files)).toEqual([
    expect.stringMatching(
      /error: dataFrom\[tls\.crt\]: the certificate and the key do not match \[certificate-pair\]$/,
    ),
  ])
  expect(certificate()).toBe(first)
  expect(files.stale()).toHaveLength(1)
  put(pairs[1]!.cert, pairs[1]!.key)
  files.reload()
  expect(problemsOf(files)).toEqual([])
  expect(certificate()).not.toBe(first)
  put(pairs[1]!.key, pairs[1]!.cert)
  files.reload()
  expect(problemsOf(files)).toEqual([
    expect.stringContaining(
      'entry "tls.crt" holds a private key, and entry "tls.key" holds a certificate: swap them [certificate-pair]',
    ),
  ])
})
