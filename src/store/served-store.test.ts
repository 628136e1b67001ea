import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keyOf } from '#api/object.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { formatProblem } from './file-problem.ts'
import { FileStore } from './files.ts'
import { JournalFailure } from './resources/journal-failure.ts'
import type { Resource, ResourceKey } from './resources/resource.ts'
import { type Journal, ResourceTable, type ResourceWrite, type TableContent } from './resources/resource-table.ts'
import { ServedStore } from './served-store.ts'

let folder: string
let store: ServedStore
let table: ResourceTable
let journaled: string[]
let reported: string[]
let isFull = false

const journal: Journal = {
  append(events) {
    if (isFull) throw new JournalFailure('full', 'the disk is full', undefined)
    journaled.push(events.map(({ type, key }) => `${type} ${key.name}`).join())
  },
  reserve() {},
  close() {},
}

beforeEach(() => {
  folder = temporaryFolder()
  journaled = []
  reported = []
  isFull = false
})
afterEach(() => store?.close())

function write(text: string, name = 'a.yaml'): void {
  writeFileSync(join(folder, name), text)
}

function start(content?: TableContent): void {
  const unfilled = new ResourceTable(journal, content)
  store = new ServedStore(new FileStore([folder]), unfilled, ({ message }) => reported.push(message))
  table = store.table
}

function configMap(name: string, value: string, namespace = 'default'): string {
  return `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}, labels: {app: x}}\ndata: {value: ${value}}\n`
}

const COLLECTIONS: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Namespace: 'namespaces',
  ProxyPolicy: 'proxypolicies.gatewright.dev',
  HTTPRoute: 'httproutes.gateway.networking.k8s.io',
}

function key(kind: string, name: string, namespace = 'default'): ResourceKey {
  return { collection: COLLECTIONS[kind]!, namespace: kind === 'Namespace' ? '' : namespace, name }
}

const VERSIONS: Readonly<Record<string, string>> = {
  ProxyPolicy: 'gatewright.dev/v1alpha1',
  HTTPRoute: 'gateway.networking.k8s.io/v1',
}

function resource(kind: string, name: string, members: object): ResourceWrite & { object: Resource } {
  const metadata = {
    name,
    ...(kind === 'Namespace' ? {} : { namespace: 'default' }),
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 3,
  }
  return { key: key(kind, name), object: { apiVersion: VERSIONS[kind] ?? 'v1', kind, metadata, ...members } }
}

const content = (...objects: (ResourceWrite & { object: Resource })[]): TableContent => ({ objects, revision: 10 })

const TARGET = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }]
const POLICY = { spec: { targetRefs: TARGET, traffic: { csrf: {} } } }
const ROUTE = (path: string) => ({ spec: { rules: [{ matches: [{ path: { type: 'PathPrefix', value: path } }] }] } })

function inForce(): string[] {
  return store.list().map((object) => `${keyOf(object)}${object.origin.file === undefined ? '' : ' file'}`)
}

test('the table has the objects of files, with their file as manager', () => {
  write(configMap('one', 'first'))
  start()
  const { metadata, ...rest } = table.get(key('ConfigMap', 'one'))!
  expect(rest).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', data: { value: 'first' } })
  expect(metadata).toMatchObject({ name: 'one', namespace: 'default', labels: { app: 'x' } })
  expect(metadata.uid).toBe('a9ebcc57-015e-5ec6-ba9c-8f9ceaf3794d')
  expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  expect(JSON.parse(JSON.stringify(metadata.managedFields))).toEqual([
    {
      manager: `file:${join(folder, 'a.yaml')}`,
      operation: 'Apply',
      apiVersion: 'v1',
      time: metadata.creationTimestamp,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } }, 'f:data': { 'f:value': {} } },
    },
  ])
  expect(store.fileOf(key('ConfigMap', 'one'))).toEqual({ file: join(folder, 'a.yaml'), line: 2 })
  expect(store.fileOf(key('ConfigMap', 'two'))).toBeUndefined()
  expect(journaled).toEqual([])
})

test('the table shares the content of an object with the control plane', () => {
  write(
    'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {hostnames: [a.example]}\n',
  )
  start()
  expect(table.get(key('HTTPRoute', 'r'))!.spec).toBe(store.list()[0]!.spec)
})

