import { expect, test } from 'vitest'
import { validate } from '#schema/index.ts'
import { aiBackend } from './backend-schema.ts'

test('a provider name that another group uses is reported at its second place', () => {
  const provider = (name: string) => ({ name, providerOne: {} })
  const groups = [{ providers: [provider('a')] }, { providers: [provider('b'), provider('a')] }]
  expect(validate(aiBackend, { groups }, { path: 'spec.ai' }).problems).toMatchObject([
    {
      path: 'spec.ai.groups[1].providers[1].name',
      code: 'duplicate',
      message: 'provider names must be unique across all groups; spec.ai.groups[0].providers[0] already uses this name',
    },
  ])
})
