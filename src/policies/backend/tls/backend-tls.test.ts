import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { tls } from './index.ts'
import { backendTls } from './schema.ts'

const pem = (what: string) => `-----BEGIN ${what}-----\n...`
const CERT = pem('CERTIFICATE')
const KEY = pem('PRIVATE KEY')
const CA = `${pem('CERTIFICATE')} ca`
const OTHER_CA = `${pem('CERTIFICATE')} other`

const INPUTS = {
  secrets: {
    client: { 'tls.crt': CERT, 'tls.key': KEY },
    'with-ca': { 'tls.crt': CERT, 'tls.key': KEY, 'ca.cert': CA, 'ca.crt': OTHER_CA },
    'with-ca-crt': { 'tls.crt': CERT, 'tls.key': KEY, 'ca.crt': CA },
    'bad-ca': { 'tls.crt': CERT, 'tls.key': KEY, 'ca.cert': 'nothing' },
    keyless: { 'tls.crt': CERT },
  },
  configMaps: { trust: { 'ca.crt': OTHER_CA }, empty: {} },
}

function compile(written: object) {
  const context = contextWith(INPUTS)
  const setting = tls.compile([sourceOf(specFrom(backendTls, written))], context)
  return { setting, reports: context.reports }
}

const NOTHING = {
  serverName: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  verify: 'full',
  subjectAltNames: undefined,
  alpn: undefined,
  groups: undefined,
  refusal: undefined,
}

test('without fields: the CAs of the system and the hostname of the destination', () => {
  expect(compile({})).toEqual({ setting: NOTHING, reports: [] })
  expect(tls.compile([], contextWith())).toBeUndefined()
})

verifies('backend.tls/mtlsCertificateRef-ca', 'certificate, key and CA of the Secret', () => {
  expect(compile({ mtlsCertificateRef: [{ name: 'client' }] }).setting).toEqual({ ...NOTHING, cert: CERT, key: KEY })
  for (const name of ['with-ca', 'with-ca-crt']) {
    expect(compile({ mtlsCertificateRef: [{ name }] }).setting).toEqual({ ...NOTHING, cert: CERT, key: KEY, ca: CA })
  }
})

verifies('backend.tls/caCertificateRefs-wins', 'the CA of the ConfigMap takes precedence', () => {
  const caCertificateRefs = [{ name: 'trust' }]
  expect(compile({ caCertificateRefs }).setting).toEqual({ ...NOTHING, ca: OTHER_CA })
  expect(compile({ caCertificateRefs, mtlsCertificateRef: [{ name: 'with-ca' }] }).setting?.ca).toBe(OTHER_CA)
})

test('several ConfigMaps count together', () => {
  const inputs = { configMaps: { ...INPUTS.configMaps, more: { 'ca.crt': CA } } }
  const spec = { caCertificateRefs: [{ name: 'trust' }, { name: 'more' }] }
  expect(tls.compile([sourceOf(spec)], contextWith(inputs))?.ca).toBe(`${OTHER_CA}\n${CA}`)
})

test('a policy that cannot be applied refuses as a broken backend', () => {
  const source = { ...sourceOf({ sni: 'a.test' }), broken: 'no certificate authority can be used' }
  expect(tls.compile([source], contextWith(INPUTS))?.refusal).toMatchObject({
    code: 'backend-invalid',
    detail: 'TLS to the backend: no certificate authority can be used',
  })
})

test('verification', () => {
  expect(compile({ insecureSkipVerify: 'All' }).setting?.verify).toBe('none')
  expect(compile({ insecureSkipVerify: 'Hostname' }).setting?.verify).toBe('chain-only')
})

verifies('backend.tls/sni', 'sni is the name of the server', () => {
  expect(compile({ sni: 'a.test' }).setting?.serverName).toBe('a.test')
})

const refused: [written: object, reports: string[]][] = [
  [{ mtlsCertificateRef: [{ name: 'absent' }] }, ['certificate-missing spec.traffic.field.mtlsCertificateRef[0]']],
  [{ mtlsCertificateRef: [{ name: 'keyless' }] }, ['certificate-missing spec.traffic.field.mtlsCertificateRef[0]']],
  [{ mtlsCertificateRef: [{ name: 'bad-ca' }] }, ['certificate-missing spec.traffic.field.mtlsCertificateRef[0]']],
  [{ caCertificateRefs: [{ name: 'absent' }] }, ['certificate-missing spec.traffic.field.caCertificateRefs[0]']],
  [{ caCertificateRefs: [{ name: 'empty' }] }, ['certificate-missing spec.traffic.field.caCertificateRefs[0]']],
]
for (const [written, reports] of refused) {
  test(`never weaker than configured: ${JSON.stringify(written)}`, () => {
    const compiled = compile(written)
    expect(compiled.reports).toEqual(reports)
    expect(compiled.setting?.refusal?.code).toBe('backend-invalid')
  })
}

test('names, protocols and groups', () => {
  const written = {
    verifySubjectAltNames: ['a.test', 'spiffe://b.test/c'],
    alpnProtocols: ['h2', 'http/1.1'],
    keyExchangeGroups: ['X25519_MLKEM768', 'P-256'],
  }
  const { setting, reports } = compile(written)
  expect(setting).toEqual({
    ...NOTHING,
    subjectAltNames: written.verifySubjectAltNames,
    alpn: written.alpnProtocols,
    groups: 'X25519MLKEM768/P-256',
  })
  expect(reports).toEqual([])
})
