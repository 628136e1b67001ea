import { expect, test } from 'vitest'
import type { BackendFact } from '#plan/backend-fact.ts'
import { BackendFacts } from './backend-facts.ts'

test('a failure that only configuration can fix is reported once per backend and plan', () => {
  const reported: BackendFact[] = []
  const facts = new BackendFacts((fact) => reported.push(fact))
  facts.record('a', 'e:1', 'connection-refused')
  facts.record('a', 'e:1', 'not-http2')
  facts.record('a', 'e:2', 'not-http2')
  facts.record('b', 'e:1', 'not-http2')
  expect(reported).toEqual([
    { backend: 'a', code: 'backend-not-http2', at: 'e:1' },
    { backend: 'b', code: 'backend-not-http2', at: 'e:1' },
  ])
  facts.reset()
  facts.record('a', 'e:1', 'not-http2')
  expect(reported).toHaveLength(3)
})
