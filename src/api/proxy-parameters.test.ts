import { fieldOf } from '#test/support/field.ts'
import { verifies } from '#test/support/verifies.ts'

const spec = (withHole: (x: unknown) => object) => fieldOf('ProxyParameters', (x) => ({ spec: withHole(x) }))
const strings = { good: ['x', ''], bad: { 'wrong-type': [1, null, []] }, optional: true } as const

verifies('parameters/spec-required', 'a ProxyParameters has a spec', () =>
  fieldOf('ProxyParameters', (x) => ({ spec: x })).is({ good: [{}], required: true }),
)

verifies('parameters/status-optional', 'status is optional and empty', () =>
  fieldOf('ProxyParameters', (x) => ({ spec: {}, status: x })).is({ good: [{}], optional: true }),
)

verifies('parameters.logging/format-values', 'logging.format is json or text', () =>
  spec((format) => ({ logging: { format } })).is({
    good: ['json', 'text'],
    bad: { 'unknown-value': ['JSON', 'yaml'] },
    optional: true,
  }),
)

verifies('parameters.rawConfig/object', 'rawConfig is any JSON object', () =>
  spec((rawConfig) => ({ rawConfig })).is({
    good: [{}, { config: { logging: { level: 'debug' } }, list: [1, null] }],
    bad: { 'wrong-type': ['x', [], 1, null] },
    optional: true,
  }),
)

verifies('parameters.image/strings', 'the parts of image are strings', () => {
  for (const part of ['registry', 'repository', 'tag', 'digest', 'pullPolicy']) {
    spec((x) => ({ image: { [part]: x } })).is(strings)
  }
})

verifies('parameters.mesh/additionalTrustDomains-form', 'additionalTrustDomains is a list of strings', () =>
  spec((additionalTrustDomains) => ({ mesh: { additionalTrustDomains } })).is({
    good: [[], ['a.test', 'b.test']],
    bad: { 'wrong-type': ['a.test'] },
    optional: true,
  }),
)

const seconds = {
  good: [0, 31_536_000],
  bad: { 'out-of-range': [-1, 31_536_001], 'wrong-type': ['10s', 1.5] },
  required: true,
} as const

verifies(['parameters.shutdown/min-required', 'parameters.shutdown/min-range'], 'shutdown.min is 0 to 31536000', () => {
  spec((min) => ({ shutdown: { min, max: 31_536_000 } })).is(seconds)
  spec((min) => ({ shutdown: { min, max: 10 } })).is({ good: [10], bad: { inconsistent: [11] } })
})

verifies(['parameters.shutdown/max-required', 'parameters.shutdown/max-range'], 'shutdown.max is 0 to 31536000', () =>
  spec((max) => ({ shutdown: { min: 0, max } })).is(seconds),
)

verifies('platform/env-var', 'a variable has a name and a value or a source', () => {
  spec((x) => ({ env: [x] })).is({
    good: [
      { name: 'A', value: '$(B)' },
      { name: 'A' },
      { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
      { name: 'A', valueFrom: { configMapKeyRef: { name: 's', key: 'k' } } },
      { name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
    ],
  })
  spec((name) => ({ env: [{ name, value: 'x' }] })).is({ bad: { 'too-short': [''] }, required: true })
  spec((value) => ({ env: [{ name: 'A', value }] })).is({ bad: { 'wrong-type': [1, true] }, optional: true })
})

verifies('platform/resource-requirements', 'resources has limits, requests and claims', () => {
  spec((resources) => ({ resources })).is({
    good: [{ limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: 1 } }, { claims: [{ name: 'gpu' }] }],
    bad: { 'wrong-type': ['x'] },
    optional: true,
  })
  spec((x) => ({ resources: { limits: { 'nvidia.com/gpu': x } } })).is({
    good: [1, '1', '1.5Gi'],
    bad: { 'invalid-quantity': ['1 Gi', 'many'] },
  })
})

verifies('parameters.overlay/labels-form', 'labels of an overlay is a map of strings', () =>
  spec((labels) => ({ deployment: { metadata: { labels } } })).is({
    good: [{ a: 'b', c: '' }],
    bad: { 'wrong-type': [['a']] },
  }),
)

verifies('parameters.overlay/annotations-form', 'annotations of an overlay is a map of strings', () =>
  spec((annotations) => ({ service: { metadata: { annotations } } })).is({
    good: [{ a: 'b' }],
    bad: { 'wrong-type': ['a'] },
  }),
)
