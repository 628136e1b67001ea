import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startReadinessServer } from '#admin/readiness-server.ts'
import { writeRunningNote } from '#cli/running-note.ts'
import type { Instance } from '#instance/instance.ts'
import { StateFolder } from '#instance/state-folder.ts'
import { waitForNote, waitForReadiness } from './wait-for-note.ts'

const instance = { adminUrl: 'http://127.0.0.1:15100', ports: { metrics: 15_120, readiness: 15_121 } } as Instance

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'gatewright-note-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

const stateIn = (path: string) => new StateFolder(path, true, () => {})

test('a gateway is ready when its own note is whole', async () => {
  await using state = await folder()
  await writeFile(join(state.path, 'gateway.json'), '{\n  "admin"')
  const waiting = waitForNote(state.path, new AbortController().signal, 30_000)
  writeRunningNote(stateIn(state.path), instance)
  expect(await waiting).toMatchObject({ admin: 'http://127.0.0.1:15100', metricsPort: 15_120 })
})

test('a gateway that ended is never ready, even if another one is', async () => {
  await using own = await folder()
  await using other = await folder()
  writeRunningNote(stateIn(other.path), instance)
  const gone = new AbortController()
  const waiting = waitForNote(own.path, gone.signal, 30_000)
  gone.abort()
  expect(await waiting).toBeUndefined()
})

test('a gateway that runs is ready when it says so, and otherwise the reason is returned', async () => {
  let reasons = ['no Gateway exists']
  const server = await startReadinessServer({
    host: '127.0.0.1',
    port: 0,
    whyNotReady: () => reasons,
    reportBug: (error) => expect.unreachable(String(error)),
  })
  const gateway = { readinessPort: server.port }
  const here = new AbortController().signal
  expect(await waitForReadiness(gateway, here, 0)).toBe('not ready: no Gateway exists')
  expect(await waitForReadiness(gateway, AbortSignal.abort(), 30_000), 'it has ended').toBe(undefined)
  const waiting = waitForReadiness(gateway, here, 30_000)
  reasons = []
  expect(await waiting).toBe(undefined)
  await server.close()
  expect(await waitForReadiness(gateway, here, 0)).toContain(`port ${server.port} for readiness does not answer`)
})
