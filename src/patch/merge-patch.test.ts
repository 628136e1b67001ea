import { expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import { applyMergePatch } from './merge-patch.ts'

function apply(object: string, patch: string) {
  return applyMergePatch(parseJson(object) as JsonObject, parseJson(patch))
}

// RFC 7386, appendix A, as far as both are objects, and others.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{"a":[1]}', '{"a":{"b":{"c":null,"d":1}}}', '{"a":{"b":{"d":1}}}'],
  ['{"a":1}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
  ['{}', '{"toString":{"a":1}}', '{"toString":{"a":1}}'],
  ['{}', '{"__proto__":{"polluted":true}}', '{"__proto__":{"polluted":true}}'],
  ['{"__proto__":{"a":1,"b":2}}', '{"__proto__":{"a":null}}', '{"__proto__":{"b":2}}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":null}', '{}'],
])('%s and %s', (object, patch, result) => {
  expect(JSON.stringify(apply(object, patch).value)).toBe(JSON.stringify(parseJson(result)))
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test.each(['[]', '1', 'null', '"text"'])('%s is no merge patch of an object', (patch) => {
  const message = 'error decoding patch: a merge patch is an object'
  expect(apply('{}', patch)).toEqual({ failure: { reason: 'BadRequest', message } })
})

test('the object stays as it was, and unchanged members are shared', () => {
  const object = { a: { b: 1 }, c: { d: 1 } }
  const { value } = applyMergePatch(object, { a: { b: 2 } })
  expect(object).toEqual({ a: { b: 1 }, c: { d: 1 } })
  expect(value?.c).toBe(object.c)
})
