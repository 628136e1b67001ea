import { expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'

/** More than two parts of a plan. */
const ROUTES = 1200

function objects(port: number): string {
  const routes = Array.from(
    { length: ROUTES },
    (_, at) => `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: route-${at} }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { value: /route-${at} } }]
      filters: [{ type: RequestRedirect, requestRedirect: { path: { type: ReplaceFullPath, replaceFullPath: /to-${at} } } }]
`,
  )
  return `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  listeners: [{ name: http, protocol: HTTP, port: ${port} }]
${routes.join('')}`
}

test('a worker gets all routes of a big configuration', async () => {
  const port = await freePort()
  const folder = await createObjectsFolder({ 'objects.yaml': objects(port) })
  await using gateway = await startGateway({ files: [folder.path], workers: 1 })
  const wrong: string[] = []
  for (let at = 0; at < ROUTES; at += 7) {
    const { headers } = await fetch(`${gateway.url(port)}/route-${at}`, { redirect: 'manual' })
    if (!headers.get('location')?.endsWith(`/to-${at}`)) wrong.push(`route-${at}: ${headers.get('location')}`)
  }
  await folder.remove()
  expect(wrong).toEqual([])
})
