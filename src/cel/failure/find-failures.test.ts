import { expect, test } from 'vitest'
import { systemRandom } from '../functions/gateway.ts'
import { compile, createEnvironment, FLATTEN_FUNCTIONS, HostObject, Timestamp } from '../index.ts'
import { createLibrary } from '../library.ts'
import { TOTAL_FUNCTIONS, TOTAL_SIGNATURES } from './total-functions.ts'

class Headers extends HostObject {
  readonly typeName = 'headers'
}

const environment = createEnvironment<unknown>({
  variables: [
    { path: 'request.method', type: 'string', always: true, read: () => 'GET' },
    { path: 'request.host', type: 'wrapper(string)', read: () => null },
    { path: 'request.body', type: 'bytes', always: true, read: () => new Uint8Array() },
    { path: 'request.headers', type: 'headers', always: true, read: () => new Headers(), index: () => undefined },
    { path: 'jwt', type: 'map(string, dyn)', read: () => undefined, index: () => undefined },
    { path: 'source.address', type: 'string', always: true, read: () => '10.0.0.1' },
    { path: 'source.port', type: 'int', always: true, read: () => 1 },
    { path: 'source.names', type: 'list(string)', always: true, read: () => [] },
    { path: 'source.ports', type: 'list(int)', always: true, read: () => [1] },
    { path: 'source.sizes', type: 'map(string, uint)', always: true, read: () => undefined },
    { path: 'source.since', type: 'timestamp', always: true, read: () => Timestamp.fromMs(0) },
    { path: 'source.level', type: 'wrapper(int)', read: () => null },
    { path: 'user.name', type: 'string', read: () => undefined },
  ],
  types: [
    { name: 'headers', element: 'string', methods: ['raw() -> lists', 'cookie(string) -> string'] },
    { name: 'lists', element: 'list(string)' },
  ],
})

function failureOf(source: string): string | undefined {
  const { program, problems } = compile(source, environment)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return program?.canFail?.message
}

test.each([
  'true',
  'request.method == "GET" && request.method.startsWith("G")',
  'request.method in ["GET", "POST"]',
  'cidr("10.0.0.0/8").containsIP(source.address)',
  'cidr("10.0.0.0/8").containsIP(ip(source.address))',
  'has(jwt.sub) && jwt.sub in ["a", "b"]',
  'ip(source.address).isLoopback()',
  'request.method.matches("^G")',
  'request.method + "x" != "y"',
  'source.port + 1 > 80',
  'source.port / 2 == 1',
  '7.0 / double(source.port) > 1.0',
  'source.names.exists(name, name.endsWith(".example"))',
  'string(source.port) == "80"',
  'size(request.body) > 1000',
  'request.headers.size() > 3',
  'math.greatest(source.port, 3) == 3',

  // Small numbers.
  'source.port * 1000000 > 5',
  'source.port - 70000 < 0 || -source.port < 0',
  '(source.port + size(request.method)) * 2 > 10',
  'size(request.body) % 7 == 3 && 9223372036854775807 / 2 > source.port',
  '[1, 2].exists(n, n * 1000000000 > source.port)',
  'source.ports.exists(i, port, i + port > 80)',
  'source.level != null && source.level * 1000000 > 80',
  'source.port.with(n, n * n > 80)',
  '(source.port + 1).with(n, n * n > 80)',
  '(source.port > 80 ? source.port : 0) + 1 > 3',
  'math.least(source.port, 80) + 1 > 3',
  'coalesce(int(request.method) * 1000000 > 5, true)',
  'coalesce(json(request.body).level + 1, 9) == 9',
  'source.since + duration("1h") > timestamp("2026-01-02T03:04:05Z")',
  'source.since - timestamp("2020-01-01T00:00:00Z") > duration("24h")',
  'source.since + coalesce(duration(request.method), duration("1h")) > source.since',
  '"a" in source.sizes && source.sizes["a"] + 1u > 3u',

  // The types of claims are assumed to be as the author expects.
  'has(jwt.level) && jwt.level > 3',
  'default(jwt.level, 0) > 3',
  'has(jwt.sub) && jwt.sub.startsWith("svc-")',
  'has(jwt.sub) && "user:" + jwt.sub == "user:ann"',
  'has(jwt.level) && type(jwt.level) == int && jwt.level + 1 > 3',
  'has(jwt.roles) && jwt.roles.exists(role, role.startsWith("x"))',

  // The expression checks for presence.
  '"x" in request.headers && request.headers["x"] == "1"',
  'request.headers["x"] == "1" && "x" in request.headers',
  'request.headers["X"] == "1" && "x" in request.headers',
  'has(request.headers.x) && request.headers["x"] == "1"',
  '!has(request.headers.x) || request.headers.x == "1"',
  '!("x" in request.headers && request.headers["x"] != "1")',
  'has(request.headers.x) ? request.headers.x == "1" : false',
  '!has(request.headers.x) ? false : request.headers.x == "1"',
  'has(jwt.sub) && jwt.sub == "ann"',
  'has(jwt.sub) && jwt["sub"] == "ann"',
  'has(jwt.realm) && has(jwt.realm.roles) && "admin" in jwt.realm.roles',
  'jwt.realm.roles == [] && has(jwt.realm.roles) && has(jwt.realm)',
  'has(jwt.realm) && (source.port > 1 || jwt.realm == "x")',
  'has(jwt.a) && [1].exists(n, jwt.a == n)',
  'has(user.name) && user.name == "ann"',
  'has(jwt.roles) && size(jwt.roles) > 0 && jwt.roles[0] == "a"',
  'request.host != null && request.host.startsWith("a")',
  'request.host == null || request.host.startsWith("a")',
  'request.host == "a"',
  'request.host in ["a", "b"]',
  '1 in {1: source.port} && {1: source.port}[1] == 1',
  'size(source.names) > 0 && source.names[0] == "a"',
  'source.names.size() >= 2 && source.names[1] == "a"',
  '"x" in request.headers && request.headers["x"].startsWith("a")',
  '"x" in request.headers.raw() && request.headers.raw()["x"].exists(value, value.startsWith("a"))',
  'jwt.?sub.hasValue() && jwt.?sub.value() == "ann"',

  // The expression handles the failure.
  'default(jwt.sub, "") == "ann"',
  'default(request.headers["x"], "") == "1"',
  'default(request.headers["x"], "").startsWith("a")',
  'default(user.name, "").startsWith("a")',
  'coalesce(int(user.name), 0) > 1',
  'jwt.?sub.orValue("") == "ann"',
  'jwt[?"sub"].orValue("") == "ann"',
  'request.headers[?"x"].orValue("") == "1"',
  'request.headers[?"x"].orValue("").startsWith("a")',
  'has(jwt.sub)',
  '!has(jwt.sub)',
])('%s cannot fail', (source) => {
  expect(failureOf(source)).toBeUndefined()
})

