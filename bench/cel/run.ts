/**
 * Nanoseconds per evaluation of prepared programs: this engine and two libraries, alternating within one run.
 * Watch the last two columns: how many times slower the libraries are. Exits with status 1 below the targets.
 * With `--weights [part of a name]`: the cost of budget steps, see `weights.ts`.
 */
import { CelScalar, celEnv, listType, mapType, parse as parseBufbuild, plan } from '@bufbuild/cel'
import { Environment as CelJsEnvironment } from '@marcbachmann/cel-js'
import { compile, createEnvironment } from '#cel/index.ts'
import { printWeights } from './weights.ts'

interface Exchange {
  readonly method: string
  readonly path: string
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
  readonly groups: readonly string[]
}

const EXPRESSIONS = [
  [
    'match',
    'request.method == "GET" && request.path.startsWith("/api/") && request.path != "/api/health" && request.method in ["GET", "HEAD"]',
  ],
  ['header', 'request.headers["x-tenant"] == "acme"'],
  ['exists', 'jwt.groups.exists(g, g == "admin")'],
  ['numbers', 'response.code >= 500 && response.code < 600'],
  ['concat', 'request.method + " " + request.path'],
] as const

const BARS = { celJs: 3, bufbuild: 25 }
const ROUNDS = 15
const ROUND_MS = 12

const exchanges: readonly Exchange[] = Array.from({ length: 8 }, (_, i) => ({
  method: 'GET',
  path: `/api/items/${i}`,
  code: 500 + i,
  headers: { 'x-tenant': 'acme', accept: '*/*' },
  groups: ['users', 'editors', `team-${i}`, 'admin'],
}))

type Run = (exchange: Exchange, index: number) => unknown

function prepareOwn(expression: string): Run {
  const environment = createEnvironment<Exchange>({
    variables: [
      { path: 'request.method', type: 'string', read: (exchange) => exchange.method },
      { path: 'request.path', type: 'string', read: (exchange) => exchange.path },
      {
        path: 'request.headers',
        type: 'map(string, string)',
        read: () => undefined,
        index: (exchange, name) => exchange.headers[name],
      },
      { path: 'response.code', type: 'int', read: (exchange) => exchange.code },
      { path: 'jwt.groups', type: 'list(string)', read: (exchange) => exchange.groups },
    ],
  })
  const { program, problems } = compile(expression, environment)
  if (program === undefined) throw new Error(problems.map((problem) => problem.message).join('; '))
  return (exchange) => program.evaluate(exchange)
}

function prepareCelJs(expression: string): Run {
  const environment = new CelJsEnvironment()
  for (const name of ['request', 'response', 'jwt']) environment.registerVariable(name, 'map')
  const program = environment.parse(expression)
  const contexts = exchanges.map(({ method, path, code, headers, groups }) => ({
    request: { method, path, headers },
    response: { code: BigInt(code) },
    jwt: { groups },
  }))
  return (_, index) => program(contexts[index])
}

function prepareBufbuild(expression: string): Run {
  const anyMap = mapType(CelScalar.STRING, CelScalar.DYN)
  const environment = celEnv({
    variables: { request: anyMap, response: anyMap, jwt: mapType(CelScalar.STRING, listType(CelScalar.STRING)) },
  })
  const program = plan(environment, parseBufbuild(expression))
  const contexts = exchanges.map(({ method, path, code, headers, groups }) => ({
    request: new Map<string, unknown>([
      ['method', method],
      ['path', path],
      ['headers', new Map(Object.entries(headers))],
    ]),
    response: new Map([['code', BigInt(code)]]),
    jwt: new Map([['groups', groups]]),
  }))
  return (_, index) => program(contexts[index] as never)
}

let sink: unknown

/** Nanoseconds per call, over about `ROUND_MS`. */
function measure(run: Run): number {
  let calls = 0
  const start = performance.now()
  let elapsed = 0
  do {
    for (let i = 0; i < 800; i++) sink = run(exchanges[i & 7]!, i & 7)
    calls += 800
    elapsed = performance.now() - start
  } while (elapsed < ROUND_MS)
  return (elapsed * 1e6) / calls
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

function compareOn(expression: string): readonly [own: number, celJs: number, bufbuild: number] {
  const runs = [prepareOwn(expression), prepareCelJs(expression), prepareBufbuild(expression)]
  const results = runs.map((run) => JSON.stringify(run(exchanges[1]!, 1)))
  if (new Set(results).size !== 1) throw new Error(`results differ on ${expression}: ${results.join(', ')}`)
  const samples: number[][] = runs.map(() => [])
  for (let round = 0; round < ROUNDS; round++) for (const [i, run] of runs.entries()) samples[i]!.push(measure(run))
  return samples.map(median) as unknown as readonly [number, number, number]
}

function compareAll(): void {
  let met = true
  console.log('expression   own ns   cel-js ns   bufbuild ns   cel-js/own   bufbuild/own')
  for (const [name, expression] of EXPRESSIONS) {
    const [own, celJs, bufbuild] = compareOn(expression)
    met &&= celJs / own >= BARS.celJs && bufbuild / own >= BARS.bufbuild
    const cells = [own.toFixed(1).padStart(8), celJs.toFixed(1).padStart(12), bufbuild.toFixed(1).padStart(14)]
    const ratios = [(celJs / own).toFixed(1).padStart(13), (bufbuild / own).toFixed(1).padStart(15)]
    console.log(name.padEnd(11) + cells.join('') + ratios.join(''))
  }
  console.log(`bars: ${BARS.celJs} and ${BARS.bufbuild} times: ${met ? 'met' : 'MISSED'}`)
  if (!met || sink === undefined) process.exitCode = 1
}

const [option, filter = ''] = process.argv.slice(2)
if (option === '--weights') printWeights(filter)
else compareAll()
