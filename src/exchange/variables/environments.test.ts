import { expect, test } from 'vitest'
import { compile } from '#cel/index.ts'
import { compileExpression } from '../compile-expression.ts'
import type { ExpressionEnvironment } from '../expression.ts'
import { environmentOf, undeliveredAt, VARIABLE_MEANINGS, variablesAt } from './environments.ts'

const ENVIRONMENTS = [
  'network',
  'resource',
  'request',
  'request-cost',
  'mcp',
  'llm',
  'response',
  'health',
  'token-cost',
  'log',
  'trace',
  'metric',
] as const satisfies readonly ExpressionEnvironment[]

/** Reasons why a variable is not available, by letter; `+`: it is available. */
const REASONS: Readonly<Record<string, string>> = {
  a: 'it is known only after the request was sent to an LLM backend',
  b: 'it is known only after the request was sent to an LLM backend; use llm.clientModel',
  c: 'when a connection is accepted, there is no HTTP request yet',
  e: 'the request has not ended yet',
  g: 'resource attributes describe the gateway, not a request',
  h: 'health is evaluated when the response headers arrive',
  i: 'rules are evaluated for items, not for messages',
  j: 'tool arguments cannot be metric labels',
  l: 'results of tools cannot be metric labels',
  m: 'these policies run before the MCP message is read',
  n: 'not implemented yet: ',
  o: 'the request is not for an A2A agent',
  k: 'only rules for MCP can read the annotations of tools',
  p: 'rules are evaluated before the tool responds',
  q: 'the request has not been sent to the provider yet; use llmRequest',
  r: 'there is no response yet',
  u: 'only policies of requests can read it',
  t: 'only transformations of LLM requests can read it',
}

