import { expect, test } from 'vitest'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'

/** A configured protection that is not implemented refuses all requests, and is reported (decision A-36). */

const SERVER = { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' } }
const JWKS = { jwksPath: '/keys', ...SERVER }

test('backend.mcp.authentication refuses', async () => {
  const tools = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: one, static: { host: 127.0.0.1, port: 9000 } }] } }
`
  const spec = { backend: { mcp: { authentication: { mode: 'Permissive', jwks: JWKS } } } }
  const objects = [gatewayYaml(8080), backendYaml('web', 9000), tools, routeYaml('all', '/', 'tools')]
  const yaml = joinYaml(...objects, policyYaml('tested', 'ProxyBackend', 'tools', spec))
  const { findings } = await seeRequest(yaml)
  expect(findings).toMatchObject([
    { severity: 'error', message: expect.stringMatching(/not implemented yet; every request .* refused/) },
  ])
})
