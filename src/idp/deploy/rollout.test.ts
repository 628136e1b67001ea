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
  [{ ...done, observedGeneration: 3 }, 'complete'],
  [{ ...done, updatedReplicas: 2, replicas: 2, availableReplicas: 2 }, 'complete'],
  [{ ...done, conditions: null }, 'complete'],
  [{ ...done, conditions: [{ type: 'Progressing', reason: 'NewReplicaSetAvailable' }] }, 'complete'],
  [{ ...done, conditions: [{ type: 'Available', reason: 'ProgressDeadlineExceeded' }] }, 'complete'],
  // The condition is about an older generation.
  [
    {
      ...done,
      observedGeneration: 1,
      conditions: [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }],
    },
    'waiting',
  ],
])('the status %j', (status, state) => {
  expect(rolloutState({ metadata: { generation: 2 }, spec: { replicas: 1 }, status }).state).toBe(state)
})

test.each([
  [undefined, undefined],
  [null, undefined],
  [{ loadBalancer: {} }, undefined],
  [{ loadBalancer: null }, undefined],
  [{ loadBalancer: { ingress: null } }, undefined],
  [{ loadBalancer: { ingress: [] } }, undefined],
  [{ loadBalancer: { ingress: [null] } }, undefined],
  [{ loadBalancer: { ingress: [{ ip: '', hostname: '' }] } }, undefined],
  [{ loadBalancer: { ingress: [{ ports: [] }, { ip: '10.0.0.2' }] } }, '10.0.0.2'],
  [{ loadBalancer: { ingress: [{ ip: '', hostname: 'lb.example' }] } }, 'lb.example'],
  [{ loadBalancer: { ingress: [{ ip: '10.0.0.1', hostname: 'lb.example' }] } }, '10.0.0.1'],
  [{ loadBalancer: { ingress: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }] } }, 'fd00::1'],
  [{ loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } }, '10.0.0.1'],
  [{ loadBalancer: { ingress: [{ hostname: 'lb.example' }] } }, 'lb.example'],
])('the address in %j', (status, address) => {
  expect(loadBalancerAddress({ status })).toBe(address)
})

test('the state says why it waits, and why it has failed', () => {
  const whyOf = (status: object, replicas = 1) => {
    const state = rolloutState({ metadata: { generation: 2 }, spec: { replicas }, status })
    return 'why' in state ? state.why : undefined
  }
  const stuck = { type: 'Progressing', reason: 'ProgressDeadlineExceeded' }
  expect([
    whyOf({}),
    whyOf({ ...done, updatedReplicas: 0 }),
    whyOf(done, 2),
    whyOf({ ...done, replicas: 3 }),
    whyOf({ ...done, availableReplicas: 0 }),
    whyOf({ ...done, conditions: [{ ...stuck, message: 'no image' }] }),
    whyOf({ ...done, conditions: [stuck] }),
    whyOf(done),
  ]).toEqual([
    'the Deployment has not been observed yet',
    '0 of 1 replicas are updated',
    '1 of 2 replicas are updated',
    '2 old replicas are left',
    '0 of 1 replicas are available',
    'no image',
    'its deadline has passed',
    undefined,
  ])
})
