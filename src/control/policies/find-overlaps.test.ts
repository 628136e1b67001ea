import { expect, test } from 'vitest'
import { Stages } from '#base/incremental/stage.ts'
import type { LevelName, PolicyItem } from '#plan/item.ts'
import { verifies } from '#test/support/verifies.ts'
import { partialStage, tieStage } from '../stages/policy-stages.ts'
import { createTables } from '../stages/tables.ts'
import { writePolicies } from '../stages/write-policies.ts'
import { describeOverlaps } from './describe-overlaps.ts'
import type { Overlap } from './find-overlaps.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/shop'

interface Written {
  readonly name: string
  readonly field?: string
  readonly spec: unknown
  readonly target?: string
  readonly level?: LevelName
  readonly phase?: 'PreRouting'
  readonly created?: string
}

function item({
  name,
  field = 'traffic.rateLimit',
  spec,
  target = GATEWAY,
  level = 'Gateway',
  phase,
  created = '',
}: Written): PolicyItem {
  const [section, member] = field.split('.') as [PolicyItem['section'], string]
  const item = {
    kind: 'policy',
    key: `${target}/${field}/${phase}/${name}`,
    section,
    phase,
    field: member,
    target,
    level,
    spec,
    origin: { kind: 'ProxyPolicy', namespace: 'default', name },
    path: `spec.${field}`,
    created,
  }
  return item as PolicyItem
}

const onRoute = { target: ROUTE, level: 'Route' } as const

/** The overlaps between policies; the route is inside the Gateway. */
function findOverlaps(items: readonly PolicyItem[]): readonly Overlap[] {
  const tables = createTables()
  const stages = new Stages()
  stages.add({
    name: 'given',
    each: [tables.always],
    writes: [tables.policiesAt, tables.partial, tables.workloadReaders, tables.enclosing],
    run(_, work) {
      writePolicies(tables, work, items)
      work.write(tables.enclosing, ROUTE, GATEWAY)
    },
  })
  stages.add(tieStage(tables))
  stages.add(partialStage(tables))
  tables.always.put('all', '', [true])
  stages.update()
  return tables.overlaps.keys().flatMap((key) => tables.overlaps.rows(key))
}

const LOCAL = { local: [] }
const GLOBAL = { global: {} }

