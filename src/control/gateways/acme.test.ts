import { expect, test } from 'vitest'
import type { GatewayObject } from '#api/gateway.ts'
import type { ApiObject } from '#api/object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { inventoryOf } from '../context/inventory.ts'
import { translate } from '../translate.ts'
import { wantedCertificates } from './acme.ts'

const STAGING = 'https://acme-staging-v02.api.letsencrypt.org/directory'
const HTTP = { name: 'http', port: 80, protocol: 'HTTP' }

function https(name: string, hostname: string | undefined, secret: object = { name: 'door' }) {
  const tls = { certificateRefs: [secret] }
  return { name, port: 443, protocol: 'HTTPS', tls, ...(hostname !== undefined && { hostname }) }
}

function gatewayOf(annotation: string | undefined, ...listeners: readonly object[]): ApiObject {
  const annotations = annotation === undefined ? {} : { 'gatewright.dev/acme': annotation }
  return admitObject({
    kind: 'Gateway',
    metadata: { name: 'main', annotations },
    spec: { gatewayClassName: 'gatewright', listeners },
  })
}

const wantedOf = (...objects: readonly ApiObject[]) =>
  wantedCertificates(
    objects.filter(({ kind }) => kind === 'Gateway') as readonly ApiObject[] as unknown as readonly GatewayObject[],
    inventoryOf(objects),
  ).map(({ gateways, ...wanted }) => ({ ...wanted, gateways: gateways.length }))

function findingsOf(...objects: readonly ApiObject[]): readonly string[] {
  const { findings } = translate(objects)
  return findings
    .filter(({ code }) => /acme|certificate|secret|annotation/.test(code))
    .map(({ severity, code, path, message }) => `${severity} ${code} ${path}: ${message}`)
}

test('listeners that name the same Secret share a certificate', () => {
  const gateway = gatewayOf(
    'letsencrypt-staging, mailto:ops@a.test',
    HTTP,
    https('b', 'b.test'),
    https('a', 'a.test'),
    https('c', 'c.test', { name: 'other' }),
  )
  const common = { directory: STAGING, contacts: ['mailto:ops@a.test'], gateways: 1 }
  expect(wantedOf(gateway)).toEqual([
    { ...common, secret: { namespace: 'default', name: 'door' }, hostnames: ['a.test', 'b.test'] },
    { ...common, secret: { namespace: 'default', name: 'other' }, hostnames: ['c.test'] },
  ])
  expect(findingsOf(gateway)[0]).toBe(
    `warning certificate-awaited spec.listeners[1].tls.certificateRefs[0]: Secret default/door does not exist yet: a gateway with a state folder asks ${STAGING} for the certificate`,
  )
  expect(wantedOf(gatewayOf(undefined, HTTP, https('a', 'a.test')))).toEqual([])
})

test('a Secret of the user is left alone', () => {
  const secret = admitObject({
    kind: 'Secret',
    metadata: { name: 'door' },
    stringData: { 'tls.crt': '', 'tls.key': '' },
  })
  expect(wantedOf(gatewayOf('letsencrypt', HTTP, https('a', 'a.test')), secret)).toEqual([])
})

test.each([
  ['no hostname', [HTTP, https('a', undefined)], 'the listener has no hostname'],
  ['a wildcard', [HTTP, https('a', '*.a.test')], 'http-01 proves no wildcard such as *.a.test'],
  [
    'no HTTP listener for the host',
    [{ ...HTTP, hostname: '*.b.test' }, https('a', 'a.test')],
    'no HTTP listener of this Gateway takes a.test, so nothing would answer the challenge',
  ],
])('%s: no certificate is asked for, and a finding says why', (_, listeners, why) => {
  const gateway = gatewayOf('letsencrypt', ...listeners)
  expect(wantedOf(gateway)).toEqual([])
  expect(findingsOf(gateway)).toEqual([
    `error acme-not-possible spec.listeners[1].tls.certificateRefs[0]: Secret default/door not found, and the gateway cannot ask for a certificate: ${why}`,
  ])
})

test.each(['letsencript', 'http://ca.test/directory', 'https://user@ca.test/', 'letsencrypt, ops@a.test', ''])(
  'the annotation %j is refused',
  (text) => {
    const gateway = gatewayOf(text, HTTP)
    expect(wantedOf(gateway)).toEqual([])
    const [finding] = findingsOf(gateway)
    expect(finding).toContain('error annotation-value metadata.annotations[gatewright.dev/acme]: ')
    expect(finding).toContain('no certificate is asked for')
    const { statuses } = translate([gateway])
    expect(JSON.stringify(statuses)).toContain('PartiallyInvalid')
  },
)

test('on Kubernetes the annotation has no effect', () => {
  const gateway = gatewayOf('letsencrypt', HTTP, https('a', 'a.test'))
  const addresses = {
    assign: () => '0.0.0.0',
    release: () => {},
    none: '',
    serviceOf: () => ({ namespace: 'default', name: 'main' }),
  }
  const codes = translate([gateway], { addresses }).findings.map(({ code }) => code)
  expect(codes).toContain('acme-not-possible')
  expect(codes).toContain('secret-not-found')
  expect(codes).not.toContain('certificate-awaited')
})

test('only HTTP listeners of such a Gateway answer challenges, with the thumbprint of the process', () => {
  const thumbprints = (annotation: string | undefined) => {
    const { items } = translate([gatewayOf(annotation, HTTP, https('a', 'a.test'))], { acmeThumbprint: () => 'thumb' })
    return [...items.values()].flatMap((item) => (item.kind === 'listener' ? [[item.name, item.acmeThumbprint]] : []))
  }
  expect(thumbprints('letsencrypt')).toEqual([
    ['http', 'thumb'],
    ['a', undefined],
  ])
  expect(thumbprints(undefined)).toEqual([
    ['http', undefined],
    ['a', undefined],
  ])
})
