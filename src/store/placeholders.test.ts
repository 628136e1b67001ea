import { expect, test } from 'vitest'
import { parseObjects } from './parse-yaml.ts'

/** Position, path and severity of each problem, and the objects that are in use. */
function parsed(text: string) {
  const { problems, objects } = parseObjects(text, 'a.yaml')
  return {
    problems: problems.map(({ line, column, path, severity, code }) => `${line}:${column} ${path} ${severity} ${code}`),
    messages: problems.map(({ message }) => message),
    objects: objects.length,
  }
}

/** As in shell scripts. */
const variable = (name: string) => `$\{${name}}`

const SECRET = `apiVersion: v1\nkind: Secret\nmetadata: { name: keys, annotations: { a: "${variable('A')}" } }\n`

test('an entry of a Secret that names a variable', () => {
  expect(parsed(`${SECRET}stringData:\n  Authorization: Bearer \${TOKEN}\n  tls.key: "\${KEY}"\n`)).toEqual({
    problems: [
      '5:3 stringData[Authorization] warning not-substituted',
      '6:3 stringData[tls.key] warning not-substituted',
    ],
    messages: [
      `the gateway does not replace ${variable('TOKEN')}; the value is this text. To take the entry from the environment, write dataFrom: { Authorization: { env: TOKEN } } instead`,
      `the gateway does not replace ${variable('KEY')}; the value is this text. To take the entry from the environment, write dataFrom: { tls.key: { env: KEY } } instead`,
    ],
    objects: 1,
  })
})

test('a base64 entry that names a variable is both', () => {
  expect(parsed(`${SECRET}data: { key: "\${KEY}" }\n`)).toMatchObject({
    problems: ['4:9 data[key] error invalid-base64', '4:9 data[key] warning not-substituted'],
    objects: 0,
  })
})

test('a field that names a variable', () => {
  const text = `apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec:
  ai: { provider: { providerOne: {} } }
  policies: { auth: { key: "\${OPENAI_API_KEY}" } }
`
  expect(parsed(text)).toEqual({
    problems: ['6:23 spec.policies.auth.key warning not-substituted'],
    messages: [
      `the gateway does not replace ${variable('OPENAI_API_KEY')}; the value is this text. A Secret can take an entry from the environment, with dataFrom: { KEY: { env: OPENAI_API_KEY } }; refer to it where the field allows it`,
    ],
    objects: 1,
  })
})

test.each([`${variable('NAME')} and more`, variable('5'), '$NAME', variable('a.b'), `"${variable('HOME')}/x"`])(
  'other text is a value: %s',
  (value) => {
    expect(parsed(`${SECRET}stringData: { a: ${JSON.stringify(value)} }\n`).problems).toEqual([])
  },
)
