import { expect, test } from 'vitest'
import {
  byteSize,
  describeType,
  duration,
  integer,
  json,
  jsonObject,
  list,
  mapOf,
  nodeOf,
  object,
  quantity,
  text,
} from './index.ts'

test.each([
  [json(), 'any value'],
  [jsonObject(), 'map from names to any value'],
  [object({}), 'object'],
  [mapOf(integer({ min: 1, max: 9 }), { max: 3 }), 'map from names to integer, 1 to 9, at most 3 entries'],
  [list(object({}), { min: 1 }), 'list of objects, at least 1 item'],
  [text({ min: 1, max: 8 }), 'text, 1 to 8 characters'],
  [byteSize(), 'size in bytes, such as 65536 or 64Ki'],
  [quantity(), 'quantity, such as 500m or 128Mi'],
  [duration(), 'duration, such as 500ms or 1m30s'],
  [duration({ min: '1m' }), 'duration, such as 500ms or 1m30s; at least 1m'],
])('a type in words: %#', (schema, words) => {
  expect(describeType(nodeOf(schema))).toBe(words)
})
