import { connect } from 'node:net'
import { expect } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

function allowOnly(range: string): string {
  const policy = { matchExpressions: [`cidr("${range}").containsIP(source.address)`] }
  return policyYaml('network', 'Gateway', 'main', { frontend: { networkAuthorization: { policy } } })
}

/** What a connection says before it ends; it sends nothing itself. */
function listenTo(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

verifies(
  ['frontend.networkAuthorization/before-protocol', 'frontend.networkAuthorization/source-address'],
  'a connection that no rule allows is closed before a byte of HTTP, and the rule follows edits',
  async () => {
    await using stops = new AsyncDisposableStack()
    const echo = await startEcho({ port: 0 })
    stops.defer(echo.close)
    const port = await freePort()
    const folder = await createObjectsFolder({
      'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('all', '/', 'echo')),
      'network.yaml': allowOnly('10.0.0.0/8'),
    })
    stops.defer(folder.remove)
    const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))

    expect(await listenTo(port)).toBe('')
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    await eventually('the log says so', () => gateway.output.stdout.includes('reason=Authorization') || undefined)

    await folder.write('network.yaml', allowOnly('127.0.0.0/8'))
    await eventually(
      'the caller is let in',
      async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 200 || undefined,
    )
  },
)
