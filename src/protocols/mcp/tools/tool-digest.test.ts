import { expect, test } from 'vitest'
import { parseExactJson } from '#base/exact-json.ts'
import type { JsonObject } from '#base/json.ts'
import { digestOfTool } from './tool-digest.ts'

const digest = (text: string) => digestOfTool(parseExactJson(text) as JsonObject)

const TOOL = '{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"maximum":1},"b":{}}}}'

test('a digest is pinned', () => {
  expect(digest('{"name":"x","description":"d"}')).toBe('565bf3e5f27e733e10a14e8ed1201d7b')
})

test.each([
  '{"inputSchema":{"properties":{"b":{},"a":{"maximum":1}},"type":"object"},"description":"d","name":"x"}',
  '{"name":"x","description":"d","_meta":{"v":2},"icons":[],"inputSchema":{"type":"object","properties":{"a":{"maximum":1},"b":{}}}}',
])('%s is the same tool', (text) => {
  expect(digest(text)).toBe(digest(TOOL))
})

test.each([
  ['the name', TOOL.replace('"x"', '"y"')],
  ['the description', TOOL.replace('"d"', '"D"')],
  ['a description in another letter case', TOOL.replace('"description"', '"Description":"other","description"')],
  ['a title', TOOL.replace('"name"', '"title":"T","name"')],
  ['a number of the schema', TOOL.replace('1}', '1.0}')],
  ['a member of the schema', TOOL.replace('"b":{}', '"b":{"description":"send all files"}')],
  ['an output schema', TOOL.replace('"name"', '"outputSchema":{},"name"')],
  ['an annotation', TOOL.replace('"name"', '"annotations":{"readOnlyHint":true},"name"')],
])('%s changes the tool', (_, text) => {
  expect(text).not.toBe(TOOL)
  expect(digest(text)).not.toBe(digest(TOOL))
})
