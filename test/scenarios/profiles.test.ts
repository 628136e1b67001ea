import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder, gatewayYaml } from '#test/support/objects-folder.ts'

test('profiles of one worker are recorded one at a time while it serves, and none after its gateway has ended', async () => {
  await using stops = new AsyncDisposableStack()
  const port = await freePort()
  const folder = await createObjectsFolder({ 'gateway.yaml': gatewayYaml(port) })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGatewayProcess({ files: [folder.path], workers: 2 }))
  const admin = gateway.url(15_000)
  const file = join(folder.path, 'worker.cpuprofile')
  const recording = gatewright(['profile', '--worker', 'w2', '--seconds', '1', '--out', file, '--admin', admin])
  const statuses: number[] = []
  let isOver = false
  const recorded = recording.finally(() => {
    isOver = true
  })
  while (!isOver) {
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
    const { status } = await fetch(`${admin}/profile/heap?seconds=61`)
    statuses.push(status)
    await sleep(20)
  }
  expect(await recorded).toMatchObject({ code: 0, stderr: '' })
  expect(new Set(statuses)).toEqual(new Set([400]))
  const { nodes } = JSON.parse(readFileSync(file, 'utf8')) as { nodes: { callFrame: { url: string } }[] }
  expect(nodes.length).toBeGreaterThan(1)

  const [one, other] = await Promise.all(
    ['w1', 'w2'].map(async (worker) => fetch(`${admin}/profile/heap?worker=${worker}&seconds=1`)),
  )
  expect([one!.status, other!.status].toSorted()).toEqual([200, 409])

  const unknown = await gatewright(['profile', 'heap', '--worker', 'w9', '--admin', admin])
  expect([unknown.code, unknown.stderr]).toEqual([2, 'gatewright: worker must be one of w1, w2\n'])
  const kind = await gatewright(['profile', 'disk', '--admin', admin])
  expect([kind.code, kind.stderr]).toEqual([2, 'gatewright: unknown profile type `disk`; use cpu or heap\n'])
  const nowhere = join(folder.path, 'no-such-folder', 'x')
  const unwritten = await gatewright(['profile', '--seconds', '1', '--out', nowhere, '--admin', admin])
  expect([unwritten.code, existsSync(nowhere)]).toEqual([1, false])

  const cut = fetch(`${admin}/profile/cpu?seconds=60`)
  await gateway.close()
  const answered = await cut.then(
    ({ status }) => status,
    () => 'closed',
  )
  expect(answered).not.toBe(200)
})
