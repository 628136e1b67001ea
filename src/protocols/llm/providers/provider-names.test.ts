import { expect, test } from 'vitest'
import { systemWithProduct, withProduct } from '#base/products.ts'
import { buildProvider } from './providers.ts'

const SPECS = {
  providerOne: {},
  providerTwo: { endpoint: 'name.openai.azure.com' },
  providerThree: { resourceName: 'name', resourceType: 'ResourceTypeOne' },
  providerFour: {},
  providerFive: {},
  providerSix: { projectId: 'p', region: 'global' },
  providerSeven: { region: 'us-east-1' },
} as const

test.each(Object.keys(SPECS) as (keyof typeof SPECS)[])(
  'the name of %s in telemetry is shown with its product',
  (name) => {
    const { system } = buildProvider({ [name]: SPECS[name] } as Parameters<typeof buildProvider>[0])
    expect(systemWithProduct(system).split(' or ')).toContain(withProduct(name))
  },
)

test('another name in telemetry stays as it is', () => {
  expect(systemWithProduct('other')).toBe('other')
  expect(systemWithProduct('')).toBe('')
})
