import { expect, test } from 'vitest'
import { type Budget, WHOLE_BUDGET } from './budget.ts'
import { CelError, compile, createEnvironment, define, fromJson, type Result, toJson } from './index.ts'

interface Context {
  readonly body: Uint8Array
  readonly text: string
  readonly data: unknown
}

let budget: Budget = { left: 0 }

const environment = createEnvironment<Context>({
  variables: [
    { path: 'body', type: 'bytes', always: true, read: ({ body }) => body },
    { path: 'text', type: 'string', always: true, read: ({ text }) => text },
    { path: 'data', type: 'dyn', read: ({ data }) => fromJson(data) },
    { path: 'jwt', type: 'map(string, dyn)', read: () => undefined },
  ],
  functions: [define('huge() -> string', () => 'x'.repeat(16 * 1024 * 1024), { pure: false })],
  budgetOf: () => budget,
})

const KIB = 1024
const large = `[0${',7'.repeat(20 * KIB)}]`

function contextOf(text: string): Context {
  let data: unknown = null
  try {
    data = JSON.parse(text)
  } catch {
    // Most generated texts do not parse.
  }
  return { text, body: new TextEncoder().encode(text), data }
}

function programOf(source: string) {
  const { program, problems } = compile(source, environment, { lenient: true })
  if (program === undefined) throw new Error(problems.map(({ message }) => message).join())
  return program
}

/** The result, and the steps used of a whole budget. */
function run(source: string, text = ''): { result: Result; steps: number } {
  budget = { left: WHOLE_BUDGET }
  const result = programOf(source).evaluate(contextOf(text))
  return { result, steps: WHOLE_BUDGET - budget.left }
}

const ENDLESS = 'lists.range(100000).exists(x, lists.range(100000).exists(y, x < 0))'

// Without limits, each of these occupied a worker for more than 100 ms, with a body of 39 KiB or 2 MiB.
test.each([
  ['a list converted in every iteration', 'data.exists(x, data.exists(y, y + x < 0))', large],
  ['JSON parsed in every iteration', 'data.exists(x, json(text)[0] == 5)', large],
  ['text searched in every iteration', 'data.exists(x, text.contains("8" + string(x)))', large],
  [
    'code points in every iteration',
    'lists.range(text.size()).exists(i, text.charAt(i) == "x")',
    '😀'.repeat(20 * KIB),
  ],
  ['a text decoded in every iteration', 'data.exists(x, string(body) == "x")', large],
  ['a digest in every iteration', 'data.exists(x, sha256.encode(body) == "x")', large],
  ['lists compared in every iteration', 'data.exists(x, data + [x] == data + [x + 1])', large],
  ['a list searched in every iteration', 'data.exists(x, 9 in data)', large],
  ['a list sorted in every iteration', 'data.exists(x, data.sort() == [])', large],
  ['a pattern with many states', 'text.matches(".*a.{20}[xy]")', 'ab'.repeat(64 * KIB)],
  ['a pattern with many instructions', 'text.regexReplace("([ab]{1,100}){1,10}$", "")', 'ab'.repeat(KIB)],
  ['a computed pattern', 'text.matches(text)', '(a{0,30}){0,30}'.repeat(200)],
  ['exact numbers', 'size(json(text)) > 0', `[${'1.0,'.repeat(500 * KIB)}1]`],
  ['many values of JSON', 'size(json(body)) > 0', `[${'{},'.repeat(500 * KIB)}1]`],
  ['text serialised in every iteration', 'toJson(data.map(x, text)) == ""', large],
  ['a result that is too large to serialise', 'data.map(x, text + string(x))', large],
  ['a hex text of 2 MiB', 'sha256.encode(text) == ""', 'a'.repeat(2048 * KIB)],
])('%s ends at the limit', (_, source, text) => {
  budget = { left: WHOLE_BUDGET }
  expect(programOf(source).evaluateTo(contextOf(text), toJson)).toMatchObject({ code: 'limit' })
})