/** One row per variable; one column per environment, in the order of ENVIRONMENTS. */
const TABLE = `
source.address                          + g + + + + + + + + + +
source.port                             + g + + + + + + + + + +
source.rawAddress                       + g + + + + + + + + + +
source.rawPort                          + g + + + + + + + + + +
source.identity.trustDomain             + g + + + + + + + + + +
source.identity.namespace               + g + + + + + + + + + +
source.identity.serviceAccount          + g + + + + + + + + + +
source.spiffeId                         + g + + + + + + + + + +
source.subjectAltNames                  + g + + + + + + + + + +
source.issuer                           + g + + + + + + + + + +
source.subject                          + g + + + + + + + + + +
source.subjectCn                        + g + + + + + + + + + +
source.certificate                      + g + + + + + + + + + +
source.unverifiedWorkload.name          + g + + + + + + + + + +
source.unverifiedWorkload.namespace     + g + + + + + + + + + +
source.unverifiedWorkload.serviceAccount + g + + + + + + + + + +
source.connectHeaders                   + g + + + + + + + + + +
env.podName                             + + + + + + + + + + + +
env.namespace                           + + + + + + + + + + + +
env.gateway                             + + + + + + + + + + + +
request.method                          c g + + + + + + + + + +
request.uri                             c g + + + + + + + + + +
request.host                            c g + + + + + + + + + +
request.scheme                          c g + + + + + + + + + +
request.path                            c g + + + + + + + + + +
request.pathAndQuery                    c g + + + + + + + + + +
request.version                         c g + + + + + + + + + +
request.headers                         c g + + + + + + + + + +
request.startTime                       c g + + + + + + + + + +
request.body                            c g + + + + + h + + + +
request.bodyPrefix                      c g + + + + + h + + + +
destination.address                     c g + + + + + + + + + +
destination.port                        c g + + + + + + + + + +
destination.hostname                    c g + + + + + + + + + +
proxy.bind                              c g + + + + + + + + + +
proxy.gateway.namespace                 c g + + + + + + + + + +
proxy.gateway.name                      c g + + + + + + + + + +
proxy.listener.name                     c g + + + + + + + + + +
proxy.route.namespace                   c g + + + + + + + + + +
proxy.route.name                        c g + + + + + + + + + +
proxy.route.kind                        c g + + + + + + + + + +
proxy.route.rule                        c g + + + + + + + + + +
backend.name                            c g + + + + + + + + + +
backend.type                            c g + + + + + + + + + +
backend.protocol                        c g + + + + + + + + + +
jwt                                     c g + + + + + + + + + +
jwt.rawToken                            c g + + + + + + + + + +
apiKey                                  c g + + + + + + + + + +
apiKey.key                              c g + + + + + + + + + +
basicAuth.username                      c g + + + + + + + + + +
metadata                                c g + + + + + + + + + +
extauthz                                c g + + + + + + + + + +
extproc                                 c g + + + + + + + + + +
response.code                           c g r r r r + + + + + +
response.grpcStatus                     c g r r r r + + + + + +
response.headers                        c g r r r r + + + + + +
response.body                           c g r r r r + h + + + +
response.bodyPrefix                     c g r r r r + h + + + +
proxy.requestProcessingDuration         c g r r r r + + + + + +
proxy.upstreamDuration                  c g r r r r + + + + + +
request.endTime                         c g e e e e e e e + + +
proxy.responseProcessingDuration        c g e e e e e e e + + +
llm.clientModel                         c g + + u q u u u u u u
llm.requestModel                        c g b b a q + + + + + +
llm.streaming                           c g a a a q + + + + + +
llm.provider                            c g a a a q + + + + + +
llm.prompt                              c g a a a q + + + + + +
llm.params.temperature                  c g a a a q + + + + + +
llm.params.top_p                        c g a a a q + + + + + +
llm.params.frequency_penalty            c g a a a q + + + + + +
llm.params.presence_penalty             c g a a a q + + + + + +
llm.params.seed                         c g a a a q + + + + + +
llm.params.max_tokens                   c g a a a q + + + + + +
llm.params.dimensions                   c g a a a q + + + + + +
llm.params.encoding_format              c g a a a q + + + + + +
llm.responseModel                       c g a a a q + h + + + +
llm.serviceTier                         c g a a a q + h + + + +
llm.inputTokens                         c g a a a q + h + + + +
llm.outputTokens                        c g a a a q + h + + + +
llm.totalTokens                         c g a a a q + h + + + +
llm.providerInputTokens                 c g a a a q + h + + + +
llm.providerTotalTokens                 c g a a a q + h + + + +
llm.cachedInputTokens                   c g a a a q + h + + + +
llm.cacheCreationInputTokens            c g a a a q + h + + + +
llm.cacheCreation1hInputTokens          c g a a a q + h + + + +
llm.reasoningTokens                     c g a a a q + h + + + +
llm.countTokens                         c g a a a q + h + + + +
llm.inputImageTokens                    c g a a a q + h + + + +
llm.inputTextTokens                     c g a a a q + h + + + +
llm.inputAudioTokens                    c g a a a q + h + + + +
llm.outputImageTokens                   c g a a a q + h + + + +
llm.outputTextTokens                    c g a a a q + h + + + +
llm.outputAudioTokens                   c g a a a q + h + + + +
llm.completion                          c g a a a q + h + + + +
llm.toolCalls                           c g a a a q + h + + + +
llm.cost.input                          c g a a a q + h + + + +
llm.cost.output                         c g a a a q + h + + + +
llm.cost.cacheRead                      c g a a a q + h + + + +
llm.cost.cacheWrite                     c g a a a q + h + + + +
llm.cost.total                          c g a a a q + h + + + +
llm.costRates.input                     c g a a a q + h + + + +
llm.costRates.output                    c g a a a q + h + + + +
llm.costRates.cacheRead                 c g a a a q + h + + + +
llm.costRates.cacheWrite                c g a a a q + h + + + +
llm.costRates.cacheWrite1h              c g a a a q + h + + + +
llm.costRates.inputAudio                c g a a a q + h + + + +
llm.costRates.inputImage                c g a a a q + h + + + +
llm.costRates.outputAudio               c g a a a q + h + + + +
llm.costRates.outputImage               c g a a a q + h + + + +
llm.costRates.outputReasoning           c g a a a q + h + + + +
llm.timeToFirstToken                    c g e e e e e e e + + +
llm.timePerOutputToken                  c g e e e e e e e + + +
llmRequest                              c g t t t + t t t t t t
mcp.methodName                          c g m m i m m m m + + +
mcp.sessionId                           c g m m i m m m m + + +
mcp.tool.name                           c g m m + m m m m + + +
mcp.tool.target                         c g m m + m m m m + + +
mcp.prompt.name                         c g m m + m m m m + + +
mcp.prompt.target                       c g m m + m m m m + + +
mcp.resource.name                       c g m m + m m m m + + +
mcp.resource.target                     c g m m + m m m m + + +
mcp.task.name                           c g m m + m m m m + + +
mcp.task.target                         c g m m + m m m m + + +
mcp.tool.arguments                      c g m m + m m m m + + j
mcp.tool.annotations.title              c g m m + m m m m k k k
mcp.tool.annotations.readOnlyHint       c g m m + m m m m k k k
mcp.tool.annotations.destructiveHint    c g m m + m m m m k k k
mcp.tool.annotations.idempotentHint     c g m m + m m m m k k k
mcp.tool.annotations.openWorldHint      c g m m + m m m m k k k
mcp.tool.result                         c g m m p m m m m + + l
mcp.tool.error                          c g m m p m m m m + + l
a2a.method                              c g + + o o + + + + + +
mcpGuardrails                           c g n n n n n n n n n n
`

