import { expect, test } from 'vitest'
import { backendName } from './backend-name.ts'

const rows: readonly (readonly [key: string, name: string])[] = [
  ['ProxyBackend/default/tools', 'default/tools'],
  ['ProxyBackend/default/tools/one', 'default/tools'],
  ['Service/default/web/80', 'default/web'],
]

for (const [key, name] of rows) {
  test(`the name of ${key} is ${name}`, () => expect(backendName(key)).toBe(name))
}
