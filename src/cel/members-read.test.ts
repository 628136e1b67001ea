import { expect, test } from 'vitest'
import { compile, createEnvironment, HostObject } from './index.ts'

class Headers extends HostObject {
  readonly typeName = 'headers'
}

const environment = createEnvironment<unknown>({
  variables: [
    { path: 'request.headers', type: 'headers', always: true, read: () => new Headers(), index: () => undefined },
    { path: 'request.method', type: 'string', always: true, read: () => 'GET' },
    { path: 'source.port', type: 'int', always: true, read: () => 1 },
  ],
  types: [{ name: 'headers', element: 'string', methods: ['raw() -> headers', 'cookie(string) -> string'] }],
})

test.each<[source: string, members: readonly string[] | 'all']>([
  ['request.method == "GET"', []],
  ['has(request.headers)', []],
  ['request.headers["X-A"] == request.headers.b', ['X-A', 'b']],
  ['"a" in request.headers || has(request.headers.b)', ['a', 'b']],
  ['request["headers"]["a"] == "1"', ['a']],
  ['request.headers[?"a"].orValue("") == ""', ['a']],
  ['request.headers.?a.orValue("") == ""', ['a']],
  ['request.headers.raw().raw()["a"] == "1"', ['a']],
  ['default(request.headers["a"], "") in ["x"].filter(x, x == request.headers["b"])', ['a', 'b']],
  ['["x"].map(x, request.headers["b"] != x, x + request.headers["a"]).size() > 0', ['a', 'b']],
  ['source.port > 1 ? request.headers.a : request.method', ['a']],
  ['request.headers.a == "1" ? true : request.headers.b == "2"', ['a', 'b']],
  ['request.headers["a" + "b"] == "1"', 'all'],
  ['request.method in request.headers', 'all'],
  ['request.headers[request.method] == "1"', 'all'],
  ['request.headers.cookie("a") == "1"', 'all'],
  ['request.headers.exists(name, name == "a")', 'all'],
  ['request.headers.size() > 3', 'all'],
  ['toJson(request) == ""', 'all'],
  ['request.?headers["a"].orValue("") == ""', 'all'],
  ['toJson(variables()) == ""', 'all'],
  ['cel.bind(h, request.headers, h["a"] == "1")', 'all'],
])('of headers %s reads %j', (source, members) => {
  const { problems, membersRead } = compile(source, environment)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const read = membersRead('request.headers')
  expect(read === 'all' ? read : [...read].sort()).toEqual(members)
})