test.each([
  ['json(body).model == "m"', `{"model":"m","input":"${'some words '.repeat(150 * KIB)}"}`],
  ['jsonField(body, "model") == "m"', `{"input":"${'some words '.repeat(150 * KIB)}","model":"m"}`],
  ['string(body).contains("needle")', `${'some words '.repeat(150 * KIB)}needle`],
  ['text.matches("(?i)(password|secret)=")', `${'some words '.repeat(80 * KIB)}SECRET=`],
  ['json(body).messages.exists(m, m.role == "system")', JSON.stringify({ messages: [{ role: 'system' }] })],
  ['json(body).all(x, x.n >= 0)', JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ n })))],
  ['size(text.split("\\n")) > 0', 'a line\n'.repeat(100 * KIB)],
  ['size(base64.encode(body)) > 0', 'x'.repeat(2048 * KIB)],
])('%s works for bodies of the maximum size', (source, text) => {
  expect(run(source, text).result).toBe(true)
})

test('steps depend only on expression and data', () => {
  const source = 'json(body).filter(x, x > 5).map(x, string(x) + "a").sort().distinct()'
  const [first, ...others] = Array.from({ length: 5 }, () => run(source, large).steps)
  expect(first).toBeGreaterThan(0)
  expect(others).toEqual([first, first, first, first])
})

test('a function in a loop is charged by its own name', () => {
  const stepsOf = (call: string) => run(`[1, 2, 3].all(x, ${call} != "")`).steps
  expect(stepsOf('sha256.encode(string(x))')).toBeGreaterThan(3 * 8000)
  expect(stepsOf('base64.encode(string(x))')).toBeLessThan(3 * 2000)
})

test('expressions without loops and large data use no steps', () => {
  for (const source of ['text == "GET"', 'text.startsWith("/api/")', 'text in ["a", "b"]', 'text + "/" + text']) {
    expect([source, run(source, 'abc').steps]).toEqual([source, 0])
  }
})

test.each([
  ['text + text', 0],
  ['text + (text == "a" ? text : text)', 1200],
  ['"a" + (text == "a" ? text : text) + text', 1201],
  ['md5.encode(body)', 600 * 40],
  ['sha256.encode(body)', 600 * 80],
  ['base64.encode(body) + base64.encode(body)', 2 * 600 * 3 + 2 * 800],
  ['url.encode(text)', 600 * 40],
  ['text.upperAscii()', 600 * 60],
  ['text.trim()', 600 * 40],
  // Read, written, and one part.
  ['text.replace("a", "b")', 600 * 2 + 600 + 60],
  ['text.regexReplace("a", "b")', 600 * 15],
  ['bool(text)', 0],
  ['cidr(text) == cidr("10.0.0.0/8")', 600 * 8],
  // Looked up and added; the key of a list holds those of its elements.
  ['[text].distinct() == []', 2 * (220 + 600 * 0.6)],
  ['[[text]].distinct() == []', 2 * (220 + 600 * 0.6 + 220 + 607 * 0.6)],
])('%s of 600 bytes uses %i steps', (source, steps) => {
  expect(run(source, 'x'.repeat(600)).steps).toBeCloseTo(steps)
})

test.each([
  // 40 per iteration; 12 per name, literal and operator; and the costs of the calls and of the text that they read.
  ['x == 7', 40 + 3 * 12],
  ['json(string(x)) == 7', 40 + 5 * 12 + 500 + 300 + 3],
  ['timestamp(x).getHours() == 0', 40 + 5 * 12 + 1500 + 6000],
  ['ip("10.0.0.7") == ip(string(x))', 40 + 6 * 12 + 1500 + 1500 + 300 + 4],
  ['cidr("10.0.0.0/8").containsIP("10.0.0." + string(x))', 40 + 7 * 12 + 2000 + 1500 + 300 + 8 * 4],
])('%s in one iteration of a loop uses %i steps', (source, steps) => {
  expect(run(`[7].exists(x, ${source})`).steps).toBe(steps)
})

