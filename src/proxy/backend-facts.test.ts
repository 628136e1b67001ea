import { expect, test } from 'vitest'
import type { BackendFact } from '#plan/backend-fact.ts'
import { BackendFacts } from './backend-facts.ts'

test('what only configuration can mend is told once for each backend and plan', () => {
  const told: BackendFact[] = []
  const facts = new BackendFacts((fact) => told.push(fact))
  facts.learn('a', 'e:1', 'connection-refused')
  facts.learn('a', 'e:1', 'not-http2')
  facts.learn('a', 'e:2', 'not-http2')
  facts.learn('b', 'e:1', 'not-http2')
  expect(told).toEqual([
    { backend: 'a', code: 'backend-not-http2', endpoint: 'e:1' },
    { backend: 'b', code: 'backend-not-http2', endpoint: 'e:1' },
  ])
  facts.forget()
  facts.learn('a', 'e:1', 'not-http2')
  expect(told).toHaveLength(3)
})
