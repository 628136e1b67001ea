import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { Translator } from '../translator.ts'
import type { DefinitionVersions } from './supported-version.ts'

const CLASS = { kind: 'GatewayClass', metadata: { name: 'x' }, spec: { controllerName: 'gatewright.dev/controller' } }
const RANGE = 'v1.4 to v1.7 of the Gateway API are supported'

/** The conditions of the class after each of these observations. */
function conditionsAfter(...observed: readonly (DefinitionVersions | undefined)[]) {
  const translator = new Translator()
  translator.apply({ set: [admitObject(CLASS)], removed: [] })
  for (const versions of observed) translator.noteDefinitions(versions)
  const { conditions } = translator.translation.statuses[0]!.status as { conditions: Record<string, string>[] }
  return conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`).slice(1)
}

test.each([
  ['v1.4.0', true],
  ['v1.7.12', true],
  ['v1.7.0-rc.1', true],
  ['v1.3.9', false],
  ['v1.8.0', false],
  ['v2.5.0', false],
  ['v1.5', false],
  ['1.5.0', false],
  ['main', false],
])('definitions of version %s are supported: %s', (version, isSupported) => {
  const versions = new Map([
    ['httproutes.gateway.networking.k8s.io', version],
    ['gateways.gateway.networking.k8s.io', 'v1.6.0'],
  ])
  const wrong = `SupportedVersion=False UnsupportedVersion: ${RANGE}, but httproutes.gateway.networking.k8s.io has ${version}`
  expect(conditionsAfter(versions)).toEqual([isSupported ? `SupportedVersion=True SupportedVersion: ${RANGE}` : wrong])
})

test('definitions without a version are named; without any knowledge there is no condition', () => {
  const versions = new Map(['b', 'a'].map((name) => [name, '']))
  expect(conditionsAfter(versions)).toEqual([
    `SupportedVersion=False UnsupportedVersion: ${RANGE}, but a has no version, b has no version`,
  ])
  expect(conditionsAfter()).toEqual([])
  expect(conditionsAfter(versions, undefined)).toEqual([])
})