test('an edit of a file changes its objects, and an object that it no longer has is removed', () => {
  write(configMap('one', 'first') + configMap('two', 'same'))
  start()
  const before = table.get(key('ConfigMap', 'one'))!
  const two = table.get(key('ConfigMap', 'two'))
  const revision = table.revision
  write(`# a new line\n${configMap('one', 'other')}${configMap('two', 'same')}`)
  store.reload()
  const after = table.get(key('ConfigMap', 'one'))!
  expect(after.data).toEqual({ value: 'other' })
  expect(after.metadata).toMatchObject({
    uid: before.metadata.uid,
    creationTimestamp: before.metadata.creationTimestamp,
  })
  // An object that only moved is as it was.
  expect([table.get(key('ConfigMap', 'two')), table.revision]).toEqual([two, revision + 1])
  expect(store.fileOf(key('ConfigMap', 'two'))?.line).toBe(8)
  write(configMap('two', 'same'))
  store.reload()
  expect(table.get(key('ConfigMap', 'one'))).toBeUndefined()
  expect(store.fileOf(key('ConfigMap', 'one'))).toBeUndefined()
})

test('until somebody reads the table, it has no objects of files; then it has their statuses, too', () => {
  write(
    'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {hostnames: [a.example]}\n',
  )
  write(configMap('f', 'x'), 'b.yaml')
  const unfilled = new ResourceTable(
    journal,
    content(resource('HTTPRoute', 'r', { ...ROUTE('/'), status: { old: 1 } })),
  )
  store = new ServedStore(new FileStore([folder]), unfilled, () => {})
  expect(store.takeChange().set.map(keyOf)).toEqual([
    'ConfigMap/default/f',
    'HTTPRoute/default/r',
    'HTTPRoute/default/r@api',
  ])
  expect(store.takeChange().set).toEqual([])
  store.writeStatuses({ written: [['HTTPRoute/default/r', { parents: ['a'] }]], withdrawn: [] })
  expect([unfilled.revision, store.statusOf('HTTPRoute/default/r')]).toEqual([10, { parents: ['a'] }])
  expect(store.table.get(key('HTTPRoute', 'r'))).toMatchObject({
    spec: { hostnames: ['a.example'] },
    status: { parents: ['a'] },
  })
  store.writeStatuses({ written: [], withdrawn: ['HTTPRoute/default/r'] })
  expect(store.statusOf('HTTPRoute/default/r')).toBeUndefined()
})

test('the generation of an object rises when its spec changes', () => {
  const route = (host: string, label: string) =>
    write(
      `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, labels: {a: ${label}}}\nspec: {hostnames: [${host}]}\n`,
    )
  route('a.example', 'x')
  start()
  const generation = () => table.get(key('HTTPRoute', 'r'))!.metadata.generation
  expect(generation()).toBe(1)
  route('a.example', 'y')
  store.reload()
  expect(generation()).toBe(1)
  route('b.example', 'y')
  store.reload()
  expect(generation()).toBe(2)
})

test('Secrets have their entries as the platform stores them', () => {
  write('apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: text}\ndata: {b: Ynl0ZXM=}\n')
  start()
  const secret = table.get({ collection: 'secrets', namespace: 'default', name: 's' })!
  expect([secret.data, secret.stringData]).toEqual([{ a: 'dGV4dA==', b: 'Ynl0ZXM=' }, undefined])
})