// `||`, `default()` and similar functions handle failures, but must not handle limits.
test.each([
  [`${ENDLESS} || text == ""`],
  [`true in [${ENDLESS}, true]`],
  [`coalesce(${ENDLESS}, true)`],
  [`default(${ENDLESS}, true)`],
  [`[1].exists(x, ${ENDLESS} || x == 1)`],
  [`[1, 2].exists(i, i == 2 || ${ENDLESS})`],
  [`cel.bind(a, ${ENDLESS}, text == "" || a)`],
  ['coalesce(huge() + huge(), "small") == "small"'],
  ['text.matches(text) || text != ""', '('.repeat(5000)],
])('%s: a limit is not handled', (source, text = '') => {
  expect(run(source, text).result).toMatchObject({ code: 'limit' })
})

test('evaluations with a shared budget end when it is exhausted', () => {
  budget = { left: WHOLE_BUDGET }
  const program = programOf('data.all(x, string(x) != "8")')
  const context = contextOf(large)
  const results = Array.from({ length: 10 }, () => program.evaluate(context))
  expect(results[0]).toBe(true)
  expect(results[9]).toMatchObject({ code: 'limit' })
  expect(programOf('text == "a"').evaluate(contextOf('a'))).toBe(true)
})

test('several rules parse the same body once', () => {
  budget = { left: WHOLE_BUDGET }
  const program = programOf('json(body)[0] == 0')
  const context = contextOf(large)
  program.evaluate(context)
  const once = WHOLE_BUDGET - budget.left
  for (let i = 0; i < 20; i++) program.evaluate(context)
  expect(WHOLE_BUDGET - budget.left).toBeLessThan(once * 1.01)
})

test('work outside of evaluations is not charged', () => {
  run(ENDLESS)
  expect(toJson(fromJson(JSON.parse(large)))).toHaveLength(20 * KIB + 1)
})

test.each([
  ['jwt.sub == "a"', '', 'no such key: jwt', 1, 1],
  ['data.a.b == 1', '{"a":{}}', 'no such key: b', 1, 1],
  ['text == "a" ||\n  int(text) > 5', 'b', 'text is not an int', 2, 3],
  ['[1, 2].map(x, x + data.n)', '{"n":"s"}', 'no such overload: int + string', 1, 15],
  ['default(data.a, 1 / 0) > 2', '{}', 'division by zero', 1, 17],
  ['coalesce(data.a, int(text))', 'x', 'text is not an int', 1, 18],
  ['data[text]', '{}', 'no such key', 1, 1],
  [`text == "a" || ${ENDLESS}`, '', 'evaluation takes too many steps', 1, 46],
])('the failure of %s has position and cause', (source, text, message, line, column) => {
  budget = { left: WHOLE_BUDGET }
  const program = programOf(source)
  const error = program.evaluate(contextOf(text))
  expect(error).toBeInstanceOf(CelError)
  const problem = program.locate(contextOf(text), error as CelError)
  expect([problem.message, problem.line, problem.column]).toEqual([message, line, column])
  expect(problem.caret.split('\n')[0]).toBe(source.split('\n')[line - 1])
})

test('error messages contain no data that an expression read', () => {
  const secret = 'hunter2-hunter2'
  const sources = [
    ['data[text]', '{"a":1}'],
    ['fail("it was " + text)', ''],
    ['int(text)', ''],
    ['json(text)', ''],
    ['timestamp(text)', ''],
    ['duration(text)', ''],
    ['text.matches("(" + text)', ''],
    ['"%d".format([text])', ''],
    ['text.charAt(size(text) + 1)', ''],
    ['jsonField(text, text)', ''],
    ['ip(text)', ''],
    ['{"a": 1}[text]', ''],
    ['text + 1', ''],
    ['[1][size(text)]', ''],
    ['timestamp(5).getHours(text)', ''],
  ]
  for (const [source = ''] of sources) {
    budget = { left: WHOLE_BUDGET }
    const program = programOf(source)
    const context = contextOf(secret)
    const error = program.evaluate(context)
    expect(error, source).toBeInstanceOf(CelError)
    expect(program.locate(context, error as CelError).message, source).not.toContain('hunter2')
  }
})
