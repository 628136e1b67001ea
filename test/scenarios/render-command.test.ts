import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { gatewright } from '../support/command-line.ts'
import { createObjectsFolder } from '../support/objects-folder.ts'

const GATEWAYS = `
kind: Gateway
apiVersion: gateway.networking.k8s.io/v1
metadata: { name: good }
spec: { gatewayClassName: gatewright, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
kind: Gateway
apiVersion: gateway.networking.k8s.io/v1
metadata: { name: foreign }
spec: { gatewayClassName: foreign, listeners: [{ name: http, port: 80, protocol: HTTP }] }
`

const FOREIGN_CLASS = `
---
kind: GatewayClass
apiVersion: gateway.networking.k8s.io/v1
metadata: { name: foreign }
spec: { controllerName: example.com/other }
`

const BAD = `
---
kind: Gateway
apiVersion: gateway.networking.k8s.io/v1
metadata: { name: bad }
spec:
  gatewayClassName: gatewright
  infrastructure: { parametersRef: { group: gatewright.dev, kind: ProxyParameters, name: own } }
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
kind: ProxyParameters
apiVersion: gatewright.dev/v1alpha1
metadata: { name: own }
spec:
  deployment:
    spec: { selector: {} , template: { spec: { serviceAccountName: admin } } }
`

test('render prints the objects of all Gateways of its classes as YAML without aliases', async () => {
  const folder = await createObjectsFolder({ 'gateways.yaml': GATEWAYS + FOREIGN_CLASS })
  onTestFinished(folder.remove)
  const { code, stdout, stderr } = await gatewright(['render', folder.path, '--controller', 'https://c.test:1'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const documents = parseAllDocuments(stdout).map((document) => document.toJS())
  expect(documents.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
    'ConfigMap default/good',
    'ServiceAccount default/good',
    'Service default/good',
    'Deployment default/good',
  ])
  expect(documents[3].spec.template.spec.containers[0].args).toContain('https://c.test:1')
  expect(stdout).toContain('# The controller also creates Secret default/good-session-key, with a random key.')
  expect(stdout).not.toMatch(/[&*]a\d/)
})

test('problems of parameters go to standard error with their places, and other Gateways are printed', async () => {
  const folder = await createObjectsFolder({ 'gateways.yaml': GATEWAYS + FOREIGN_CLASS + BAD })
  onTestFinished(folder.remove)
  const { code, stdout, stderr } = await gatewright(['render', '-f', folder.path])
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^gatewright: 1 error\n\S+gateways\.yaml:32:5: error: spec\.deployment\.spec: ProxyParameters default\/own: the overlay changes spec\.template\.spec\.serviceAccountName of the Deployment, which the gateway depends on; remove the change \[parameters-invalid\]\n$/,
  )
  expect(stdout).toContain('# Nothing is applied for Gateway default/bad.')
  expect(stdout).toContain('kind: Deployment')
})

test('a Gateway that no controller serves', async () => {
  const folder = await createObjectsFolder({ 'gateways.yaml': GATEWAYS.replaceAll('gatewright', 'gatewrite') })
  onTestFinished(folder.remove)
  const { code, stdout, stderr } = await gatewright(['render', folder.path])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(
    'GatewayClass gatewrite not found; no controller serves this Gateway, did you mean "gatewright"?',
  )
})

test('a command without objects', async () => {
  expect((await gatewright(['render', 'does-not-exist'])).code).toBe(1)
})
