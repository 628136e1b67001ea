import { BroadcastChannel } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buffersOf, createSlotMemory } from '#state/slots.ts'
import { eventually } from '#test/support/eventually.ts'
import { readSessionKeys } from './sealer.ts'
import { type StartThread, startThreadOf, WorkerPool } from './worker-pool.ts'

const startSpinning = startThreadOf(new URL('./testing/spinning-worker.ts', import.meta.url))

interface Replaced {
  readonly name: string
  readonly why: string
  readonly cause: string
}

/** A pool of two workers that run on an empty plan, and one of which can be made to spin. */
async function startPool(tuning: {
  readonly stuckAfterMs: number
  readonly answerMs?: number
  readonly startThread?: StartThread
}) {
  const replaced: Replaced[] = []
  const ended: string[] = []
  let applied = 0
  const slots = buffersOf(createSlotMemory(16, true, 3))
  const pool = new WorkerPool(
    2,
    {
      slots,
      logFormat: 'text',
      version: '0.0.0',
      logFile: '/dev/null',
      sessionKeys: readSessionKeys({}),
      bodyMemoryBytes: 2 ** 20,
      recordBodyBytes: 0,
      writesRecords: false,
      transport: 'auto',
      forwardTo: [],
    },
    {
      applied: () => applied++,
      replaced: (name, why, cause) => replaced.push({ name, why, cause }),
      metrics: () => {},
      lastRecords: () => {},
      ended: (name) => ended.push(name),
      fact: () => {},
      askedForKept: () => {},
      exports: () => {},
      fullWorkersChanged: () => {},
      log: () => {},
      message: () => {},
      bug: (_, stack) => {
        throw new Error(stack)
      },
    },
    { startThread: startSpinning, ...tuning },
  )
  // What makes a worker spin is heard in every pool of this thread.
  onTestFinished(() => pool.drain(0, 0))
  const nothing = { delta: { version: 1, set: [], removed: [] }, slots: { assigned: [], freed: [] }, secrets: [] }
  pool.publish({ ...nothing, sockets: [], everything: () => nothing })
  await eventually('both workers run', () => applied > 0)
  return { pool, replaced, ended, slots }
}

function spin(name: string): void {
  const channel = new BroadcastChannel('spin')
  channel.postMessage(name)
  channel.close()
}

test('a worker that spins is replaced, and the cause is reported; the others stay', async () => {
  const { pool, replaced, ended } = await startPool({ stuckAfterMs: 1000 })
  spin('w1')
  await eventually('another worker on the plan', () => {
    const { members } = pool
    return replaced.length > 0 && members.length === 2 && members.every(({ planVersion }) => planVersion === 1)
  })
  expect(replaced).toEqual([{ name: 'w1', why: 'stuck', cause: 'its event loop has been blocked for 1 s' }])
  expect(pool.members.map(({ name }) => name)).toEqual(['w2', 'w3'])
  await eventually('its thread is gone', () => ended.length > 0)
  expect(ended).toEqual(['w1'])
})

test('records: a worker that does not answer is named, and the others are not waited for', async () => {
  const { pool, replaced } = await startPool({ stuckAfterMs: 600_000, answerMs: 1000 })
  spin('w2')
  await eventually('w2 alone is silent', async () => (await pool.records()).unanswered.join() === 'w2')
  const asked = pool.records()
  await pool.kill('w2')
  expect(await asked, 'one that dies has no records').toEqual({ records: [], unanswered: [] })
  expect(replaced).toEqual([{ name: 'w2', why: 'died', cause: 'the thread ended' }])
})

test('asking for records leaves no state, and only workers are profiled', async () => {
  const { pool } = await startPool({ stuckAfterMs: 600_000 })
  expect(await pool.profile('w9', { profile: 'cpu', durationMs: 1 })).toEqual({
    kind: 'failed',
    cause: 'there is no such worker',
  })
  const warned = vi.spyOn(process, 'emitWarning')
  for (let i = 0; i < 30; i++) expect((await pool.records()).unanswered).toEqual([])
  expect(warned).not.toHaveBeenCalled()
  warned.mockRestore()
})

test('no worker drains before all of them have stopped accepting', async () => {
  const startThread = startThreadOf(new URL('./testing/stopping-worker.ts', import.meta.url))
  const { pool, slots } = await startPool({ stuckAfterMs: 600_000, startThread })
  await pool.drain(30_000, 30_000)
  expect([...new Int32Array(slots.words).subarray(3, 5)]).toEqual([2, 2])
})
