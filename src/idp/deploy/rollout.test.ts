import { expect, test } from 'vitest'
import { loadBalancerAddress, rolloutState } from './rollout.ts'

const done = { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }

test.each([
  [done, 'complete'],
  [{}, 'waiting'],
  [{ ...done, observedGeneration: 1 }, 'waiting'],
  [{ ...done, updatedReplicas: 0 }, 'waiting'],
  [{ ...done, replicas: 2 }, 'waiting'],
  [{ ...done, availableReplicas: 0 }, 'waiting'],
  [{ ...done, conditions: [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }] }, 'failed'],
])('the status %j', (status, state) => {
  expect(rolloutState({ metadata: { generation: 2 }, spec: { replicas: 1 }, status }).state).toBe(state)
})

test.each([
  [undefined, undefined],
  [{ loadBalancer: {} }, undefined],
  [{ loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } }, '10.0.0.1'],
  [{ loadBalancer: { ingress: [{ hostname: 'lb.example' }] } }, 'lb.example'],
])('the address in %j', (status, address) => {
  expect(loadBalancerAddress({ status })).toBe(address)
})
