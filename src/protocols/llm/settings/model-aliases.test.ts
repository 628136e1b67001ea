import { expect } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { compileAliases, findAlias } from './model-aliases.ts'

const aliases = compileAliases({
  fast: 'provider-small',
  'gpt-*': 'any-gpt',
  'gpt-*-mini': 'any-mini',
  '*-large': 'any-large',
  'a*b*c': 'pieces',
  'x.*': 'literal-dot',
  'gpt-4o': 'exact',
  'provider-small': 'never reached from fast',
  'tie-*a': 'first',
  'tie-a*': 'second',
})

const cases: [model: string, target: string | undefined][] = [
  ['fast', 'provider-small'],
  ['gpt-4o', 'exact'],
  ['gpt-5', 'any-gpt'],
  ['gpt-5-mini', 'any-mini'],
  ['gpt-mini', 'any-gpt'],
  ['my-large', 'any-large'],
  ['abc', 'pieces'],
  ['a1b2c', 'pieces'],
  ['acb', undefined],
  ['ab', undefined],
  ['xyz', undefined],
  ['x.y', 'literal-dot'],
  ['tie-aa', 'first'],
  ['Fast', undefined],
  ['', undefined],
]

verifies('backend.ai.modelAliases/mapped', 'exact name, else the longest pattern, once and verbatim (B19)', () => {
  for (const [model, target] of cases) expect(aliases && findAlias(aliases, model)?.name).toBe(target)
})

verifies('backend.ai.modelAliases/mapped', 'the text of a wildcard is not reused for two pieces', () => {
  const overlapping = compileAliases({ 'aba*aba': 't' })
  expect(overlapping && findAlias(overlapping, 'ababa')).toBeUndefined()
  expect(overlapping && findAlias(overlapping, 'abaaba')?.name).toBe('t')
  expect(compileAliases({})).toBeUndefined()
})
