import { expect, test } from 'vitest'
import type { Json } from '#base/json.ts'
import { readAnnotations } from './tool-annotations.ts'

const DEFAULTS = {
  title: undefined,
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

test.each<[annotations: Json | undefined, expected: object]>([
  [undefined, DEFAULTS],
  [null, DEFAULTS],
  [[], DEFAULTS],
  [{}, DEFAULTS],
  [{ readOnlyHint: 'true', title: 1, destructiveHint: null }, DEFAULTS],
  [{ ReadOnlyHint: true }, DEFAULTS],
  [{ readOnlyHint: true }, { ...DEFAULTS, readOnlyHint: true, destructiveHint: false }],
  [
    { readOnlyHint: true, destructiveHint: true },
    { ...DEFAULTS, readOnlyHint: true },
  ],
  [
    { title: 'T', destructiveHint: false, idempotentHint: true, openWorldHint: false },
    { title: 'T', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  ],
])('%j', (annotations, expected) => {
  expect(readAnnotations({ name: 'x', ...(annotations !== undefined && { annotations }) })).toEqual(expected)
})
