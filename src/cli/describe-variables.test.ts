import { expect, test } from 'vitest'
import { VARIABLES } from '#api/process-variables.ts'
import { describeVariables } from './describe-variables.ts'

const namesFor = (command: Parameters<typeof describeVariables>[0]) =>
  [...describeVariables(command).matchAll(/^ {2}(\S+)$/gm)].map(([, name]) => name)

test.each([
  ['lint', ['GATEWRIGHT_PRICES']],
  ['explain', ['SESSION_KEY', 'GATEWRIGHT_SESSION_KEY_PREVIOUS']],
  ['version', ['GATEWRIGHT_TRANSPORT']],
  ['idp setup', ['GATEWRIGHT_IDP_ADMIN_PASSWORD']],
  ['why', ['GATEWRIGHT_ADMIN_ADDR']],
  ['mcp sessions', ['GATEWRIGHT_ADMIN_ADDR']],
] as const)('the variables of %s', (command, names) => {
  expect(namesFor(command)).toEqual(names)
})

test('run describes all variables but that of the identity provider', () => {
  const { GATEWRIGHT_IDP_ADMIN_PASSWORD: _, ...others } = VARIABLES
  expect(namesFor('run')).toEqual(Object.keys(others))
})
