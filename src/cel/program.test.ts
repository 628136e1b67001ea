import { expect, test } from 'vitest'
import {
  CelError,
  type CompileOptions,
  compile,
  createEnvironment,
  Double,
  Duration,
  define,
  formatType,
  fromJson,
  HostObject,
  isTrue,
  noSuchKey,
  type Result,
  Timestamp,
  toJson,
  Uint,
  type Value,
} from './index.ts'

interface Request {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly claims?: unknown
}

class HeaderView extends HostObject {
  readonly typeName = 'headers'
  readonly #headers: Readonly<Record<string, string>>

  constructor(headers: Readonly<Record<string, string>>) {
    super()
    this.#headers = headers
  }

  override member(name: string): Result | undefined {
    return this.#headers[name.toLowerCase()]
  }

  override keys(): Iterable<Value> {
    return Object.keys(this.#headers)
  }

  override call(method: string, [name]: readonly Value[]): Result | undefined {
    if (method === 'join') return this
    return typeof name === 'string' && method === 'cookie' ? noSuchKey(name) : undefined
  }
}

/** Paths that were read since the last evaluation. */
let reads: string[] = []

function reading<V>(path: string, value: V): V {
  reads.push(path)
  return value
}

const environment = createEnvironment<Request>({
  variables: [
    { path: 'request.method', type: 'string', read: (request) => reading('request.method', request.method) },
    { path: 'request.path', type: 'string', read: (request) => reading('request.path', request.path) },
    {
      path: 'request.headers',
      type: 'headers',
      read: (request) => reading('request.headers', new HeaderView(request.headers ?? {})),
      index: (request, name) => reading(`header ${name}`, request.headers?.[name.toLowerCase()]),
    },
    {
      path: 'jwt',
      type: 'map(string, dyn)',
      read: (request) => (request.claims === undefined ? undefined : fromJson(request.claims)),
    },
    { path: 'source.address', type: 'string', read: () => '10.1.2.3' },
    { path: 'response.code', unavailable: 'only in the response phase' },
    { path: 'broken', type: 'dyn', read: () => new CelError('failed', 'cannot be read') },
  ],
  types: [{ name: 'headers', element: 'string', methods: ['join() -> headers', 'cookie(string) -> string'] }],
  functions: [define('(string).shout() -> string', (text: string) => `${text}!`)],
  random: { random: () => 0.25, uuid: () => '00000000-0000-4000-8000-000000000000' },
})

const get: Request = {
  method: 'GET',
  path: '/api/x',
  headers: { 'x-a': '1' },
  claims: { sub: 'ann', n: 5, list: [1, 2.5] },
}

function evaluate(source: string, request: Request = get): unknown {
  const { program, problems } = compile(source, environment)
  if (program === undefined) return problems.map((problem) => problem.message)
  const result = program.evaluate(request)
  return result instanceof CelError ? `${result.code}: ${result.message}` : toJson(result)
}

test.each([
  ['request.method == "GET" && request.path.startsWith("/api")', true],
  ['request.method != "GET"', false],
  ['"GET" != request.method || false', false],
  ['request.method in ["POST", "GET"]', true],
  ['request.headers["X-A"]', '1'],
  ['request.headers.`x-a`', '1'],
  ['request.headers["x-" + "a"]', '1'],
  ['request.headers[request.method]', 'no-such-key: no such key: request.headers'],
  ['request.headers.join()["x-a"]', '1'],
  ['request.headers["x-b"]', 'no-such-key: no such key: request.headers.x-b'],
  ['request.headers.cookie("c")', 'no-such-key: no such key: c'],
  ['"x-a" in request.headers && !("x-b" in request.headers)', true],
  ['request.method in request.headers', false],
  ['has(request.headers.foo)', false],
  ['has(request.headers)', true],
  ['string(-9007199254740991 - size(request.headers) - 1)', '-9007199254740993'],
  ['string(uint(0.0)) + string(uint(double(size(request.headers))))', '01'],
  ['has(jwt.sub) && !has(jwt.aud)', true],
  ['size(request.headers)', 1],
  ['request.headers.exists(name, name == "x-a")', true],
  ['request.headers.map(name, value, value)', ['undeclared reference to value', 'undeclared reference to value']],
  ['request.headers.transformList(name, value, name + value)', ['x-a1']],
  ['default(request.headers["x-b"], "none")', 'none'],
  ['default(request.nope, 1)', 1],
  ['default(response.code, 2)', 2],
  ['default(nothing.at.all, 3)', 3],
  ['default(null, 4)', 4],
  ['default(1 / 0, 4)', 'divide-by-zero: division by zero'],
  ['coalesce(jwt.aud, 1 / 0, null, "last")', 'last'],
  ['coalesce(jwt.aud, null)', null],
  ['coalesce(jwt.aud, 1 / 0)', 'divide-by-zero: division by zero'],
  ['request["method"]', 'GET'],
  ['request.map(name, name)', ['method', 'path', 'headers']],
  ['variables().source', { address: '10.1.2.3' }],
  ['toJson(request)', '{"method":"GET","path":"/api/x","headers":{"x-a":"1"}}'],
  ['type(request) == map && type(request.headers) != map', true],
  ['broken == 1', 'failed: cannot be read'],
  ['broken == 1 || true', true],
  ['false && broken', false],
  ['jwt.n + 1 == 6 && jwt.list[1] == 2.5', true],
  ['jwt.n.m', 'no-such-overload: no such overload: int has no members'],
  ['request.method.shout()', 'GET!'],
  ['random()', 0.25],
  ['uuid()', '00000000-0000-4000-8000-000000000000'],
  ['request.method == "GET" ? "yes" : null', 'yes'],
  ['[1, 2].exists(request, request == 2)', true],
])('%s', (source, expected) => {
  expect(evaluate(source)).toEqual(expected)
})

test('a variable is read only if its value is needed', () => {
  reads = []
  evaluate('request.method == "PUT" && request.path == "/"')
  expect(reads).toEqual(['request.method'])
  reads = []
  evaluate('request.headers["a"] == "b"')
  expect(reads).toEqual(['header a'])
  reads = []
  expect(evaluate('"X-A" in request.headers')).toBe(true)
  expect(reads).toEqual(['header X-A'])
  reads = []
  expect(evaluate('{"r": request}.r.path')).toBe('/api/x')
  expect(reads).toEqual(['request.path'])
})

test('a group of variables is there if one of them is', () => {
  const grouped = createEnvironment<string | undefined>({
    variables: [
      { path: 'a.b.c', type: 'string', read: (c) => c },
      { path: 'a.b.d', type: 'string', read: () => undefined },
    ],
  })
  const { program } = compile('has(a.b)', grouped)
  expect([program!.evaluate('c'), program!.evaluate(undefined)]).toEqual([true, false])
})

test('an absent variable is the error `no such key`', () => {
  expect(evaluate('jwt.sub', {})).toBe('no-such-key: no such key: jwt')
  expect(evaluate('!has(jwt.sub)', {})).toBe(true)
  expect(evaluate('has(request.method)', {})).toBe(false)
  expect(evaluate('request.method == "GET"', {})).toBe('no-such-key: no such key: request.method')
  expect(evaluate('request.method != "GET"', {})).toBe('no-such-key: no such key: request.method')
  expect(evaluate('request.method in ["GET"]', {})).toBe('no-such-key: no such key: request.method')
  expect(evaluate('request.path.startsWith("/")', {})).toBe('no-such-key: no such key: request.path')
  expect(evaluate('toJson(request)', {})).toBe('{"headers":{}}')
})

function problemsOf(source: string, options: CompileOptions = {}): string[] {
  const { problems } = compile(source, environment, options)
  return problems.map((problem) => {
    const hint = problem.suggestion === undefined ? '' : ` -> ${problem.suggestion}`
    return `${problem.severity} ${problem.column} ${problem.code}: ${problem.message}${hint}`
  })
}

test.each([
  ['request.header["x"]', ['error 1 unknown-field: request has no member header -> request.headers']],
  ['has(request.header)', ['error 1 unknown-field: request has no member header -> request.headers']],
  ['requst.method', ['error 1 undeclared: undeclared reference to requst -> request']],
  ['response.code', ['error 1 unavailable: response.code is not available here: only in the response phase']],
  [
    'default(response.code, 1)',
    ['warning 9 unavailable: response.code is not available here: only in the response phase'],
  ],
  [
    'default(1, response.code)',
    ['error 12 unavailable: response.code is not available here: only in the response phase'],
  ],
  ['request.method.startWith("a")', ['error 16 undeclared: undeclared function startWith -> startsWith']],
  ['startsWith(request.method, "a")', ['error 1 no-overload: wrong form of startsWith: use x.startsWith(...)']],
  [
    'request.method.contains(1) || request.path > 2 || nope',
    [
      'error 16 no-overload: no matching overload for (string).contains(int); available: (string).contains(string) -> bool',
      'error 44 no-overload: no matching overload for > with (string, int) -> > "2"',
      'error 51 undeclared: undeclared reference to nope',
    ],
  ],
  ['request.method && true', ['error 1 type-mismatch: operand of && must be bool, found string']],
  ['request.method ? 1 : 2', ['error 1 type-mismatch: condition must be bool, found string']],
  ['request.method.length', ['error 15 type-mismatch: type string has no members, so .length cannot work']],
  ['true ? 1 : "a"', ['error 8 no-overload: the branches differ in type (int, string); write string(1)']],
  ['true ? "a" : b"b"', ['error 8 no-overload: the branches differ in type (string, bytes); write bytes("a")']],
  ['true ? 1.5 : 2u', ['error 14 no-overload: the branches differ in type (double, uint); write double(2u)']],
  ['true ? 1u : 2', ['error 8 no-overload: the branches differ in type (uint, int); write int(1u)']],
  ['true ? [1] : "a"', ['error 1 no-overload: the branches differ in type (list(int), string)']],
  ['request.method.all(c, true)', ['error 1 type-mismatch: all() requires a list or map, found string']],
  ['["a"].all(c, c)', ['error 14 type-mismatch: condition of all() must be bool, found string']],
  [
    'request.path.matches("(")',
    [
      'error 1 invalid-pattern: this call always fails: regular expression: "(" at character 1 has no closing ")"; write \\( for the character',
    ],
  ],
  [
    'cidr("10.0.0.0/33").containsIP(source.address)',
    ['error 1 invalid-pattern: this call always fails: not a network in CIDR notation'],
  ],
  ['request.method == true', ['error 16 no-overload: no matching overload for == with (string, bool)']],
  ['request.method == 1.5', ['error 16 no-overload: no matching overload for == with (string, double)']],
  ['size(jwt.sub) + "a"', ['error 15 no-overload: no matching overload for + with (int, string)']],
  ['true ? "a" : "b"', ['warning 1 constant: expression always has the same result']],
  ['[?1]', ['error 3 type-mismatch: expected an optional after ?, found int']],
  ['A{b: 1}', ['error 1 undeclared: undeclared type A']],
  ['default(1)', ['error 1 no-overload: wrong number of arguments: default(value, fallback)']],
  ['1 + 1 == 2', ['warning 1 constant: expression is always true']],
  ['true', []],
  ['"a" + "b"', ['warning 1 constant: expression always has the same result']],
  ['request.path == string(1 / 0)', ['warning 24 always-fails: always fails: division by zero']],
  ['jwt.n == int("x")', ['warning 10 always-fails: always fails: text is not an int']],
  ['request.method == "a" || true', ['warning 1 constant: expression is always true']],
  [
    '[[]].exists(e, e[0] == 1 || e[0] == "a")',
    ['error 34 no-overload: no matching overload for == with (int, string)'],
  ],
  ['[[]].exists(e, e[0].exists(x, x) || e[0] == 1 || e[0] == "a")', []],
])('problems of %s', (source, expected) => {
  expect(problemsOf(source)).toEqual(expected)
})

test.each([
  ['request.method', 'bool', ['error 1 unexpected-type: expected bool, found string']],
  ['jwt.sub', 'bool', []],
  ['request.method', 'string', []],
  ['request.method', 'dyn', []],
  ['[request.method]', 'list(string)', []],
  ['[request.method]', 'list(int)', ['error 1 unexpected-type: expected list(int), found list(string)']],
])('%s where %s is expected', (source, expect_, expected) => {
  expect(problemsOf(source, { expect: expect_ })).toEqual(expected)
})

test.each([
  ['request.method == "GET"', ['request.method']],
  ['request.headers["a"] == request.headers.b', ['request.headers']],
  ['has(request.path)', ['request.path']],
  ['request["path"]', ['request.path']],
  ['request.?path', ['request.path']],
  ['request.?headers["a"]', ['request.headers']],
  ['has(request.?path)', ['request.path']],
  ['request[?"path"]', ['request', 'request.headers', 'request.method', 'request.path']],
  ['jwt.sub', ['jwt']],
  ['toJson(request)', ['request', 'request.headers', 'request.method', 'request.path']],
  [
    'variables()',
    ['broken', 'jwt', 'request', 'request.headers', 'request.method', 'request.path', 'source', 'source.address'],
  ],
  ['1 + 1', []],
])('references of %s', (source, expected) => {
  const { program } = compile(source, environment)
  expect([...program!.references].sort()).toEqual(expected)
})

test('an optional member whose members are variables refers to all of them', () => {
  const variable = (path: string) => ({ path, type: 'string', read: () => '' })
  const { program } = compile(
    'a.?b == optional.none()',
    createEnvironment({ variables: [variable('a.b.c'), variable('a.d')] }),
  )
  expect([...program!.references].sort()).toEqual(['a.b', 'a.b.c'])
})

test.each([
  ['f()', 'a.b.f'],
  ['.f()', 'f'],
  ['b.f()', 'a.b.f'],
  ['.a.f()', 'a.f'],
])('%s in the namespace a.b', (source, expected) => {
  const functions = ['f', 'a.f', 'a.b.f'].map((name) => define(`${name}() -> string`, () => name))
  const named = createEnvironment<undefined>({ container: 'a.b', functions })
  expect(compile(source, named).program?.evaluate(undefined)).toBe(expected)
})

test('the value of a message has no field whose expression fails', () => {
  const type = { kind: 'object', name: 'Point' } as const
  const provider = {
    findType: (name: string) => (name === 'Point' ? type : undefined),
    findConstant: () => undefined,
    findField: () => ({ kind: 'int' }) as const,
    fieldNames: () => ['x'],
    construct: (_: string, fields: readonly (readonly [string, Value])[]) => fields.length,
  }
  const messages = createEnvironment<{ readonly n: number }>({
    provider,
    variables: [{ path: 'n', type: 'int', read: ({ n }) => n }],
  })
  const { program } = compile('Point{x: 6 / n}', messages)
  expect(program?.evaluate({ n: 2 })).toBe(1)
  expect(program?.evaluate({ n: 0 })).toMatchObject({ code: 'divide-by-zero' })
})

test('a program has its type and its constant value', () => {
  expect(formatType(compile('{"a": [1, 2]}', environment).program!.type)).toBe('map(string, list(int))')
  expect(formatType(compile('type(size(jwt.sub))', environment).program!.type)).toBe('type(int)')
  expect(compile('"a" + "b"', environment).program!.constant).toBe('ab')
  expect(compile('random() < 2.0', environment).program!.constant).toBeUndefined()
})

test('random values come from the context', () => {
  const seeded = createEnvironment<{ readonly seed: number }>({
    random: { random: ({ seed }) => seed, uuid: ({ seed }) => `id ${seed}` },
  })
  const { program } = compile('[1, 2].map(x, uuid() + string(random()))', seeded)
  expect([1, 2].map((seed) => program!.evaluate({ seed }))).toEqual([
    ['id 11', 'id 11'],
    ['id 22', 'id 22'],
  ])
})

test('a lenient program evaluates its valid parts', () => {
  const { program } = compile('request.method == "GET" || nope', environment, { lenient: true })
  expect(program!.evaluate(get)).toBe(true)
  expect(program!.evaluate({ method: 'PUT' })).toMatchObject({ code: 'undeclared' })
})

test('evaluateBoolean accepts only bools', () => {
  const run = (source: string): boolean | CelError => compile(source, environment).program!.evaluateBoolean(get)
  expect(run('request.method == "GET"')).toBe(true)
  expect(run('request.method')).toMatchObject({ code: 'no-such-overload' })
  expect(run('jwt.aud')).toMatchObject({ code: 'no-such-key' })
  expect([run('true'), run('request.method'), run('jwt.aud')].map(isTrue)).toEqual([true, false, false])
})

test.each([
  ['lists.range(100000).map(a, lists.range(100000).map(b, a + b))'],
  ['lists.range(100000).map(x, lists.range(100000))'],
  ['lists.range(100000).map(x, lists.range(90000 + int(random())))'],
  ['toJson(lists.range(100000).map(x, lists.range(100000)))'],
  ['lists.range(100000).exists(x, lists.range(100000).exists(y, false))'],
  ['lists.range(100001)'],
  [`cel.bind(a, "${'x'.repeat(1000)}", lists.range(100000).map(x, a + a + a + a))`],
  [`${'cel.bind(a, a + a, '.repeat(40).replace('a + a', '"xxxxxxxxxx"')}a${')'.repeat(40)}`],
  [`${'cel.bind(a, a + a, '.repeat(40).replace('a + a', 'lists.range(1000)')}a${')'.repeat(40)}`],
  [
    '"%.999f%.999f".format([1.0, 1.0]).replace("", "0".replace("", "%.999f".format([1.0]))).replace("", "%.999f".format([1.0]))',
  ],
])('the evaluation of %s ends', (source) => {
  const result = compile(source, environment, { lenient: true }).program!.evaluateTo(get, toJson)
  expect(result).toMatchObject({ code: 'limit' })
})

test('data deeper than the stack is an error, not a crash', () => {
  let nested: unknown = 1
  for (let i = 0; i < 200_000; i++) nested = [nested]
  const { program } = compile<Request>('jwt == jwt', environment)
  expect(program!.evaluate({ claims: { nested } })).toMatchObject({ code: 'limit' })
})

test('a bug of the host is not hidden', () => {
  const failing = createEnvironment<null>({
    variables: [
      {
        path: 'a',
        type: 'dyn',
        read: () => {
          throw new TypeError('bug')
        },
      },
    ],
  })
  expect(() => compile('a', failing).program!.evaluate(null)).toThrow('bug')
})

test('contradictory declarations are refused', () => {
  const read = (): null => null
  expect(() =>
    createEnvironment({
      variables: [
        { path: 'a', type: 'dyn', read },
        { path: 'a', unavailable: 'b' },
      ],
    }),
  ).toThrow('twice')
  expect(() => createEnvironment({ variables: [{ path: 'a', type: 'list(', read }] })).toThrow('list(')
  expect(() => define('f(int -> int', () => 1)).toThrow('f(int')
})

test('a wrapper may be null', () => {
  const nullable = createEnvironment<null>({ variables: [{ path: 'host', type: 'wrapper(string)', read: () => null }] })
  const run = (source: string): unknown => compile(source, nullable).program!.evaluate(null)
  expect([run('host == null'), run('host == "a"'), run('default(host, "b")')]).toEqual([true, false, 'b'])
})

test('a constant key can be prepared', () => {
  const prepared: string[] = []
  const keyed = createEnvironment<Request>({
    variables: [
      {
        path: 'h',
        type: 'map(string, string)',
        read: () => undefined,
        index: () => 'slow',
        prepareIndex: (key) => {
          prepared.push(key)
          return () => 'fast'
        },
      },
    ],
  })
  const run = (source: string): unknown => compile(source, keyed).program!.evaluate(get)
  expect([run('h["a"]'), run('h.b'), run('h[["a"][0] + string(random())]')]).toEqual(['fast', 'fast', 'slow'])
  expect(prepared).toEqual(['a', 'b'])
})

test.each([
  ['1', 1],
  ['9007199254740993', 9007199254740993n],
  ['1u', new Uint(1)],
  ['1.0', new Double(1)],
  ['duration("-1.5s")', new Duration(-2, 500_000_000)],
  ['timestamp(1)', new Timestamp(1, 0)],
  ['-0.0', new Double(-0)],
])('the value of %s', (source, expected) => {
  expect(compile(source, environment).program!.evaluate(get)).toEqual(expected)
})

test('times of the host', () => {
  expect(Timestamp.fromMs(1500.25)).toEqual(new Timestamp(1, 500_250_000))
  expect(Duration.fromMs(-1500)).toEqual(new Duration(-2, 500_000_000))
})

/** `cel.bind(a, [1, 1], cel.bind(b, [a, a], ...))`: a tree of 2^60 leaves in 60 small lists. */
function doubled(body: (name: string) => string): string {
  let source = body('v60')
  for (let i = 60; i > 0; i--) source = `cel.bind(v${i}, [v${i - 1}, v${i - 1}], ${source})`
  return `cel.bind(v0, jwt.sub, ${source})`
}

test.each([
  ['as a result', (v: string) => v],
  ['as JSON', (v: string) => `toJson(${v})`],
  ['as text', (v: string) => `"%s".format([${v}])`],
  ['compared', (v: string) => `${v} == ${v} + []`],
  ['in a set', (v: string) => `sets.contains([${v}], [${v}])`],
  ['flattened', (v: string) => `${v}.flatten(100)`],
])('a value that grows exponentially is an error %s', (_, body) => {
  const { program, problems } = compile(doubled(body), environment, { lenient: true })
  expect(problems.filter((problem) => problem.code === 'syntax')).toEqual([])
  expect(program!.evaluateTo(get, toJson)).toMatchObject({ code: 'limit' })
})
