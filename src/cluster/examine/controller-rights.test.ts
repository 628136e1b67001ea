import { expect, test } from 'vitest'
import { controllerRights } from './controller-rights.ts'
import { RIGHTS } from './testing.ts'

test('no template of the chart is left in the names', () => {
  const rights = Object.values(controllerRights(RIGHTS, { name: 'controller-a', secret: 'secret-a' })).flat()
  const names = rights.flatMap(({ name }) => name ?? [])
  expect(new Set(names.filter((name) => !name.includes('.')))).toEqual(new Set(['controller-a', 'secret-a']))
  expect(JSON.stringify(rights)).not.toContain('{{')
})
