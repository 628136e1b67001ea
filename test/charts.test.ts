import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { KINDS } from '#api/kinds.ts'
import { DEPLOYED_KINDS } from '#cluster/deploy/deployed-kinds.ts'

const CHARTS = join(import.meta.dirname, '..', 'install', 'charts')
const NAMES = ['gatewright', 'gatewright-crds']
/** Kinds without a status that the gateway writes. */
const WITHOUT_STATUS = ['proxyparameters', 'referencegrants']

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly definitions?: Readonly<Record<string, Schema>>
}

function read(chart: string, ...path: readonly string[]): string {
  return readFileSync(join(CHARTS, chart, ...path), 'utf8')
}

/** Groups, resources and verbs of one section of the rights, as `group/resource verb`. */
function rightsOf(section: string): ReadonlySet<string> {
  const rights = parse(read('gatewright', 'files', 'rights.yaml')) as Readonly<Record<string, readonly Rule[]>>
  const found = rights[section]!.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((name) => verbs.map((verb) => `${group}/${name} ${verb}`))),
  )
  return new Set(found)
}

test.each(NAMES)('chart %s has the version of the package', (name) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(parse(read(name, 'Chart.yaml'))).toMatchObject({ apiVersion: 'v2', name, version, appVersion: version })
})

test.each(NAMES)('the schema of the values of %s has all of them, and no others', (name) => {
  const root: Schema = JSON.parse(read(name, 'values.schema.json'))
  const compare = (values: unknown, schema: Schema, path: string): string[] => {
    const { properties } = schema.$ref === undefined ? schema : root.definitions![schema.$ref.split('/').at(-1)!]!
    // A map, or a list of what users write.
    if (properties === undefined) return []
    const names = new Set([...Object.keys(values ?? {}), ...Object.keys(properties)])
    return [...names].flatMap((key) => {
      if (!(key in properties)) return [`${path}${key} is not in the schema`]
      const value = (values as Readonly<Record<string, unknown>>)[key]
      return value === undefined ? [`${path}${key} has no default`] : compare(value, properties[key]!, `${path}${key}.`)
    })
  }
  // Values of the chart that contains this one; parts that need no default.
  const optional = /^(?:global|proxyImage\.\w+|gatewayClass\.parametersRef\.\w+|resources\.claims) has no default$/
  const differing = compare(parse(read(name, 'values.yaml')), root, '')
  expect(differing.filter((line) => !optional.test(line))).toEqual([])
})

test('the controller may read every kind and write every status, and nothing by a wildcard', () => {
  for (const { group, plural, namespaced, statusIsOurs } of KINDS) {
    const rights = rightsOf(namespaced ? 'read' : 'cluster')
    for (const verb of ['list', 'watch']) expect(rights).toContain(`${group}/${plural} ${verb}`)
    const writes = statusIsOurs && !WITHOUT_STATUS.includes(plural)
    expect(rights.has(`${group}/${plural}/status update`), plural).toBe(writes)
    expect(rights.has(`${group}/${plural} get`), plural).toBe(writes || plural === 'secrets')
  }
  const all = ['cluster', 'read', 'write', 'own'].flatMap((section) => [...rightsOf(section)])
  expect(all.filter((right) => right.includes('*'))).toEqual([])
})

test('the controller may read the definitions of its kinds of the Gateway API, and no others', () => {
  const { cluster } = parse(read('gatewright', 'files', 'rights.yaml')) as { cluster: readonly Rule[] }
  const rules = cluster.filter(({ resources }) => resources.includes('customresourcedefinitions'))
  const names = KINDS.filter(({ own, statusIsOurs, kind }) => !own && (statusIsOurs || kind === 'ReferenceGrant'))
  expect(rules).toEqual([
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: names.map(({ plural, group }) => `${plural}.${group}`).toSorted(),
      verbs: ['get'],
    },
  ])
})

test('the controller writes objects only where it runs proxies', () => {
  const writes = [...rightsOf('read')].filter((right) => /(?:create|delete|patch|update)$/.test(right))
  expect(writes.filter((right) => !right.includes('/status ') && !right.includes('/events '))).toEqual([])
})

test('the controller may write the kinds that it deploys, and delete those that it prunes', () => {
  const rights = rightsOf('write')
  for (const { root, plural, isPruned } of Object.values(DEPLOYED_KINDS)) {
    const group = /^\/apis\/(.+)\//.exec(root)?.[1] ?? ''
    for (const verb of ['create', 'get']) expect(rights).toContain(`${group}/${plural} ${verb}`)
    expect(rights.has(`${group}/${plural} patch`), plural).toBe(plural !== 'secrets')
    expect(rights.has(`${group}/${plural} delete`), plural).toBe(isPruned)
  }
})

test('the role `edit` does not write ProxyParameters, which is as much as creating Pods', () => {
  const roles = read('gatewright', 'templates', 'aggregated-roles.yaml')
    .split('---')
    .map((text) => parse(text.replace(/^.*\{\{.*$/gm, '')) as { metadata: { labels: object }; rules: readonly Rule[] })
  const rules = Object.fromEntries(roles.map(({ metadata, rules }) => [Object.keys(metadata.labels)[0], rules]))
  const writable = (role: string) => rules[`rbac.authorization.k8s.io/aggregate-to-${role}`]![0]!.resources
  expect(writable('edit')).toEqual(['proxybackends', 'proxypolicies'])
  expect(writable('admin')).toEqual(['proxyparameters'])
})

test('the chart of definitions finds the place for its annotations once in each', () => {
  const files = readdirSync(join(CHARTS, 'gatewright-crds', 'definitions'))
  expect(files).toHaveLength(KINDS.filter(({ own }) => own).length)
  for (const file of files)
    expect(read('gatewright-crds', 'definitions', file).match(/\n {2}labels:\n/g)).toHaveLength(1)
  expect(read('gatewright-crds', 'templates', 'definitions.yaml')).toContain('helm.sh/resource-policy: keep')
})
