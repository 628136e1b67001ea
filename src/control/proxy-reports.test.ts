import { expect, test } from 'vitest'
import type { Binding } from '#plan/binding.ts'
import type { ReportedState } from '#plan/plan-link.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { Translator } from './translator.ts'

// What proxies of other processes report, and the statuses that follow.

const gateway = (name: string, hostname?: string) => ({
  kind: 'Gateway',
  metadata: { name },
  spec: {
    gatewayClassName: 'gatewright',
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP', ...(hostname && { hostname }) }],
  },
})
const parentRefs = [{ name: 'one' }, { name: 'two' }]
const route = { kind: 'HTTPRoute', metadata: { name: 'r' }, spec: { parentRefs, rules: [{}] } }
const policy = {
  kind: 'ProxyPolicy',
  metadata: { name: 'p' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'r' }],
    traffic: { csrf: {} },
  },
}

/** As in a cluster, each Gateway has an address of its own. */
function translated() {
  const translator = new Translator({
    addresses: {
      assign: ({ metadata: { namespace, name } }) => `Gateway/${namespace}/${name}`,
      release: () => {},
      none: '',
    },
  })
  const put = (...objects: readonly unknown[]) => translator.apply({ set: objects.map(admitObject), removed: [] })
  put(gateway('one'), gateway('two'), route, policy)
  const report = (name: string, state: Partial<ReportedState> | undefined, at = 'one') =>
    translator.noteReport(
      { gateway: `Gateway/default/${at}`, name },
      state && { version: translator.version, bindings: new Map(), problems: [], refusals: [], ...state },
    )
  const statusOf = (kind: string, name: string) =>
    translator.translation.statuses.find((status) => status.kind === kind && status.name === name)!.status as {
      readonly conditions: readonly Condition[]
      readonly listeners: readonly { readonly conditions: readonly Condition[] }[]
      readonly parents: readonly { readonly conditions: readonly Condition[] }[]
      readonly ancestors: readonly { readonly conditions: readonly Condition[] }[]
    }
  const programmed = (name = 'one') => {
    const { conditions, listeners } = statusOf('Gateway', name)
    return [conditions, listeners[0]!.conditions].map((each) => textOf(each, 'Programmed'))
  }
  return { translator, put, report, statusOf, programmed }
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

function textOf(conditions: readonly Condition[], type: string): string | undefined {
  const found = conditions.find((condition) => condition.type === type)
  return found && `${found.status}/${found.reason}: ${found.message}`
}

const bindings = (binding: Binding, at = 'one') => new Map([[`Gateway/default/${at}:80`, binding]])
const bound = bindings({ state: 'bound' })
const taken = bindings({ state: 'failed', reason: 'PortUnavailable', message: 'port 80 is in use' })

const PENDING = ['Unknown/Pending: Waiting for the data plane: http', 'Unknown/Pending: Waiting for the data plane']
const PROGRAMMED = [
  'True/Programmed: All listeners accept connections',
  'True/Programmed: Listener accepts connections',
]

test('a Gateway is programmed when one of its proxies has its listeners, whatever new, late and ending ones say', () => {
  const { put, report, programmed } = translated()
  expect(programmed()).toEqual(PENDING)
  report('ns/new', { version: 0 })
  expect(programmed()).toEqual(PENDING)
  report('ns/a', { bindings: bound })
  expect(programmed()).toEqual(PROGRAMMED)
  expect(programmed('two')).toEqual(PENDING)

  put(gateway('one', 'a.test'))
  expect(programmed(), 'nobody has the change').toEqual(PENDING)
  report('ns/late', { version: 1, bindings: taken })
  report('ns/a', { version: 1, bindings: bound })
  expect(programmed()).toEqual(PENDING)
  report('ns/a', { version: 2, bindings: bound })
  expect(programmed()).toEqual(PROGRAMMED)
  report('ns/late', undefined)
  report('ns/new', undefined)
  expect(programmed()).toEqual(PROGRAMMED)
  report('ns/a', undefined)
  expect(programmed()).toEqual(PENDING)
})

test('a listener that a proxy cannot bind is not programmed, and the message names some of the proxies', () => {
  const { report, programmed } = translated()
  report('ns/a', { bindings: bound })
  report('ns/b', { bindings: taken })
  const reason = 'False/PortUnavailable: '
  const why = (proxies: string) => [
    `${reason}http: port 80 is in use ${proxies}`,
    `${reason}port 80 is in use ${proxies}`,
  ]
  expect(programmed()).toEqual(why('(proxy ns/b)'))
  for (const name of ['ns/e', 'ns/d', 'ns/c']) report(name, { bindings: taken })
  expect(programmed()).toEqual(why('(proxies ns/b, ns/c, ns/d and 1 more)'))
  for (const name of ['ns/b', 'ns/c', 'ns/d', 'ns/e']) report(name, { bindings: bound })
  expect(programmed()).toEqual(PROGRAMMED)
})

const problem = (kind: string, name: string, message: string) => ({
  origin: { kind, namespace: 'default', name },
  path: 'spec.x',
  code: 'cel-syntax',
  message,
  severity: 'error' as const,
})

test('what proxies refuse of a policy or route is in the entry of their Gateway only', () => {
  const { translator, report, statusOf } = translated()
  const entries = (kind: string, name: string, type: string) => {
    const { parents, ancestors } = statusOf(kind, name)
    return (parents ?? ancestors).map(({ conditions }) => textOf(conditions, type))
  }
  const problems = [problem('ProxyPolicy', 'p', 'is bad'), problem('HTTPRoute', 'r', 'is worse')]
  report('ns/a', { problems })
  report('ns/b', { problems })
  expect(entries('ProxyPolicy', 'p', 'Accepted')).toEqual([
    'True/PartiallyValid: spec.x: is bad (proxies ns/a, ns/b)',
    'True/Valid: Policy accepted',
  ])
  expect(entries('HTTPRoute', 'r', 'PartiallyInvalid')).toEqual([
    'True/UnsupportedValue: spec.x: is worse (proxies ns/a, ns/b)',
    undefined,
  ])
  report('ns/c', { problems }, 'two')
  expect(entries('ProxyPolicy', 'p', 'Accepted')[1]).toBe('True/PartiallyValid: spec.x: is bad (proxy ns/c)')

  // What the check of the plan has found is not said again.
  translator.noteProblems(new Map([['ProxyPolicy/default/p', [{ ...problems[0]!, code: 'cel-syntax' }]]]))
  expect(entries('ProxyPolicy', 'p', 'Accepted')).toEqual(Array(2).fill('True/PartiallyValid: spec.x: is bad'))
  translator.noteProblems(new Map([['ProxyPolicy/default/p', []]]))
  for (const name of ['ns/a', 'ns/b']) report(name, { problems: [] })
  report('ns/c', undefined, 'two')
  expect(entries('ProxyPolicy', 'p', 'Accepted')).toEqual(Array(2).fill('True/Valid: Policy accepted'))
  expect(entries('HTTPRoute', 'r', 'PartiallyInvalid')).toEqual([undefined, undefined])
  expect(translator.findings).toEqual(new Translator({}).findings)
})

test('what a proxy cannot read is said at the object that the item is from, else at its Gateway', () => {
  const { translator, report, statusOf, programmed } = translated()
  report('ns/a', { bindings: bound, refusals: [{ key: 'HTTPRoute/default/r/0', message: 'it is new' }] })
  const [parent] = statusOf('HTTPRoute', 'r').parents
  expect(textOf(parent!.conditions, 'PartiallyInvalid')).toBe('True/UnsupportedValue: it is new (proxy ns/a)')
  expect(programmed()).toEqual(PROGRAMMED)
  report('ns/a', { bindings: bound, refusals: [{ key: '', message: 'a bug' }] })
  expect(programmed()[0]).toBe('False/Invalid: a bug (proxy ns/a)')
  const ofAnother = problem('Gateway', 'two', 'is bad')
  report('ns/c', { bindings: bindings({ state: 'bound' }, 'two') }, 'two')
  report('ns/b', { bindings: bound, problems: [ofAnother] })
  expect(programmed('two'), 'the proxy of another Gateway').toEqual(PROGRAMMED)
  report('ns/b', undefined)
  expect(translator.findings).toMatchObject([
    { origin: { kind: 'Gateway', name: 'one' }, code: 'proxy-refuses', gateway: 'Gateway/default/one' },
  ])
})

test('codes of newer proxies, and warnings', () => {
  const { translator, report, statusOf } = translated()
  const policyProblem = problem('ProxyPolicy', 'p', 'is bad')
  report('ns/a', { problems: [{ ...policyProblem, code: 'of-tomorrow', severity: 'warning' }] })
  expect(translator.findings).toMatchObject([
    { code: 'proxy-refuses', severity: 'warning', message: 'is bad (proxy ns/a)' },
  ])
  expect(textOf(statusOf('ProxyPolicy', 'p').conditions, 'Accepted')).toBe('True/Valid: Policy accepted')
})