test.each([
  ['user.name == "ann"', 'user.name may be missing'],
  ['jwt.sub == "ann"', 'jwt.sub may be missing'],
  ['jwt == {}', 'jwt may be missing'],
  ['request.headers["x"] == "1"', 'request.headers["x"] may be missing'],
  ['request.headers[request.method] == "1"', 'request.headers[request.method] may be missing'],
  ['has(request.headers.x) && request.headers["y"] == "1"', 'request.headers["y"] may be missing'],
  ['has(request.headers.x) || request.headers["x"] == "1"', 'request.headers["x"] may be missing'],
  ['has(jwt.realm.roles)', 'jwt.realm may be missing'],
  ['has(jwt.realm.roles) && has(jwt.realm.roles)', 'jwt.realm may be missing'],
  ['has(request.headers.x) ? true : request.headers.x == "1"', 'request.headers.x may be missing'],
  ['request.headers.cookie("a") == "1"', 'cookie() may fail'],
  ['int(request.method) > 1', 'int() may fail'],
  ['json(request.body).model == "x"', 'json() may fail'],
  ['string(request.body) == "x"', 'string() may fail'],
  ['default(json(request.body).model, "") == "x"', 'json() may fail'],
  ['coalesce(int(user.name), int(request.method)) > 1', 'int() may fail'],
  ['cidr(request.method).containsIP("10.0.0.1")', 'cidr() may fail'],
  ['cidr("10.0.0.0/8").containsIP(request.method)', 'containsIP() may fail'],
  ['request.method.matches(source.address)', 'matches() may fail'],
  ['10 / source.port > 1', 'source.port may be zero'],
  [
    'source.sizes[?"a"].orValue(1u) * 9007199254740993u > 5u',
    'source.sizes[?"a"].orValue(1u) * 9007199254740993u may overflow (see coalesce())',
  ],
  ['10 % 0 == 1 || source.port > 1', '0 may be zero'],
  ['source.names[0] == "a"', 'source.names may have fewer elements'],
  ['size(source.names) > 0 && source.names[1] == "a"', 'source.names may have fewer elements'],
  ['1 in [2] || "a" in source.names && source.names[0] == "a"', 'source.names may have fewer elements'],
  ['has(jwt.roles) && jwt.roles[0] == "a"', 'jwt.roles may have fewer elements'],
  ['0 in [source.port] && [source.port][0] == 1', '[source.port] may have fewer elements'],
  ['request.host.startsWith("a")', 'request.host may be null'],
  ['jwt.?sub.value() == "ann"', 'value() may fail'],
  ['request.method.charAt(7) == "a"', 'charAt() may fail'],
  ['source.port > 1 || fail("no")', 'fail() may fail'],

  // Numbers that may overflow.
  ['source.port * 9000000000000000000 > 1', 'source.port * 9000000000000000000 may overflow'],
  ['coalesce(int(request.method), 0) * 1000000 > 5', 'coalesce(int(request.method), 0) * 1000000 may overflow'],
  ['coalesce(int(request.method), 0) + 1 > 5', 'coalesce(int(request.method), 0) + 1 may overflow'],
  ['-coalesce(int(request.method), 0) > 5', '-coalesce(int(request.method), 0) may overflow'],
  ['coalesce(int(request.method), 0) / -1 > 5', 'coalesce(int(request.method), 0) / -1 may overflow'],
  ['coalesce(int(request.method), 0).with(n, n + 1 > 5)', 'n + 1 may overflow'],
  ['[coalesce(int(request.method), 0)].exists(n, n + 1 > 5)', 'n + 1 may overflow'],
  ['(source.port > 1 ? coalesce(int(request.method), 0) : 0) + 1 > 5', '(source.port > 1 ?'],
  ['"a" in source.sizes && source.sizes["a"] - 1u > 3u', 'source.sizes["a"] - 1u may overflow'],
  ['coalesce(duration(request.method), duration("1h")) + duration("1h") > duration("2h")', 'coalesce(duration('],
  ['timestamp("0001-01-01T00:00:00Z") - source.since < duration("1h")', 'timestamp("0001-01-01T00:00:00Z") - '],
  ['has(jwt.n) && type(jwt.n) == int && jwt.n * 10000 > 1', 'jwt.n * 10000 may overflow'],

  // Numbers that may have another type.
  ['has(jwt.level) && jwt.level + 1 > 3', 'jwt.level may not be a number of the same type'],
  ['default(jwt.level, 0) * 2 > 3', 'default(jwt.level, 0) may not be a number of the same type'],
  ['has(jwt.a) && has(jwt.b) && jwt.a - jwt.b > 3', 'jwt.a may not be a number of the same type'],

  // The sender of JSON chooses its types.
  ['coalesce(json(request.body).level, 0) > 3', 'coalesce(json(request.body).level, 0) may be of a different type'],
  [
    'coalesce(jsonField(request.body, "a"), "").startsWith("x")',
    'coalesce(jsonField(request.body, "a"), "") may be of',
  ],
  ['coalesce(json(request.body).a, false) || source.port > 80', 'coalesce(json(request.body).a, false) may be of'],
  ['coalesce(json(request.body).a, false) ? true : source.port > 80', 'coalesce(json(request.body).a, false) may be'],
  ['has(coalesce(json(request.body), {}).a)', 'coalesce(json(request.body), {}) may be of a different type'],
  ['coalesce(json(request.body), []).exists(n, n == 1)', 'coalesce(json(request.body), []) may be of a different type'],
  ['coalesce(json(request.body), {}).with(b, has(b.n) && b.n > 1)', 'b may be of a different type'],
  [
    'coalesce(unvalidatedJwtPayload(request.method).n, 0) > 1',
    'coalesce(unvalidatedJwtPayload(request.method).n, 0) may',
  ],
])('%s: %s', (source, message) => {
  expect(failureOf(source)?.startsWith(message)).toBe(true)
})

