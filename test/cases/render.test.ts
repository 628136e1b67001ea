import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { admitObject } from '../support/admit-object.ts'
import { isUpdate, readCases } from './golden-case.ts'
import { showRendering } from './show-rendering.ts'

for (const golden of readCases(fileURLToPath(new URL('./render', import.meta.url)))) {
  test(`${golden.name}: ${golden.description}`, () => {
    const actual = showRendering(golden.given.map(admitObject))
    if (isUpdate) return golden.rewrite(actual)
    expect(golden.select(actual)).toEqual(golden.expected)
  })
}
