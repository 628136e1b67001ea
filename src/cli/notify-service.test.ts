import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { startGateway } from '#test/support/gateway.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { notifyService } from './notify-service.ts'

/** In place of the program of systemd: it writes what it would send. */
function fakeProgram(): { readonly folder: string; sent(): string } {
  const folder = temporaryFolder()
  const [program, sent] = [join(folder, 'systemd-notify'), join(folder, 'sent')]
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> "${sent}"\n`)
  chmodSync(program, 0o755)
  writeFileSync(sent, '')
  return { folder, sent: () => readFileSync(sent, 'utf8') }
}

test('systemd hears when a gateway is ready, and when it stops', async () => {
  const systemd = fakeProgram()
  const environment = { PATH: systemd.folder, NOTIFY_SOCKET: '/run/systemd/notify' }
  const gateway = await startGateway({ files: [temporaryFolder()], workers: 1, environment })
  const ready = '/run/systemd/notify READY=1\n'
  await eventually('the gateway is ready', () => systemd.sent() === ready || undefined)
  await gateway.close()
  const stopping = `${ready}/run/systemd/notify STOPPING=1\n`
  await eventually('the gateway stops', () => systemd.sent() === stopping || undefined)
})

test('a state that cannot be sent is logged', async () => {
  const lines: unknown[] = []
  const environment = { PATH: temporaryFolder(), NOTIFY_SOCKET: '/run/systemd/notify' }
  notifyService('READY=1', environment, (...line) => lines.push(line))
  await eventually('a line of the log', () => lines.length || undefined)
  const cause = expect.stringContaining('systemd-notify')
  expect(lines).toEqual([['workers', 'warn', 'systemd cannot be notified', { state: 'READY=1', cause }]])
})
