import { expect, test } from 'vitest'
import type { Origin } from '#base/origin.ts'
import type { RejectionCode } from '#base/rejections.ts'
import { causeOf, type Passage, passedPolicies, policyRecords } from './passage.ts'

const chain = (stage: 'pre-routing' | 'post-routing' | 'backend', ...fields: readonly string[]) => ({
  policies: fields.map((field) => ({
    stage,
    field,
    sources: [{ origin: { kind: 'ProxyPolicy', namespace: 'default', name: field }, path: `spec.${field}` }],
  })),
})
const NOTHING = { reached: -1, timesMs: undefined }
const object = (kind: string, name: string): Origin => ({ kind, namespace: 'default', name })

function passage(values: Partial<Passage>): Passage {
  return {
    listener: { item: { origin: object('Gateway', 'main') } },
    rule: { item: { origin: object('HTTPRoute', 'shop'), rule: 1 } },
    backend: { item: { origin: object('ProxyBackend', 'web') } },
    preRouting: chain('pre-routing', 'a', 'b'),
    preProgress: NOTHING,
    postRouting: chain('post-routing', 'c', 'd'),
    postProgress: NOTHING,
    endpoint: { chain: chain('backend', 'e') },
    backendProgress: NOTHING,
    ...values,
  }
}

test('the policies that ran, with their times', () => {
  const passed = passedPolicies(
    passage({
      preProgress: { reached: 1, timesMs: [10, 11, 14] },
      postProgress: { reached: 0, timesMs: [20, 20.5] },
    }),
  )
  const records = policyRecords(passed, 8)
  expect(records.map(({ stage, field, startMs, durationMs }) => [stage, field, startMs, durationMs])).toEqual([
    ['pre-routing', 'a', 2, 1],
    ['pre-routing', 'b', 3, 3],
    ['post-routing', 'c', 12, 0.5],
  ])
  expect(records[2]!.sources).toEqual([{ origin: object('ProxyPolicy', 'c'), path: 'spec.c' }])
})

test('a policy whose request was abandoned has no end', () => {
  const passed = passedPolicies(passage({ backendProgress: { reached: 0, timesMs: [10, NaN] } }))
  expect(policyRecords(passed, 8)).toMatchObject([{ field: 'e', startMs: 2, durationMs: 0 }])
})

test('without policies nothing is kept', () => {
  expect(passedPolicies(passage({}))).toBe(passedPolicies(passage({ listener: undefined })))
})

const causes: readonly (readonly [
  values: Partial<Passage>,
  refusal: RejectionCode | undefined,
  reason: string,
  by: string | undefined,
])[] = [
  [{}, undefined, 'Upstream', undefined],
  [{ listener: undefined, rule: undefined, backend: undefined }, 'listener-not-found', 'NotFound', undefined],
  [{ rule: undefined, backend: undefined }, 'route-not-found', 'NotFound', 'Gateway main spec.listeners'],
  [{ backend: undefined }, 'no-valid-backends', 'NoHealthyBackend', 'HTTPRoute shop spec.rules[1].backendRefs'],
  [{}, 'upstream-failed', 'UpstreamFailure', 'ProxyBackend web '],
  [{}, 'upstream-timeout', 'Timeout', 'ProxyBackend web '],
  [{}, 'mcp-tool-changed', 'MCP', 'ProxyBackend web metadata.annotations'],
  [{}, 'path-invalid', 'InvalidRequest', undefined],
]

for (const [values, refusal, reason, by] of causes) {
  test(`the cause of ${refusal ?? 'no refusal'} is ${by ?? 'no object'}`, () => {
    const cause = causeOf(passage(values), { refusal, reason: reason as never })
    expect(cause?.sources.map(({ origin, path }) => `${origin.kind} ${origin.name} ${path}`).join()).toBe(by)
  })
}
