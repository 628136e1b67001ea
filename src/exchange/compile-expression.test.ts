import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { compileExpression } from './compile-expression.ts'
import { Exchange } from './exchange.ts'
import { EvaluationFailure, type ExpressionEnvironment } from './expression.ts'
import { NO_LLM } from './llm-facts.ts'

function exchange(): Exchange {
  const request = Head.request('GET', '/a/b?x=1&x=2')
  request.set('host', 'example.com:8080')
  request.set('X-Role', 'admin')
  request.append('cookie', 'a=1; b=2')
  const made = new Exchange(request, {
    remoteAddress: '10.1.2.3',
    remotePort: 4711,
    rawAddress: '10.1.2.3',
    rawPort: 4711,
    localAddress: '127.0.0.1',
    localPort: 8080,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  })
  made.identity.apiKey = { key: 'k-1', entry: 'alice', metadata: { group: 'sales' } }
  return made
}

function compiled(source: string, environment: ExpressionEnvironment = 'request') {
  const problems: string[] = []
  const expression = compileExpression(source, environment, ({ message }) => problems.push(message))
  return { expression, problems }
}

test('numbers of parsed JSON are written unchanged', () => {
  const { expression } = compiled(
    '{"a": json("[9007199254740993,18446744073709551616,1.0,1e400,-0.0]"), "b": 1.0 + 1.0}',
  )
  const text = '{"a":[9007199254740993,18446744073709551616,1.0,1e400,-0.0],"b":2}'
  expect(JSON.stringify(expression.json(exchange()))).toBe(text)
  expect(expression.body(exchange())).toEqual({ kind: 'json', bytes: new TextEncoder().encode(text) })
})

test.each([
  ['request.method', 'GET'],
  ['request.path', '/a/b'],
  ['request.pathAndQuery', '/a/b?x=1&x=2'],
  ['request.host', 'example.com:8080'],
  ['request.uri', 'http://example.com:8080/a/b?x=1&x=2'],
  ['request.uri.query("x")', ['1', '2']],
  ['request.pathAndQuery.setQuery("x", "3")', '/a/b?x=3'],
  ['request.headers["x-role"]', 'admin'],
  ['request.headers["X-ROLE"]', 'admin'],
  ['request.headers.cookie("b")', '2'],
  ['"x-role" in request.headers', true],
  ['has(request.headers.nothing)', false],
  ['request.headers["nothing"]', undefined],
  ['default(request.headers["nothing"], "none")', 'none'],
  ['apiKey.group', 'sales'],
  ['apiKey.group == "sales"', true],
  ['apiKey.key', '<redacted>'],
  ['apiKey.key.unredacted()', 'k-1'],
  ['has(jwt.sub)', false],
  ['jwt.sub', undefined],
  ['cidr("10.0.0.0/8").containsIP(source.address)', true],
  ['source.port', 4711],
])('%s is %j', (source, value) => {
  const { expression, problems } = compiled(source)
  expect(problems).toEqual([])
  expect(expression.json(exchange())).toEqual(value)
})

test.each([
  ['request.header["x"]', 'request', 'headers'],
  ['response.code == 200', 'request', 'there is no response yet'],
  ['request.method == "GET"', 'network', 'when a connection is accepted'],
  ['mcp.tool.name == "x"', 'request', 'these policies run before the MCP message'],
  ['request.method ==', 'request', 'column'],
] as const)('%s in environment %s is refused: %s', (source, environment, text) => {
  const { expression, problems } = compiled(source, environment)
  expect(problems.join('\n')).toContain(text)
  expect(expression.broken).toBe(true)
  expect(expression.isTrue(exchange())).toBe(false)
})

test.each([
  ['request.path', 'expected bool, found string'],
  ['response.code', 'expected bool, found int'],
  ['request.path == "/"', undefined],
  ['jwt.admin', undefined],
] as const)('%s as a condition: %s', (source, message) => {
  const problems: string[] = []
  const report = (problem: { severity: string; message: string }) =>
    problems.push(`${problem.severity} ${problem.message}`)
  const expression = compileExpression(source, 'response', report, { use: 'condition' })
  expect(problems).toEqual(message === undefined ? [] : [`warning ${message} (column 1)\n${source}\n^`])
  expect([expression.broken, expression.isTrue(exchange())]).toEqual([false, false])
})

test.each([
  ['request.path == 7', '== "7"'],
  ['7 == request.path', '"7" =='],
  ['llm.inputTokens + 1 > 3', '+ 1u'],
  ['math.sqrt(4.0) * 2 > 3.0', '* 2.0'],
  ['source.port == "80"', '== 80'],
  ['has(request.headers["x"])', '"x" in request.headers'],
])('%s: did you mean %s?', (source, suggestion) => {
  expect(compiled(source, 'log').problems.join()).toContain(`did you mean ${suggestion}?`)
})

