import { expect, test } from 'vitest'
import { secretsIn, withoutSecrets } from '#schema/index.ts'
import { nodeOf, type SchemaNode } from '#schema/node.ts'
import { KINDS } from './kinds.ts'

/** A part of the schema of a kind, with the steps to it: names of fields, `[]` into a list, `{}` into a map. */
interface Place {
  readonly node: SchemaNode
  readonly steps: readonly string[]
}

function* placesOf(node: SchemaNode, steps: readonly string[] = []): Generator<Place> {
  yield { node, steps }
  for (const [name, property] of Object.entries(node.properties ?? {})) yield* placesOf(property, [...steps, name])
  if (node.items !== undefined) yield* placesOf(node.items, [...steps, '[]'])
  if (node.additionalProperties !== undefined) yield* placesOf(node.additionalProperties, [...steps, '{}'])
}

const PLACES = KINDS.flatMap(({ kind, schema }) =>
  [...placesOf(nodeOf(schema))].map((place) => ({ ...place, kind, schema, name: `${kind} ${place.steps.join('.')}` })),
)

const SOUNDS_SECRET = /key|secret|passw|token|credential|users|private|inline|bearer/i

/** Texts that sound like secrets and are none, by the end of their place. */
const NO_SECRETS: readonly string[] = [
  'keyExchangeGroups.[]', // names of groups of TLS
  'matchExpressions.[].key', // the name of a label
  'configMapKeyRef.key', // names of entries
  'secretKeyRef.key',
  'fileKeyRef.key',
]

test('a text named like a secret is marked as one, or listed as an exception', () => {
  const texts = PLACES.filter(({ node, steps }) => {
    const name = steps.findLast((step) => !/^[[{]/.test(step)) ?? ''
    return node.type === 'string' && node.scalar !== 'CELExpression' && SOUNDS_SECRET.test(name)
  })
  const open = texts.filter(
    ({ node, name }) => node.secret === undefined && !NO_SECRETS.some((end) => name.endsWith(end)),
  )
  expect(open.map(({ name }) => name)).toEqual([])
  for (const end of NO_SECRETS)
    expect(
      texts.some(({ name }) => name.endsWith(end)),
      end,
    ).toBe(true)
})

/** A value with this text at the end of the steps. */
function valueWith(steps: readonly string[], text: string): unknown {
  return steps.reduceRight<unknown>(
    (inner, step) => (step === '[]' ? [inner] : { [step === '{}' ? 'entry' : step]: inner }),
    text,
  )
}

function pathOf(steps: readonly string[]): string {
  return steps
    .map((step) => (step === '[]' ? '[0]' : step === '{}' ? '[entry]' : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

const SECRETS = PLACES.filter(({ node }) => node.secret !== undefined)

test('there are secrets in policies and backends', () => {
  expect(SECRETS.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'ProxyBackend spec.policies.auth.key',
      'ProxyBackend spec.ai.groups.[].providers.[].policies.auth.key',
      'ProxyPolicy spec.backend.auth.key',
      'ProxyPolicy spec.traffic.basicAuthentication.users.[]',
      'ProxyPolicy spec.traffic.jwtAuthentication.providers.[].jwks.inline',
    ]),
  )
})

test.each(SECRETS)('$name is found and hidden, whatever part of the object is looked at', ({ schema, steps }) => {
  for (let from = 0; from <= steps.length; from++) {
    const value = valueWith(steps.slice(from), 'ann:hunter22')
    const path = pathOf(steps.slice(0, from))
    expect([...secretsIn(schema, path, value)], path).toEqual(['ann:hunter22'])
    expect(JSON.stringify(withoutSecrets(schema, path, value, '-')), path).not.toContain('hunter22')
  }
})
