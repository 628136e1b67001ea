import { expect, test } from 'vitest'
import type { Finding } from '#base/finding.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { withBindings, withCompileProblems } from './complete-translation.ts'
import { translate } from './translate.ts'
import type { Binding, Translation } from './translation.ts'

const gateway = {
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: {
    gatewayClassName: 'gatewright',
    listeners: [
      { name: 'a', port: 8080, protocol: 'HTTP' },
      { name: 'b', port: 8081, protocol: 'HTTP' },
    ],
  },
}

const policy = {
  kind: 'ProxyPolicy',
  metadata: { name: 'rules' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
    traffic: {
      authorization: { policy: { matchExpressions: ['1 +'] } },
      basicAuthentication: { secretRef: { name: 'gone' } },
    },
  },
}

const translation = translate([gateway, policy].map(admitObject))

const badExpression: Finding = {
  origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'rules' },
  path: 'spec.traffic.authorization.policy.matchExpressions[0]',
  code: 'expression-syntax',
  message: 'unexpected end',
  severity: 'error',
}

/** `Accepted=True/Valid` and so on, of one object. */
function conditionsIn({ statuses }: Translation, kind: string): readonly string[] {
  const { status } = statuses.find((it) => it.kind === kind)!
  const { conditions } = status as { conditions: { type: string; status: string; reason: string }[] }
  return conditions.map(({ type, status: value, reason }) => `${type}=${value}/${reason}`)
}

test('an expression that does not compile makes the policy partially valid and is named with its path', () => {
  const complete = withCompileProblems(translation, [badExpression])
  expect(conditionsIn(complete, 'ProxyPolicy')).toEqual(['Accepted=True/PartiallyValid', 'Attached=True/Attached'])
  const { status } = complete.statuses.find(({ kind }) => kind === 'ProxyPolicy')!
  expect(JSON.stringify(status)).toContain(`${badExpression.path}: unexpected end`)
})

test('what is found for several places counts once', () => {
  const complete = withCompileProblems(translation, [badExpression, { ...badExpression }])
  expect(complete.findings).toEqual([...translation.findings, badExpression])
  expect(withCompileProblems(complete, [badExpression])).toBe(complete)
})

test('the consequence of a broken reference is not told again, its neighbours are', () => {
  const path = 'spec.traffic.basicAuthentication.secretRef'
  expect(translation.findings.map((finding) => finding.path)).toEqual([path])
  const at = (where: string) => ({ ...badExpression, path: where })
  const problems = [at(path), at(`${path}.name`), at('spec.traffic.basicAuthentication')]
  const complete = withCompileProblems(translation, problems)
  expect(complete.findings.map((finding) => finding.path)).toEqual([path, 'spec.traffic.basicAuthentication'])
})

test('a warning leaves the policy valid', () => {
  const warned = translate([gateway, { ...policy, spec: { ...policy.spec, traffic: { csrf: {} } } }].map(admitObject))
  const complete = withCompileProblems(warned, [{ ...badExpression, severity: 'warning' }])
  expect(conditionsIn(complete, 'ProxyPolicy')).toEqual(['Accepted=True/Valid', 'Attached=True/Attached'])
})

const a = 'Listener/default/main/a'
const b = 'Listener/default/main/b'
const bound: Binding = { state: 'bound' }
const taken: Binding = { state: 'failed', reason: 'PortUnavailable', message: 'port 8081 is in use' }

test.each([
  ['nothing is known yet', [], 'Programmed=Unknown/Pending'],
  ['one is bound', [[a, bound]], 'Programmed=Unknown/Pending'],
  [
    'all are bound',
    [
      [a, bound],
      [b, bound],
    ],
    'Programmed=True/Programmed',
  ],
  [
    'one port is taken',
    [
      [a, bound],
      [b, taken],
    ],
    'Programmed=False/ListenersNotValid',
  ],
  [
    'all ports are taken',
    [
      [a, taken],
      [b, taken],
    ],
    'Programmed=False/PortUnavailable',
  ],
] as const)('the Gateway when %s', (_, bindings, expected) => {
  const complete = withBindings(translation, new Map<string, Binding>(bindings))
  expect(conditionsIn(complete, 'Gateway')).toEqual(['Accepted=True/Accepted', expected])
})

test('compile problems and bindings do not undo each other', () => {
  const bindings = new Map([
    [a, bound],
    [b, bound],
  ])
  const complete = withBindings(withCompileProblems(translation, [badExpression]), bindings)
  const again = withCompileProblems(complete, [{ ...badExpression, message: 'another' }])
  expect(conditionsIn(again, 'Gateway')).toContain('Programmed=True/Programmed')
  expect(again.findings).toHaveLength(translation.findings.length + 2)
})
