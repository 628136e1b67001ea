import { expect, test } from 'vitest'
import type { Origin } from '#base/origin.ts'
import type { RejectionCode } from '#base/rejections.ts'
import { causeOf, NOTHING_PASSED, type Passage, policyRecords } from './passage.ts'

/** A phase that came to the policy before the last time. */
function phase(stage: 'pre-routing' | 'post-routing' | 'backend', fields: string, timesMs: readonly number[]) {
  const policies = [...fields].map((field) => ({
    stage,
    field,
    sources: [{ origin: object('ProxyPolicy', field), path: `spec.${field}` }],
  }))
  return { policies, reached: timesMs.length - 2, timesMs }
}
const object = (kind: string, name: string): Origin => ({ kind, namespace: 'default', name })

function passage(values: Partial<Passage>): Passage {
  return {
    listener: { item: { origin: object('Gateway', 'main') } },
    rule: { item: { origin: object('HTTPRoute', 'shop'), rule: 1 } },
    backend: { item: { origin: object('ProxyBackend', 'web') } },
    ...NOTHING_PASSED,
    ...values,
  }
}

test('the policies that ran, with their times', () => {
  const passed = {
    ...NOTHING_PASSED,
    preProgress: phase('pre-routing', 'ab', [10, 11, 14]),
    postProgress: phase('post-routing', 'cd', [20, 20.5]),
  }
  const records = policyRecords(passed, 8)
  expect(records.map(({ stage, field, startMs, durationMs }) => [stage, field, startMs, durationMs])).toEqual([
    ['pre-routing', 'a', 2, 1],
    ['pre-routing', 'b', 3, 3],
    ['post-routing', 'c', 12, 0.5],
  ])
  expect(records[2]!.sources).toEqual([{ origin: object('ProxyPolicy', 'c'), path: 'spec.c' }])
})

test('a policy whose request was abandoned has no end', () => {
  const passed = { ...NOTHING_PASSED, backendProgress: phase('backend', 'e', [10, NaN]) }
  expect(policyRecords(passed, 8)).toMatchObject([{ field: 'e', startMs: 2, durationMs: 0 }])
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
