import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import type { EndpointName, Session } from '#exchange/session.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import { PlanIndex } from '../lookups/plan-index.ts'
import type { LiveRule } from './live-listener.ts'
import { chooseForAttempt, chooseReference, sessionNameOf } from './session-endpoint.ts'

const endpoint = (label: string, evicted = false, section?: string) =>
  ({ label, section, health: { evicted, score: 0 } }) as unknown as LiveEndpoint

function backend(key: string, groups: readonly (readonly LiveEndpoint[])[], more: object = {}): LiveBackend {
  return { item: { key }, groups, refusal: undefined, ...more } as unknown as LiveBackend
}

const bound = (name: string, endpoint: string): Session => {
  const at: EndpointName = { backend: name, endpoint }
  return { bound: at, startMs: 0, used: undefined }
}
const NEW: Session = { bound: undefined, startMs: 0, used: undefined }

const [a1, a2, b1, gone] = [endpoint('a1'), endpoint('a2'), endpoint('b1'), endpoint('a3', true)]
const A = backend('A', [[a1], [a2, gone]])
const B = backend('B', [[b1]])

const attempt = (
  session: Session | undefined,
  tried: readonly LiveEndpoint[] = [],
  unfit: readonly LiveEndpoint[] = [],
) => {
  const earlier = { tried, unfit: unfit.map((each) => ({ endpoint: each, refusal: reject('llm-body-invalid') })) }
  return chooseForAttempt(A, session, earlier, () => 0)?.label
}

test('an attempt goes to the endpoint of the session, whatever its priority', () => {
  expect(attempt(bound('A', 'a2'))).toBe('a2')
  expect([attempt(undefined), attempt(NEW), attempt(bound('A', 'a1'))]).toEqual(['a1', 'a1', 'a1'])
})

test('an endpoint that is gone, evicted, tried, or of another backend does not count', () => {
  expect(attempt(bound('A', 'a9'))).toBe('a1')
  expect(attempt(bound('A', 'a3'))).toBe('a1')
  expect(attempt(bound('A', 'a2'), [a2])).toBe('a1')
  expect(attempt(bound('B', 'a2'))).toBe('a1')
})

test('an endpoint that cannot take the request is never chosen, rather one that was tried or is evicted', () => {
  expect(attempt(undefined, [], [a1])).toBe('a2')
  expect(attempt(bound('A', 'a2'), [], [a2])).toBe('a1')
  expect(attempt(undefined, [a2], [a1])).toBe('a2')
  expect(attempt(undefined, [], [a1, a2])).toBe('a3')
  expect(attempt(undefined, [a2], [a1, a2, gone])).toBeUndefined()
})

test('a provider is named by its section', () => {
  expect([sessionNameOf(endpoint('h:443', false, 'one')), sessionNameOf(endpoint('h:443'))]).toEqual(['one', 'h:443'])
})

type Weighted = readonly [backend: LiveBackend | undefined, weight: number]

/** The backend of a request, of references with these weights. */
function chosen(session: Session | undefined, ...references: Weighted[]) {
  return choose(session, references, 0)?.reference.backend
}

function choose(session: Session | undefined, references: readonly Weighted[], random: number) {
  const rule = {
    backends: references.map(([live, weight], index) => ({
      reference: { backend: live?.item.key, weight, path: `backendRefs[${index}]` },
      backend: { get: () => live },
    })),
    totalWeight: references.reduce((sum, [, weight]) => sum + weight, 0),
  } as unknown as LiveRule
  return chooseReference(rule, session, PlanIndex.EMPTY, () => random)
}

test('a session takes precedence over weights, even of 0', () => {
  expect([chosen(undefined, [A, 1], [B, 1]), chosen(NEW, [A, 1], [B, 1])]).toEqual(['A', 'A'])
  expect([chosen(bound('B', 'b1'), [A, 1], [B, 1]), chosen(bound('B', 'b1'), [A, 1], [B, 0])]).toEqual(['B', 'B'])
})

test('without its endpoint the request stays at the backend, unless the weight is 0', () => {
  expect([chosen(bound('B', 'b9'), [A, 1], [B, 1]), chosen(bound('B', 'b9'), [A, 1], [B, 0])]).toEqual(['B', 'A'])
})

test('a backend that is not referenced, missing or refused is not chosen for a session', () => {
  expect(chosen(bound('C', 'c1'), [A, 1], [B, 1])).toBe('A')
  expect(chosen(bound('B', 'b1'), [A, 1], [undefined, 1])).toBe('A')
  expect(chosen(bound('B', 'b1'), [A, 1], [backend('B', [[b1]], { refusal: {} }), 1])).toBe('A')
})

test.for([
  [
    'a weight of 0 is not used when another reference leads to the backend',
    [
      [A, 0],
      [A, 1],
    ],
    0,
    'backendRefs[1]',
  ],
  [
    'weights choose between references to the backend: the first',
    [
      [A, 1],
      [B, 98],
      [A, 1],
    ],
    0.49,
    'backendRefs[0]',
  ],
  [
    'weights choose between references to the backend: the last',
    [
      [A, 1],
      [B, 98],
      [A, 1],
    ],
    0.51,
    'backendRefs[2]',
  ],
  [
    'of several with a weight of 0 none is used',
    [
      [A, 0],
      [A, 0],
      [B, 1],
    ],
    0,
    'backendRefs[2]',
  ],
] as const)('references to one backend differ in their filters: %s', ([, references, random, path]) => {
  expect(choose(bound('A', 'a2'), references, random)?.reference.path).toBe(path)
})
