import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { translate } from '#control/translate.ts'
import { admitObject } from '../support/admit-object.ts'
import { isUpdate, readCases } from './golden-case.ts'
import { showTranslation } from './show-translation.ts'

/** Objects of cases have no file. */
const NAMES = { allowsExternalNames: true }

for (const golden of readCases(fileURLToPath(new URL('./translate', import.meta.url)))) {
  test(`${golden.name}: ${golden.description}`, () => {
    const objects = golden.given.map(admitObject)
    const actual = showTranslation(translate(objects, NAMES))
    if (isUpdate) return golden.rewrite(actual)

    expect(golden.select(actual)).toEqual(golden.expected)
    expect(showTranslation(translate(objects.toReversed(), NAMES)), 'the order of the objects does not matter').toEqual(
      actual,
    )
  })
}
