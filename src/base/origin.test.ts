import { expect, test } from 'vitest'
import { describeOrigin, type Origin } from './origin.ts'

const KEYS: Origin = { kind: 'ProxyPolicy', namespace: 'default', name: 'keys' }

test.each<[origin: Origin, text: string]>([
  [KEYS, 'ProxyPolicy default/keys'],
  [{ ...KEYS, file: 'policies.yaml' }, 'ProxyPolicy default/keys (policies.yaml)'],
  [{ ...KEYS, file: 'policies.yaml', line: 12 }, 'ProxyPolicy default/keys (policies.yaml:12)'],
  [{ kind: 'GatewayClass', namespace: '', name: 'gatewright' }, 'GatewayClass gatewright'],
])('%j', (origin, text) => expect(describeOrigin(origin)).toBe(text))
