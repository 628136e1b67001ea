import { expect, test } from 'vitest'
import { expressionsIn } from '#schema/index.ts'
import { proxyPolicy } from './proxy-policy.ts'

test('expressionsIn finds the expressions of a policy with their paths', () => {
  const backendRef = { name: 'a', port: 1 }
  const policy = {
    spec: {
      frontend: { tracing: { backendRef, randomSampling: '0.1' } },
      traffic: {
        authorization: { policy: { matchExpressions: ['a', 'b'] } },
        transformation: { conditional: [{ condition: 'c', policy: { request: { metadata: { 'k-1': 'd' } } } }] },
        extAuth: { backendRef, grpc: {}, cache: { key: ['e'], ttl: '5m' } },
      },
      backend: { extAuth: { backendRef, grpc: {}, cache: { key: ['f'], ttl: 'duration("5m")' } } },
    },
  }
  expect([...expressionsIn(proxyPolicy, policy)]).toEqual([
    { expression: '0.1', path: 'spec.frontend.tracing.randomSampling' },
    { expression: 'a', path: 'spec.traffic.authorization.policy.matchExpressions[0]' },
    { expression: 'b', path: 'spec.traffic.authorization.policy.matchExpressions[1]' },
    { expression: 'c', path: 'spec.traffic.transformation.conditional[0].condition' },
    { expression: 'd', path: 'spec.traffic.transformation.conditional[0].policy.request.metadata[k-1]' },
    { expression: 'e', path: 'spec.traffic.extAuth.cache.key[0]' },
    { expression: 'f', path: 'spec.backend.extAuth.cache.key[0]' },
    { expression: 'duration("5m")', path: 'spec.backend.extAuth.cache.ttl' },
  ])
})
