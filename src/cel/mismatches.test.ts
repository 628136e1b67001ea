import { expect, test } from 'vitest'
import { compile, createEnvironment, HostObject } from './index.ts'

class Headers extends HostObject {
  readonly typeName = 'headers'
}

const environment = createEnvironment<unknown>({
  variables: [
    { path: 'request.headers', type: 'headers', always: true, read: () => new Headers(), index: () => undefined },
    { path: 'request.method', type: 'string', always: true, read: () => 'GET' },
    { path: 'ok', type: 'bool', always: true, read: () => true },
  ],
  types: [
    { name: 'headers', element: 'string', methods: ['join() -> headers', 'split() -> lists'] },
    { name: 'lists', element: 'list(string)' },
  ],
})

const H = 'request.headers["x"]'

test.each<[source: string, toFalse: string | undefined, toTrue: string | undefined]>([
  // source; the test that another value of the header makes false or true, and with it the whole expression
  [`${H} == "a"`, `${H} == "a" is false`, undefined],
  [`"a" == ${H}`, `"a" == ${H} is false`, undefined],
  [`${H} != "a"`, undefined, `${H} != "a" is true`],
  [`!(${H} == "a")`, undefined, `${H} == "a" is false`],
  [`${H} in ["a"]`, `${H} in ["a"] is false`, undefined],
  [`request.headers.x.startsWith("a")`, 'request.headers.x.startsWith("a") is false', undefined],
  [`!${H}.endsWith("a")`, undefined, `${H}.endsWith("a") is false`],
  [`${H}.matches("^a")`, `${H}.matches("^a") is false`, undefined],
  [`default(${H}, "b") == "a"`, `default(${H}, "b") == "a" is false`, undefined],
  ['request.headers[?"x"].orValue("b") == "a"', 'request.headers[?"x"].orValue("b") == "a" is false', undefined],
  [`${H}.lowerAscii() == "a"`, `${H}.lowerAscii() == "a" is false`, undefined],
  [`request.headers.join()["x"] == "a"`, 'request.headers.join()["x"] == "a" is false', undefined],
  [`ok && (request.method == "GET" || ${H} == "a")`, `${H} == "a" is false`, undefined],
  [`ok ? ${H} == "a" : ok`, `${H} == "a" is false`, undefined],
  [`${H} == "a" ? ok : !ok`, `${H} == "a" is false`, `${H} == "a" is false`],
  [`default(${H} == "a", false)`, `${H} == "a" is false`, undefined],
  [`cel.bind(n, 1, ${H} == "a")`, `${H} == "a" is false`, undefined],
  [`cel.block([1], ${H} == "a")`, `${H} == "a" is false`, undefined],
  [`["a"].exists(role, ${H} == role)`, `${H} == role is false`, undefined],

  // Tests that another value cannot change, or that do not depend on the value.
  [`${H}.contains("a")`, undefined, undefined],
  [`${H}.matches("a")`, undefined, undefined],
  ['"a" in request.headers.split()["x"]', undefined, undefined],
  [`default(${H}, "") == ""`, undefined, undefined],
  ['"x" in request.headers', undefined, undefined],
  ['request.headers["once"] == "a"', undefined, undefined],
  ['request.method == "GET"', undefined, undefined],
])('%s', (source, toFalse, toTrue) => {
  const { problems, mismatch } = compile(source, environment)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const found = (wanted: boolean) => mismatch('request.headers', wanted, new Set(['once']))?.message
  expect(found(false)).toBe(toFalse && `with another x, ${toFalse}`)
  expect(found(true)).toBe(toTrue && `with another x, ${toTrue}`)
})
