import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { Translator } from '#control/translator.ts'
import { PlanCheck } from '#engine/plan/check-plan.ts'
import { NO_COUNTER } from '#exchange/token-counter.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { RemoteKeySets } from '#policies/shared/authentication/remote-key-set.ts'
import { CloudCredentials } from '#policies/shared/clouds/cloud-credential.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { createCloudServices } from '#workers/cloud-services.ts'
import { importKey } from '#workers/import-key.ts'
import { DIRECT_CHECKER } from '#workers/passwords/direct-checker.ts'
import { testSealer } from '../support/test-sealer.ts'

const { server, ca } = CERTIFICATES
const SECRET_ENTRIES = [
  'accessKey',
  'secretKey',
  'clientID',
  'tenantID',
  'clientSecret',
  'Authorization',
  'key',
  'credentials',
]

/** What examples refer to, each named `known`, and routes that use the object under test. */
const WORLD = [
  {
    kind: 'Gateway',
    metadata: { name: 'known', labels: { entry: 'known' } },
    spec: {
      gatewayClassName: 'gatewright',
      listeners: [{ name: 'known', port: 8080, protocol: 'HTTP' }],
      allowedListeners: { namespaces: { from: 'All' } },
    },
  },
  {
    kind: 'Gateway',
    metadata: { name: 'known-bytes' },
    spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'known', port: 8081, protocol: 'TCP' }] },
  },
  {
    kind: 'Gateway',
    metadata: { name: 'known-tls' },
    spec: {
      gatewayClassName: 'gatewright',
      listeners: [{ name: 'known', port: 8082, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
    },
  },
  { kind: 'Gateway', metadata: { name: 'foreign' }, spec: { gatewayClassName: 'foreign', listeners: [] } },
  { kind: 'GatewayClass', metadata: { name: 'foreign' }, spec: { controllerName: 'example.com/foreign' } },
  {
    kind: 'HTTPRoute',
    metadata: { name: 'known' },
    spec: {
      parentRefs: [{ name: 'known' }],
      rules: [
        {
          name: 'known',
          backendRefs: ['known', 'known-ai', 'known-mcp', 'subject'].map((name) => ({
            group: 'gatewright.dev',
            kind: 'ProxyBackend',
            name,
          })),
        },
      ],
    },
  },
  { kind: 'Service', metadata: { name: 'known' }, spec: { ports: [{ name: 'known', port: 80 }] } },
  {
    kind: 'EndpointSlice',
    metadata: { name: 'known', labels: { 'kubernetes.io/service-name': 'known' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'] }],
    ports: [{ name: 'known', port: 9000 }],
  },
  { kind: 'ProxyBackend', metadata: { name: 'known' }, spec: { static: { host: '127.0.0.1', port: 9000 } } },
  {
    kind: 'ProxyBackend',
    metadata: { name: 'known-ai' },
    spec: { ai: { provider: { providerOne: {} } }, policies: { auth: { key: 'known' } } },
  },
  {
    kind: 'ProxyBackend',
    metadata: { name: 'known-mcp' },
    spec: { mcp: { targets: [{ name: 'known', static: { host: '127.0.0.1', port: 9000 } }] } },
  },
  {
    kind: 'Secret',
    metadata: { name: 'known', labels: { entry: 'known' } },
    stringData: {
      'tls.crt': server.cert,
      'tls.key': server.key,
      'ca.crt': ca,
      'ca.cert': ca,
      ...Object.fromEntries(SECRET_ENTRIES.map((entry) => [entry, 'known'])),
    },
  },
  { kind: 'ConfigMap', metadata: { name: 'known' }, data: { 'ca.crt': ca } },
  { kind: 'ProxyParameters', metadata: { name: 'known' }, spec: {} },
]

/** A gateway without sockets: it translates and compiles one object among others. */
export class World {
  readonly #translator: Translator
  readonly #check: PlanCheck
  #subject: ApiObject | undefined

  constructor() {
    const memory = createSlotMemory(4096, false)
    const directory = new SlotDirectory(memory)
    const keySets = new RemoteKeySets(importKey)
    const slotOf = (key: string) => directory.assign(key)
    const valuesOf = (key: string) => directory.valuesOf(key)
    this.#translator = new Translator({ tlsMaterial: TLS_MATERIAL })
    const crypto = { tlsMaterial: TLS_MATERIAL, importKey, passwords: DIRECT_CHECKER, sealer: testSealer() }
    const services = {
      ...crypto,
      tokenCounter: NO_COUNTER,
      clouds: createCloudServices(new CloudCredentials(), {}),
      keySets,
    }
    this.#check = new PlanCheck({ memory, slotOf, valuesOf, ...services })
    this.#apply(WORLD.map(admitObject), [])
  }

  /** The findings on an object, in place of the one before. */
  findingsOn(subject: ApiObject): readonly Finding[] {
    const before = this.#subject
    const isSame = before?.kind === subject.kind
    this.#apply([subject], before === undefined || isSame ? [] : [before])
    this.#subject = subject
    return this.#translator.findings.filter(({ origin }) => origin.kind === subject.kind && origin.name === 'subject')
  }

  #apply(set: readonly ApiObject[], removed: readonly ApiObject[]): void {
    const { problems } = this.#check.take(this.#translator.apply({ set, removed }))
    this.#translator.noteProblems(problems)
  }
}
