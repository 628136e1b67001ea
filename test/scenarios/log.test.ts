import { execFileSync } from 'node:child_process'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml } from '#test/support/objects-folder.ts'

async function objects(text: string): Promise<string> {
  const folder = await createObjectsFolder({ 'all.yaml': text })
  onTestFinished(folder.remove)
  return folder.path
}

test('with JSON every line of both logs is an object; the flag is stronger than the environment', async () => {
  const port = await freePort()
  const path = await objects(gatewayYaml(port))
  const gateway = await startGateway({
    files: [path],
    workers: 1,
    arguments: ['--log-format', 'json', '--log-level', 'debug'],
    environment: { GATEWRIGHT_LOG_FORMAT: 'text' },
  })
  const { output } = gateway
  await using _ = gateway
  await fetch(`http://127.0.0.1:${port}/`)
  await gateway.close()
  const linesOf = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(linesOf(output.stdout)).toMatchObject([{ level: 'info', scope: 'request', 'http.status': 404 }])
  const told = linesOf(output.stderr)
  for (const line of told) expect(line).toMatchObject({ time: expect.any(String), scope: 'gateway' })
  expect(told).toContainEqual(expect.objectContaining({ level: 'debug', message: 'plan in force', version: 1 }))
  expect(told).toContainEqual(expect.objectContaining({ message: 'listening', url: `http://127.0.0.1:${port}` }))
  expect(told.slice(-2)).toMatchObject([
    { message: 'shutting down; requests in flight may finish', 'accept.seconds': 0 },
    { message: 'stopped' },
  ])
})

test('a gateway that cannot start logs the reason', async () => {
  const path = await objects(gatewayYaml(await freePort()))
  await using first = await startGateway({ files: [path], workers: 1 })
  const admin = new URL(first.url(15_000)).host
  const second = startGateway({ files: [path], workers: 1, environment: { GATEWRIGHT_ADMIN_ADDR: admin } })
  await expect(second).rejects.toThrow(/ended with code 1:\n\S+\terror\tthe gateway cannot start cause=".*in use/)
})

test('a named pipe is the access log: without a reader the gateway starts and serves; the reader gets every line', async () => {
  const port = await freePort()
  const folder = await createObjectsFolder({ 'all.yaml': gatewayYaml(port) })
  onTestFinished(folder.remove)
  const pipe = join(folder.path, 'access-log')
  execFileSync('mkfifo', [pipe])
  const requests = 200
  await using gateway = await startGateway({
    files: [join(folder.path, 'all.yaml')],
    workers: 1,
    environment: { GATEWRIGHT_ACCESS_LOG: pipe },
  })
  for (let i = 0; i < requests; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/${i}/${'x'.repeat(3000)}`)
    expect(response.status).toBe(404)
  }
  await using reader = await open(pipe, 'r')
  let got = ''
  const bytes = Buffer.alloc(64 * 1024)
  while (got.split('\n').length <= requests) {
    const { bytesRead } = await reader.read(bytes)
    got += bytes.toString('utf8', 0, bytesRead)
  }
  expect(got.split('\n').filter((line) => line.includes('http.status=404'))).toHaveLength(requests)
  expect(gateway.output.stderr).not.toContain('cannot be written')
}, 60_000)

test('status shows outputs that cannot be written; the gateway serves and stays ready', async () => {
  const port = await freePort()
  const folder = await createObjectsFolder({ 'all.yaml': gatewayYaml(port) })
  onTestFinished(folder.remove)
  const records = join(folder.path, 'records')
  await using gateway = await startGateway({
    files: [join(folder.path, 'all.yaml')],
    workers: 2,
    arguments: ['--records', records],
    environment: { GATEWRIGHT_ACCESS_LOG: '/dev/full' },
  })
  const status = async () => await gatewright(['status', '--admin', gateway.url(15_000)])
  expect((await status()).stdout).not.toContain('outputs that cannot be written')
  await rm(records, { recursive: true })
  await writeFile(records, 'no folder')
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  const { code, stdout } = await eventually('both fail', async () => {
    const shown = await status()
    return shown.stdout.includes('decision records:') && shown.stdout.includes('access log:') ? shown : undefined
  })
  expect([code, stdout.split('\n')[0]]).toEqual([0, 'ready'])
  expect(stdout).toMatch(
    /\noutputs that cannot be written\n {2}access log: \/dev\/full: ENOSPC since 20\S+Z, 0 lost\n {2}decision records: ENOTDIR since /,
  )
  expect((await fetch(`${gateway.url(15_021)}/healthz/ready`)).status).toBe(200)
})