test.each([
  [[], 'user.name == "ann"', 'user.name may be missing'],
  [['user.name'], 'user.name == "ann"', undefined],
  [['user.name', 'jwt'], 'user.name == "ann" && jwt.sub == "ann"', 'jwt.sub may be missing'],
])('with %j known to be present: %s', (present, source, message) => {
  expect(compile(source, environment, { present }).program?.canFail?.message).toBe(message)
})

test('the position is that of the failing subexpression', () => {
  const { program } = compile('request.method == "GET"\n  && jwt.sub == "ann"', environment)
  expect(program?.canFail).toMatchObject({ line: 2, column: 6 })
  expect(program?.canFail?.caret).toBe('  && jwt.sub == "ann"\n     ^')
})

test('the lists of functions that cannot fail contain only existing functions', () => {
  const library = createLibrary(systemRandom)
  const ofHosts = ['raw', 'redacted', 'unredacted', 'addQuery', 'setQuery', 'flattenRecursive', 'flatten_recursive']
  expect([...TOTAL_FUNCTIONS].filter((name) => !library.has(name) && !ofHosts.includes(name))).toEqual([])
  const signatures = [...library.values(), ...FLATTEN_FUNCTIONS].flat().map(({ signature }) => signature)
  expect([...TOTAL_SIGNATURES].filter((signature) => !signatures.includes(signature))).toEqual([])
})