test.each<readonly [string, readonly Written[], string]>([
  ['one policy', [{ name: 'a', spec: LOCAL }], ''],
  [
    'two policies for one target',
    [
      { name: 'b', spec: LOCAL },
      { name: 'a', spec: LOCAL },
    ],
    'traffic.rateLimit is overridden by ProxyPolicy default/a at Gateway/default/main (its name is first)',
  ],
  [
    'the older of two',
    [
      { name: 'b', spec: LOCAL, created: '1' },
      { name: 'a', spec: LOCAL, created: '2' },
    ],
    'traffic.rateLimit is overridden by ProxyPolicy default/b at Gateway/default/main (it is older)',
  ],
  [
    'an object in a file and one of an API',
    [
      { name: 'a', spec: LOCAL, created: '1' },
      { name: 'b', spec: LOCAL },
    ],
    'traffic.rateLimit is overridden by ProxyPolicy default/b at Gateway/default/main (it is in a file)',
  ],
  [
    'two phases',
    [
      { name: 'a', spec: {}, field: 'traffic.cors' },
      { name: 'b', spec: {}, field: 'traffic.cors', phase: 'PreRouting' },
    ],
    '',
  ],
  [
    'two fields',
    [
      { name: 'a', spec: LOCAL },
      { name: 'b', spec: {}, field: 'traffic.csrf' },
    ],
    '',
  ],
  [
    'rule sets',
    [
      { name: 'a', spec: {}, field: 'traffic.authorization' },
      { name: 'b', spec: {}, field: 'traffic.authorization' },
    ],
    '',
  ],
  [
    'MCP rule sets',
    [
      { name: 'a', spec: { authorization: {} }, field: 'backend.mcp' },
      { name: 'b', spec: { authorization: {} }, field: 'backend.mcp' },
    ],
    '',
  ],
  [
    'the rest of MCP settings',
    [
      { name: 'a', spec: { authentication: {} }, field: 'backend.mcp' },
      { name: 'b', spec: { authorization: {}, authentication: {} }, field: 'backend.mcp' },
    ],
    'backend.mcp is overridden by ProxyPolicy default/a at Gateway/default/main (its name is first)',
  ],
  [
    'an equal narrower policy',
    [
      { name: 'a', spec: LOCAL },
      { name: 'b', spec: LOCAL, ...onRoute },
    ],
    '',
  ],
  [
    'a narrower policy with other members',
    [
      { name: 'a', spec: { ...LOCAL, ...GLOBAL } },
      { name: 'b', spec: LOCAL, ...onRoute },
    ],
    'traffic.rateLimit (global) is overridden by ProxyPolicy default/b at HTTPRoute/default/shop',
  ],
  [
    'a narrower policy of a field without members',
    [
      { name: 'a', spec: { a: 1 }, field: 'traffic.cors' },
      { name: 'b', spec: {}, field: 'traffic.cors', ...onRoute },
    ],
    '',
  ],
  [
    'MCP rules under narrower settings',
    [
      { name: 'a', spec: { authorization: {} }, field: 'backend.mcp' },
      { name: 'b', spec: { authentication: {} }, field: 'backend.mcp', ...onRoute },
    ],
    '',
  ],
  [
    'a tie that also loses members',
    [
      { name: 'a', spec: LOCAL },
      { name: 'b', spec: GLOBAL },
      { name: 'c', spec: LOCAL, ...onRoute },
    ],
    'traffic.rateLimit is overridden by ProxyPolicy default/a at Gateway/default/main (its name is first)',
  ],
  [
    'two policies, of which one has no guards',
    [
      { name: 'a', spec: {}, field: 'backend.ai' },
      { name: 'b', spec: { promptGuard: { request: [] } }, field: 'backend.ai' },
    ],
    'backend.ai is overridden by ProxyPolicy default/a at Gateway/default/main (its name is first), which protects less: it has no promptGuard',
  ],
  [
    'two policies, of which one guards only responses',
    [
      { name: 'a', spec: { promptGuard: { response: [] } }, field: 'backend.ai' },
      { name: 'b', spec: { promptGuard: { request: [], response: [] } }, field: 'backend.ai' },
    ],
    'backend.ai is overridden by ProxyPolicy default/a at Gateway/default/main (its name is first), which protects less: it has no promptGuard.request',
  ],
  [
    'guards of requests under a narrower policy that guards only responses',
    [
      { name: 'a', spec: { promptGuard: { request: [] } }, field: 'backend.ai' },
      { name: 'b', spec: { promptGuard: { response: [] } }, field: 'backend.ai', ...onRoute },
    ],
    'backend.ai (promptGuard.request) is overridden by ProxyPolicy default/b at HTTPRoute/default/shop',
  ],
  [
    'guards under a narrower policy with guards of the same directions',
    [
      { name: 'a', spec: { promptGuard: { request: [] } }, field: 'backend.ai' },
      { name: 'b', spec: { promptGuard: { request: [], response: [] } }, field: 'backend.ai', ...onRoute },
    ],
    '',
  ],
  [
    'four narrower policies',
    [
      { name: 'a', spec: GLOBAL },
      ...['b', 'c', 'd', 'e'].map((name) => ({
        name,
        spec: LOCAL,
        target: ROUTE,
        level: (['Route', 'RouteRule', 'RouteFilter', 'Listener'] as const)['bcde'.indexOf(name)]!,
      })),
    ],
    'traffic.rateLimit (global) is overridden by ProxyPolicy default/b at HTTPRoute/default/shop, ProxyPolicy default/c at HTTPRoute/default/shop, ProxyPolicy default/d at HTTPRoute/default/shop and 1 more',
  ],
])('overlap of %s', (_, written, expected) => {
  expect(describeOverlaps(findOverlaps(written.map(item)))).toBe(expected)
})

test('sections of the object itself are named without it', () => {
  const target = 'ProxyBackend/default/llm'
  const loser = item({ name: 'llm', spec: {}, field: 'backend.ai', target })
  const overlaps = ['one', 'two', 'three', 'four'].map((ownSection): Overlap => {
    const at = `${target}/${ownSection}`
    return {
      loser,
      lost: ['routes'],
      at,
      by: `ProxyBackend default/llm at ${at}`,
      ownSection,
      weakens: false,
      unprotected: [],
    }
  })
  expect(describeOverlaps(overlaps)).toBe(
    'backend.ai (routes) is overridden by those of sections one, two, three and 1 more',
  )
  expect(describeOverlaps(overlaps.slice(1, 2))).toBe('backend.ai (routes) is overridden by that of section two')
})

verifies('policy/merge-field-by-field', 'different fields of two policies do not overlap', () => {
  const written = [
    { name: 'a', spec: {}, field: 'backend.tcp' },
    { name: 'b', spec: {}, field: 'backend.tls' },
  ]
  expect(findOverlaps(written.map(item))).toEqual([])
})
