import { expect, test } from 'vitest'
import { codeOf } from '#policies/shared/testing.ts'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'

/** A configured protection that is not implemented refuses all requests, and is reported (decision A-36). */

const SERVER = { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' } }
const JWKS = { jwksPath: '/keys', ...SERVER }
const guards = (promptGuard: object) => ({ backend: { ai: { promptGuard } } })

const MODELS = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec: { ai: { provider: { providerOne: {} } } }
`
const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })

const policies: [what: string, spec: object, code: string][] = [
  ['a guard with a webhook', guards({ request: [{ webhook: SERVER }] }), 'prompt-guard-failed'],
  ['a guard of responses', guards({ response: [{ regex: { builtins: ['Email'] } }] }), 'prompt-guard-failed'],
]

for (const [what, spec, code] of policies) {
  test(`${what} refuses`, async () => {
    const objects = [gatewayYaml(8080), backendYaml('web', 9000), MODELS, routeYaml('all', '/', 'models')]
    const yaml = joinYaml(...objects, policyYaml('tested', 'Gateway', 'main', spec))
    const seen = await seeRequest(yaml, { method: 'POST', target: '/v1/chat/completions', body: CHAT })
    expect(codeOf(seen.outcome ?? (await seen.attempt()))).toBe(code)
    const [finding] = seen.findings.filter(({ severity }) => severity === 'error')
    expect(finding).toMatchObject({ message: expect.stringMatching(/not implemented yet.*refused/) })
  })
}

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
