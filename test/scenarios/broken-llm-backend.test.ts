import { expect, test } from 'vitest'
import { refusalStatus } from '#exchange/outcome.ts'
import { gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { seeRequest } from '#test/support/see-request.ts'

const MODELS = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec:
  ai: { provider: { providerOne: {} } }
  policies: { auth: { secretRef: { name: provider-key } } }
`

test('without the Secret of its provider, a backend refuses in the format of the client; operators see the Secret', async () => {
  const yaml = joinYaml(gatewayYaml(8080), MODELS, routeYaml('all', '/', 'models'))
  const request = { method: 'POST', target: '/v1/chat/completions', body: '{"model":"m","messages":[]}' }
  const { exchange, decision, outcome } = await seeRequest(yaml, request)
  if (outcome?.kind !== 'refusal') throw new Error('nothing refuses')
  expect([outcome.code, refusalStatus(outcome)]).toEqual(['backend-invalid', 500])
  expect(outcome.detail).toContain('Secret default/provider-key')
  const answer = decision.backend?.protocol.refuse?.(exchange, outcome)
  expect(answer?.contentType).toBe('application/json')
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: { message: expect.any(String) } })
})
