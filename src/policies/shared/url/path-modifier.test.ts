import { expect, test } from 'vitest'
import { contextWith, sourceOf } from '../testing.ts'
import { compilePathModifier, type PathModifierSpec } from './path-modifier.ts'

function modify(spec: PathModifierSpec, target: string, matched?: string) {
  const context = contextWith()
  const result = compilePathModifier(sourceOf(undefined), spec, context)(target, matched)
  return { result, reports: context.reports }
}

// The table of the Gateway API for ReplacePrefixMatch, and docs/behaviour/http.md, "Filters".
const prefixes: [target: string, matched: string | undefined, replacement: string, result: string | undefined][] = [
  ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
  ['/foo', '/foo', '/xyz', '/xyz'],
  ['/foo/', '/foo', '/xyz', '/xyz/'],
  ['/foo/bar', '/foo', '', '/bar'],
  ['/foo/', '/foo', '', '/'],
  ['/foo', '/foo', '', '/'],
  ['/foo/', '/foo', '/', '/'],
  ['/foo', '/foo', '/', '/'],
  ['/foo/bar', '/', '/xyz', '/xyz/foo/bar'],
  ['/', '/', '/xyz', '/xyz/'],
  ['/api/users?x=1&y=%20', '/api', '/v1', '/v1/users?x=1&y=%20'],
  ['/api?x=1', '/api', '/v1', '/v1?x=1'],
  ['/api?x=1', '/api', '', '/?x=1'],
  ['/foo//bar', '/foo', '/xyz', '/xyz//bar'],
  // prefixes in other spellings; the rest is unchanged
  ['//foo///bar%2fx', '/foo', '/xyz', '/xyz///bar%2fx'],
  ['/%40foo/%40bar', '/@foo', '/xyz', '/xyz/%40bar'],
  // not at a segment boundary; no prefix match; path changed by a policy
  ['/apiary', '/api', '/v1', undefined],
  ['/api%2Fx', '/api', '/v1', undefined],
  ['/foo', undefined, '/xyz', undefined],
  ['/other', '/foo', '/xyz', undefined],
]
for (const [target, matched, replacement, result] of prefixes) {
  test(`${target}, prefix ${matched} becomes ${replacement || 'nothing'}`, () => {
    expect(modify({ type: 'ReplacePrefixMatch', replacePrefixMatch: replacement }, target, matched).result).toBe(result)
  })
}

const full: [target: string, replacement: string, result: string][] = [
  ['/foo/bar', '/one', '/one'],
  ['/foo/bar?x=1', '/one', '/one?x=1'],
  ['/foo', '', '/'],
  ['/foo?x', '', '/?x'],
]
for (const [target, replacement, result] of full) {
  test(`${target} becomes ${replacement || 'nothing'} in full`, () => {
    expect(modify({ type: 'ReplaceFullPath', replaceFullPath: replacement }, target).result).toBe(result)
  })
}

for (const replacement of ['one', '/a b', '/a?b', '/a#b', '/\u00e9', '/a\r\nb', '/a/../b', '/a/%2E', '/%zz', '/a\\b']) {
  test(`${JSON.stringify(replacement)} is not a valid path`, () => {
    expect(modify({ type: 'ReplaceFullPath', replaceFullPath: replacement }, '/')).toEqual({
      result: undefined,
      reports: ['path-invalid spec.traffic.field.path.replaceFullPath'],
    })
    expect(modify({ type: 'ReplacePrefixMatch', replacePrefixMatch: replacement }, '/', '/')).toEqual({
      result: undefined,
      reports: ['path-invalid spec.traffic.field.path.replacePrefixMatch'],
    })
  })
}