test('objects of the API and of files are in force', () => {
  write(configMap('file', 'f'))
  start(content(resource('ConfigMap', 'stored', { data: {} })))
  expect(inForce()).toEqual(['ConfigMap/default/file file', 'ConfigMap/default/stored'])
  expect(store.takeChange().set.map(keyOf).toSorted()).toEqual(['ConfigMap/default/file', 'ConfigMap/default/stored'])
  const seen: string[] = []
  store.subscribe(() => {
    const { set, removed } = store.takeChange()
    seen.push(`${set.map(keyOf)} - ${removed.map(keyOf)}`)
  })
  table.commit([resource('ConfigMap', 'new', { data: {} })])
  table.commit([{ key: key('ConfigMap', 'stored'), object: undefined }])
  expect(seen).toEqual(['ConfigMap/default/new - ', ' - ConfigMap/default/stored'])
  expect(inForce()).toEqual(['ConfigMap/default/file file', 'ConfigMap/default/new'])
  expect(store.list()[1]).toMatchObject({
    metadata: { name: 'new', namespace: 'default', generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' },
    origin: { kind: 'ConfigMap', namespace: 'default', name: 'new', generation: 3 },
  })
})

test('objects of the API without namespace are in force', () => {
  start(content(resource('Namespace', 'team', { spec: {} })))
  expect(inForce()).toEqual(['Namespace//team'])
  expect([namespaces(), store.table.revision]).toEqual([['default', 'team'], table.revision])
})

test('an object of the API that has the defaults shares its content with the table', () => {
  start()
  const spec = { hostnames: ['a.example'] }
  table.commit([resource('HTTPRoute', 'r', { spec })])
  const { spec: withDefaults } = store.list()[0]!
  table.commit([resource('HTTPRoute', 'r', { spec: withDefaults, extra: 1 })])
  expect(store.list()[0]!.spec).toBe(withDefaults)
})

test('changes that the control plane does not read are none', () => {
  start()
  let changes = 0
  store.subscribe(() => (changes += 1))
  const { key: at, object } = resource('ConfigMap', 'a', { data: {} })
  table.commit([{ key: at, object }])
  const managedFields = [
    { manager: 'x', operation: 'Update' as const, apiVersion: 'v1', fieldsType: 'FieldsV1' as const, fieldsV1: {} },
  ]
  table.commit([{ key: at, object: { ...object, metadata: { ...object.metadata, managedFields } } }])
  table.commit([{ key: { collection: 'leases.coordination.k8s.io', namespace: 'default', name: 'l' }, object }])
  expect(changes).toBe(1)
})

test('a file displaces an object of the API of the same name, which comes back', () => {
  start(content(resource('ConfigMap', 'x', { data: { value: 'api' } })))
  store.takeChange()
  write(configMap('x', 'file'))
  store.reload()
  expect(table.get(key('ConfigMap', 'x'))!.data).toEqual({ value: 'file' })
  expect(store.takeChange().set).toMatchObject([{ data: { value: 'file' } }])
  expect(inForce()).toEqual(['ConfigMap/default/x file'])
  expect(store.problems().map(formatProblem)).toEqual([
    `${join(folder, 'a.yaml')}:4:12: error: metadata.name: an object of the API has the same name; it is not in force while this file has the ConfigMap [duplicate-object]`,
  ])
  expect(journaled).toEqual([])
  rmSync(join(folder, 'a.yaml'))
  store.reload()
  expect(table.get(key('ConfigMap', 'x'))).toMatchObject({ data: { value: 'api' }, metadata: { uid: 'uid-x' } })
  expect(store.takeChange()).toMatchObject({ set: [{ data: { value: 'api' } }], removed: [] })
  expect([inForce(), store.problems()]).toEqual([['ConfigMap/default/x'], []])
  expect(journaled).toEqual(['MODIFIED x'])
})

test('an object that comes back while the disk is full is in force all the same', () => {
  write(configMap('x', 'file'))
  start(content(resource('ConfigMap', 'x', { data: { value: 'api' } })))
  isFull = true
  write('')
  store.reload()
  expect(table.get(key('ConfigMap', 'x'))).toMatchObject({ data: { value: 'api' } })
  expect(reported).toEqual(['the disk is full'])
})

test('a displaced policy that protects and a displaced route fail closed', () => {
  write(
    `${['apiVersion: gatewright.dev/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: other}], traffic: {csrf: {}}}\n'].join('')}---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {rules: [{matches: [{path: {value: /file}}]}]}\n`,
  )
  start(content(resource('ProxyPolicy', 'p', POLICY), resource('HTTPRoute', 'r', ROUTE('/api'))))
  const { set, refusedPolicies } = store.takeChange()
  expect(refusedPolicies).toMatchObject([
    { origin: { name: 'p' }, targetRefs: TARGET, protects: ['spec.traffic.csrf'] },
  ])
  const standIn = set.find(({ refusal }) => refusal === 'duplicate')
  expect(standIn).toMatchObject({ metadata: { name: 'r@api' }, spec: ROUTE('/api').spec })
  expect(store.list()).toContain(standIn)
  expect(table.list('httproutes.gateway.networking.k8s.io')).toHaveLength(1)
  rmSync(join(folder, 'a.yaml'))
  store.reload()
  const after = store.takeChange()
  expect(after.removed).toEqual([standIn])
  expect([after.refusedPolicies, after.set.map(keyOf).toSorted()]).toEqual([
    [],
    ['HTTPRoute/default/r', 'ProxyPolicy/default/p'],
  ])
})

test('a stored object that is no longer valid is refused as one of a file', () => {
  const invalidPolicy = { spec: { targetRefs: TARGET, traffic: { csrf: {}, timeouts: { request: 'soon' } } } }
  const unknownTarget = { spec: { traffic: { csrf: {} } } }
  const invalidRoute = { spec: { ...ROUTE('/api').spec, hostnames: 'none' } }
  start(
    content(
      resource('ProxyPolicy', 'p', invalidPolicy),
      resource('ProxyPolicy', 'q', unknownTarget),
      resource('HTTPRoute', 'r', invalidRoute),
    ),
  )
  const { set, refused, refusedPolicies } = store.takeChange()
  expect([...refused!].toSorted()).toEqual(['HTTPRoute/default/r', 'ProxyPolicy/default/p', 'ProxyPolicy/default/q'])
  expect(refusedPolicies).toMatchObject([
    { origin: { name: 'p' }, targetRefs: TARGET, targetsKnown: true },
    { origin: { name: 'q' }, targetsKnown: false },
  ])
  expect(set).toMatchObject([])
  const codes = store.problems().map(({ code, object }) => `${object} ${code}`)
  expect(codes).toContain('ProxyPolicy default/p invalid-duration')
  expect(codes).toContain('ProxyPolicy default/q policy-targets-unknown')
  expect(store.unknownProtection().map(({ object, code }) => `${object} ${code}`)).toEqual([
    'ProxyPolicy default/q policy-targets-unknown',
    'HTTPRoute default/r route-matches-unknown',
  ])
  // A client mends it.
  table.commit([resource('ProxyPolicy', 'q', POLICY)])
  expect(store.takeChange().set.map(keyOf)).toEqual(['ProxyPolicy/default/q'])
})

test('fields that only files may have are refused in objects of the API', () => {
  start(content(resource('ConfigMap', 'x', { dataFrom: { a: { file: 'secret.txt' } } })))
  expect(store.problems()).toMatchObject([{ code: 'files-only', object: 'ConfigMap default/x' }])
  expect(inForce()).toEqual([])
})

test('statuses of all objects are in the table, in one write, and only those of the API are stored', () => {
  const routeYaml = (name: string) =>
    `---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {hostnames: [a.example]}\n`
  write(routeYaml('f'))
  start(content(resource('HTTPRoute', 'one', ROUTE('/1')), resource('HTTPRoute', 'two', ROUTE('/2'))))
  let changes = 0
  store.subscribe(() => (changes += 1))
  const statuses = (text: string) => ({
    written: ['f', 'one', 'two', 'none'].map((name) => [`HTTPRoute/default/${name}`, { parents: [text] }] as const),
    withdrawn: [],
  })
  store.writeStatuses(statuses('a'))
  expect(journaled).toEqual(['MODIFIED one,MODIFIED two'])
  expect(table.get(key('HTTPRoute', 'f'))!.status).toEqual({ parents: ['a'] })
  expect(store.statusOf('HTTPRoute/default/one')).toEqual({ parents: ['a'] })
  const { revision } = table
  store.writeStatuses(statuses('a'))
  expect([table.revision, journaled.length]).toEqual([revision, 1])
  // An edit keeps the status.
  write(routeYaml('f').replace('a.example', 'b.example'))
  store.reload()
  expect([changes, store.statusOf('HTTPRoute/default/f')]).toEqual([1, { parents: ['a'] }])
  store.writeStatuses({ written: [], withdrawn: ['HTTPRoute/default/one', 'HTTPRoute/default/f'] })
  expect(Object.keys(table.get(key('HTTPRoute', 'one'))!)).not.toContain('status')
  expect(Object.keys(table.get(key('HTTPRoute', 'f'))!)).not.toContain('status')
  expect(changes).toBe(1)
})

test('a status that the gateway writes because of a change of the table is none of a client', () => {
  write('apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {}\n')
  start()
  store.takeChange()
  const ROUTE_KEY = 'HTTPRoute/default/r'
  let changes = 0
  const statuses = [{ parents: [{ parentRef: { name: 'main' } }] }, undefined]
  store.subscribe(() => {
    changes++
    const status = statuses.shift()
    const withdrawn = status === undefined ? [ROUTE_KEY] : []
    store.writeStatuses({ written: status === undefined ? [] : [[ROUTE_KEY, status]], withdrawn })
  })
  for (const name of ['first', 'second']) {
    table.commit([resource('HTTPRoute', name, ROUTE('/'))])
    expect(store.takeChange()).toMatchObject({ set: [{ metadata: { name } }], statusWritten: [] })
  }
  expect(changes).toBe(2)
  expect(table.get(key('HTTPRoute', 'r'))!.status).toBeUndefined()
})

test('a status of another controller is a change', () => {
  start(content(resource('HTTPRoute', 'one', ROUTE('/1'))))
  store.takeChange()
  store.writeStatuses({ written: [['HTTPRoute/default/one', { parents: ['ours'] }]], withdrawn: [] })
  expect(store.takeChange().set).toEqual([])
  const now = table.get(key('HTTPRoute', 'one'))!
  table.commit([{ key: key('HTTPRoute', 'one'), object: { ...now, status: { parents: ['ours', 'theirs'] } } }])
  expect(store.takeChange().set).toMatchObject([{ status: { parents: ['ours', 'theirs'] } }])
})

test('statuses that cannot be stored are in memory, with one report', () => {
  start(content(resource('HTTPRoute', 'one', ROUTE('/1'))))
  isFull = true
  for (const text of ['a', 'b']) {
    store.writeStatuses({ written: [['HTTPRoute/default/one', { parents: [text] }]], withdrawn: [] })
    expect(store.statusOf('HTTPRoute/default/one')).toEqual({ parents: [text] })
  }
  expect(reported).toEqual(['the disk is full'])
})

const namespaces = () => table.list('namespaces').map(({ metadata }) => metadata.name)

test('Namespaces of objects exist', () => {
  write(configMap('a', 'x', 'shop'))
  start(
    content({ ...resource('ConfigMap', 'b', {}), key: key('ConfigMap', 'b', 'api'), object: inNamespace('b', 'api') }),
  )
  expect(namespaces()).toEqual(['api', 'default', 'shop'])
  expect(table.get(key('Namespace', 'shop'))).toMatchObject({ kind: 'Namespace', status: { phase: 'Active' } })
  expect(store.fileOf(key('Namespace', 'shop'))).toEqual({ file: join(folder, 'a.yaml'), line: 2 })
  expect([store.fileOf(key('Namespace', 'default')), store.fileOf(key('Namespace', 'api'))]).toEqual([
    undefined,
    undefined,
  ])
  expect(inForce().filter((name) => name.startsWith('Namespace'))).toEqual([])
  write('')
  store.reload()
  expect(namespaces()).toEqual(['api', 'default'])
  expect(journaled).toEqual([])
})

function inNamespace(name: string, namespace: string): Resource {
  const { object } = resource('ConfigMap', name, {})
  return { ...object, metadata: { ...object.metadata, namespace } }
}

test('a Namespace in a file replaces the implicit one, and leaves it behind', () => {
  write(configMap('a', 'x', 'shop'))
  start()
  write('apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n', 'b.yaml')
  store.reload()
  expect(table.get(key('Namespace', 'shop'))!.metadata.labels).toEqual({ team: 'a' })
  expect(store.problems()).toEqual([])
  const seen: string[] = []
  table.subscribe((events) => seen.push(...events.map(({ type, key: of }) => `${type} ${of.name}`)))
  rmSync(join(folder, 'b.yaml'))
  store.reload()
  expect(table.get(key('Namespace', 'shop'))!.metadata.labels).toBeUndefined()
  expect(seen).toEqual(['MODIFIED shop'])
})

test('a client takes over the default Namespace, and a Namespace in use exists again after its removal', () => {
  write(configMap('a', 'x', 'shop'))
  start()
  store.takeChange()
  table.commit([resource('Namespace', 'default', { spec: { finalizers: ['kubernetes'] } })])
  expect(store.takeChange().set.map(keyOf)).toEqual(['Namespace//default'])
  table.commit([{ key: key('Namespace', 'shop'), object: undefined }])
  expect(namespaces()).toEqual(['default', 'shop'])
  expect(store.takeChange().set).toEqual([])
})