const rows = TABLE.trim()
  .split('\n')
  .map((line) => line.split(/ +/))

for (const [path = '', ...cells] of rows) {
  test(`${path} in every environment`, () => {
    expect(cells).toHaveLength(ENVIRONMENTS.length)
    for (const [i, environment] of ENVIRONMENTS.entries()) {
      const declared = variablesAt(environment).find((variable) => variable.path === path)!
      const reason = 'unavailable' in declared ? declared.unavailable : undefined
      const letter = cells[i]!
      if (letter === '+') expect([environment, reason]).toEqual([environment, undefined])
      else expect([environment, letter === 'n' ? reason?.slice(0, 21) : reason]).toEqual([environment, REASONS[letter]])
    }
  })
}

test('the table has every variable', () => {
  for (const environment of ENVIRONMENTS) {
    expect(variablesAt(environment).map(({ path }) => path)).toEqual(rows.map(([path]) => path))
    expect(environmentOf(environment)).toBe(environmentOf(environment))
  }
})

test('variables that are declared but absent in this version are listed', () => {
  const paths = (environment: ExpressionEnvironment) => [...undeliveredAt(environment).keys()]
  for (const environment of ['request', 'log', 'metric', 'trace'] as const) {
    expect(paths(environment)).not.toContain('source.spiffeId')
    expect(paths(environment)).not.toContain('request.body')
  }
  expect(paths('token-cost')).toEqual(expect.arrayContaining(['request.body', 'response.bodyPrefix']))
  expect(paths('resource')).toEqual([])
})

test('flatten is available only for attributes', () => {
  const problems = (environment: ExpressionEnvironment) => compile('flatten(jwt)', environmentOf(environment)).problems
  expect(problems('log')).toEqual([])
  expect(problems('trace')).toEqual([])
  expect(problems('request')).toMatchObject([{ severity: 'error' }])
})

function suggestionFor(path: string, environment: ExpressionEnvironment): string | undefined {
  const messages: string[] = []
  compileExpression(`${path} == "a"`, environment, ({ message }) => messages.push(message), { use: 'condition' })
  return messages.flatMap((message) => /did you mean (.*)\? \(/.exec(message)?.[1] ?? [])[0]
}

test.each([...VARIABLE_MEANINGS])('%s means %s where expressions can read it', (path, meant) => {
  const environments: readonly ExpressionEnvironment[] = ['request', 'response', 'mcp', 'log']
  expect(environments.map((environment) => suggestionFor(path, environment))).toContain(meant)
})

test('a variable that is not available is not suggested', () => {
  expect(suggestionFor('response.status', 'health')).toBe('response.code')
  expect(suggestionFor('response.status', 'request')).toBeUndefined()
  expect(suggestionFor('mcp.target', 'request')).toBeUndefined()
})
