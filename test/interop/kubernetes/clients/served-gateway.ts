import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#test/support/free-port.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'

/** Objects that the gateway has from a file. */
function objects(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gatewright }
spec: { controllerName: gatewright.dev/controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  listeners: [{ name: http, protocol: HTTP, port: ${port} }]
`
}

/** A gateway with its API, for clients in other processes. */
export async function startServedGateway(stops: AsyncDisposableStack) {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-clients-'))
  stops.defer(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  const port = await freePort()
  writeFileSync(file, objects(port))
  const stateFolder = join(folder, 'state')
  const gateway = await startGatewayProcess({
    files: [file],
    workers: 1,
    stateFolder,
    environment: { GATEWRIGHT_API_ADDR: '127.0.0.1:0' },
  })
  stops.use(gateway)
  return { gateway, folder, url: `http://127.0.0.1:${port}`, kubeconfig: join(stateFolder, 'kubeconfig') }
}
