import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SCENARIOS, scenarioTests } from './scenarios.ts'

const SOURCES = join(import.meta.dirname, '../../src')

test.each(SCENARIOS)('%s has scenarios, which exist', (area, names) => {
  expect(existsSync(join(SOURCES, area))).toBe(true)
  expect(names.length).toBeLessThanOrEqual(8)
  for (const name of names)
    expect(existsSync(join(import.meta.dirname, `../scenarios/${name}.test.ts`)), name).toBe(true)
})

test.each([
  ['proxy/relay.ts', '../test/scenarios/relay.test.ts'],
  ['proxy/forward.ts', '../test/scenarios/forwarding.test.ts'],
  ['cel/parse.ts', undefined],
])('the first scenario of %s', (path, scenario) => {
  expect(scenarioTests(path, 1)[0]).toBe(scenario)
})
