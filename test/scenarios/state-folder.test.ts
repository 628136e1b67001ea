import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { gatewayYaml } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

test('a gateway whose working directory cannot be written runs, and logs that its state is in memory', async () => {
  const objects = writeObjects(await freePort())
  // Not even root can create a folder there.
  await using gateway = await startGatewayProcess({ files: [objects], workers: 1, folder: '/proc' })
  expect((await fetch(`${gateway.url(15_021)}/healthz/live`)).status).toBe(200)
  expect(await gateway.close()).toBe(0)
  const { stderr } = gateway.output
  expect(stderr).toContain(
    '\twarn\tthe state folder cannot be written; state is kept in memory only folder=.gatewright cause=',
  )
  expect(stderr).not.toMatch(/\n\s+at /)
})

test('a folder that --state names and that cannot be used is refused before anything listens', async () => {
  const file = join(temporaryFolder(), 'state')
  writeFileSync(file, '')
  const objects = writeObjects(await freePort())
  const start = startGateway({ files: [objects], workers: 1, stateFolder: file })
  const failure: Error = await start.then(
    () => expect.unreachable(),
    (error) => error,
  )
  expect(failure.message).toMatch(/^the gateway ended with code 1:\n.*\terror\tthe gateway cannot start .*\n$/)
  expect(failure.message).toContain(`cause="the state folder ${file} cannot be used: it is not a folder"`)
})

function writeObjects(port: number): string {
  const file = join(temporaryFolder(), 'all.yaml')
  writeFileSync(file, gatewayYaml(port))
  return file
}