test.each([
  ['"a"', 'a'],
  ['7', '7'],
  ['[1, "a"]', '["1","a"]'],
  ['apiKey.key', 'k-1'],
  ['[apiKey.key, request.method]', '["k-1","GET"]'],
  ['null', undefined],
  ['optional.none()', undefined],
  ['request.headers["nothing"]', undefined],
])('the text of the key %s: %s', (source, expected) => {
  expect(compiled(source).expression.keyText(exchange())).toBe(expected)
})

const ENDLESS = 'lists.range(100000).exists(x, lists.range(100000).exists(y, x < 0))'

test.each(['isTrue', 'test', 'text', 'keyText', 'json', 'body'] as const)('%s reports a limit', (method) => {
  const made = exchange()
  compiled(ENDLESS).expression[method](made)
  expect(made.exceeded).toContain('request: evaluation takes too many steps (column 31)')
})

test('an expression that does not compile fails always', () => {
  const { expression } = compiled('1 +')
  const made = exchange()
  const { isTrue, test: decide, text, keyText, json } = expression
  expect([isTrue, decide, text, keyText, json].map((evaluate) => evaluate(made))).toEqual([
    false,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(expression.body(made)).toEqual(new EvaluationFailure('request: the expression does not compile'))
  expect(expression.whyFailed(made)).toBe('the expression does not compile')
  expect(expression.possibleResults(() => true)).toEqual({ true: false, false: false, absent: false })
})

test('references are the paths that an expression reads', () => {
  const { expression } = compiled('request.body != null && request.headers["a"] == "b"')
  expect([...expression.references].sort()).toEqual(['request.body', 'request.headers'])
})

test('client data that is nested too deeply is an ordinary failure', () => {
  const made = exchange()
  const written: string[] = []
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = JSON.parse(`{"a":${open.repeat(100_000)}1${close.repeat(100_000)}}`)
    made.identity.jwt = { claims: deep, token: '' }
    for (const source of [
      'jwt',
      'jwt.a',
      '{"b": jwt}',
      'flatten(jwt)',
      'flattenRecursive(jwt)',
      'toJson(jwt)',
      'variables()',
    ]) {
      const expression = compileExpression(source, 'log', () => {})
      expression.writeAttributes(made, 'x', (name) => written.push(name))
      expect([source, expression.json(made)]).toEqual([source, undefined])
      expect([source, expression.body(made)]).toEqual([source, expect.any(EvaluationFailure)])
    }
  }
  expect(written).toEqual([])
})

test.each([
  ['/check', true],
  ['https://id.test/login', true],
  ['shop', true],
  ['shop.example.com/v1', true],
  ['requst', false],
  ['jwt.sub', false],
  ['request.pth', false],
  ['foo(1)', false],
])('%s where an expression is expected may be a text: %s', (source, isText) => {
  const { problems } = compiled(source)
  expect(problems.join().includes(`; if a text is meant, write '"${source}"'`)).toBe(isText)
})

test('a condition is no text', () => {
  const problems: string[] = []
  compileExpression('admin', 'request', ({ message }) => problems.push(message), { use: 'condition' })
  expect(problems).toEqual(['undeclared reference to admin (column 1)\nadmin\n^'])
})

test('bytes are text with one character for each, however many there are', () => {
  const bytes = 'b"\\xff\\x00a"'
  expect(compiled(bytes).expression.text(exchange())).toBe('\xff\0a')
  const long = `b"${'x'.repeat(9000)}"`
  expect(compiled(long).expression.text(exchange())).toBe('x'.repeat(9000))
})

test.each([
  ['jwt.admin && true', 'default(jwt.admin, false)'],
  ['jwt.name == "x"', 'default(jwt.name, "")'],
  ['jwt.level > 2', 'default(jwt.level, 0)'],
])('of %s, the part that can fail is replaced by %s', (source, safe) => {
  expect(compiled(source).expression.safePart()).toBe(safe)
})

test.each(['max_tokens', 'seed', 'temperature'])('without an LLM request, llm.params.%s is absent', (parameter) => {
  const { expression, problems } = compiled(`default(string(llm.params.${parameter}), "none")`, 'log')
  expect(problems).toEqual([])
  const made = exchange()
  expect(expression.text(made)).toBe('none')
  made.llm = NO_LLM
  expect(expression.text(made)).toBe('none')
})
