import { expect, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { Profiles } from './profiles.ts'
import { recordProfile } from './record-profile.ts'

const request = { profile: 'cpu', durationMs: 1000 } as const
const PROFILE = { kind: 'profile', text: '{}' } as const

test('one profile at a time; the next one when it is recorded', async () => {
  const profiles = new Profiles()
  const sent: unknown[] = []
  const first = profiles.record('w1', request, (wanted) => sent.push(wanted))
  expect(await profiles.record('w2', request, () => sent.push('never'))).toEqual({ kind: 'busy' })
  profiles.recorded('w2', PROFILE)
  profiles.recorded('w1', PROFILE)
  expect(await first).toEqual(PROFILE)
  const second = profiles.record('w2', request, () => {})
  profiles.recorded('w2', PROFILE)
  expect(await second).toEqual(PROFILE)
  expect(sent).toEqual([request])
})

test('a worker that ends or does not answer fails its profile, and no other', async () => {
  vi.useFakeTimers()
  const profiles = new Profiles()
  const ended = profiles.record('w1', request, () => {})
  profiles.forget('w2')
  profiles.forget('w1')
  expect(await ended).toEqual({ kind: 'failed', cause: 'the worker has ended' })
  const late = profiles.record('w1', request, () => {})
  await vi.advanceTimersByTimeAsync(11_000)
  expect(await late).toEqual({ kind: 'failed', cause: 'the worker did not answer in time' })
  profiles.recorded('w1', PROFILE)
  vi.useRealTimers()
})

test('a CPU profile names functions, and a heap profile what allocated', async () => {
  let isBusy = true
  const spin = () => {
    let sum = 0
    for (let i = 0; i < 100_000; i++) sum += Math.sqrt(i)
    if (isBusy) setImmediate(spin)
    return sum
  }
  spin()
  // On a busy machine the thread may hardly run in this time.
  await eventually('a profile with the function', async () => {
    const cpu = JSON.parse(await recordProfile('cpu', 100)) as { nodes: { callFrame: { functionName: string } }[] }
    return cpu.nodes.some(({ callFrame }) => callFrame.functionName === 'spin')
  })
  isBusy = false
  const heap = JSON.parse(await recordProfile('heap', 10)) as { head: object; samples: unknown[] }
  expect(heap.head).toMatchObject({ callFrame: { functionName: '(root)' } })
})
