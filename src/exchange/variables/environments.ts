import {
  createEnvironment,
  type Environment,
  FLATTEN_FUNCTIONS,
  type RandomSource,
  type UnavailableVariable,
  type Variable,
} from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import type { ExpressionEnvironment } from '../expression.ts'
import type { ExpressionBudgets } from '../expression-budgets.ts'
import { A2A } from './a2a-variables.ts'
import { CLIENT_MODEL } from './client-model-variable.ts'
import { ENV, GATEWAY_NAMES, IDENTITY, RAW_TOKEN_IN_KEYS } from './context-variables.ts'
import type { Declared } from './declared.ts'
import { HEADER_TYPES } from './header-view.ts'
import { LLM, LLM_ANSWER, LLM_REQUEST, LLM_TIMES, REQUEST_MODEL } from './llm-variables.ts'
import { MCP, MCP_ANNOTATIONS, MCP_ARGUMENTS, MCP_GUARDRAILS, MCP_ITEM, MCP_PAYLOAD } from './mcp-variables.ts'
import { QUERY_FUNCTIONS } from './query.ts'
import { DURATIONS, ENDED, REQUEST, REQUEST_BODY, RESPONSE, RESPONSE_BODY } from './request-variables.ts'
import { CERTIFICATE, SOURCE, TUNNEL, WORKLOAD } from './source-variables.ts'

type Environments = readonly ExpressionEnvironment[]

/** Variables that are available in the same environments. */
interface Group {
  readonly variables: readonly Declared[]
  readonly environments: Environments
  /** Completes "x is not available here: ..." for the other environments. */
  readonly otherwise: string
  /** A more specific reason for some environments. */
  readonly because?: Readonly<Partial<Record<ExpressionEnvironment, string>>>
  /** This version provides no values in these environments: they are absent, and lint reports it. */
  readonly undelivered?: { readonly environments: Environments; readonly why: string }
  /** In these environments the variables are absent for streamed LLM responses. */
  readonly wholeOnly?: Environments
}

/** Environments whose results are attributes; one expression may give several. */
const ATTRIBUTES: Environments = ['log', 'trace', 'resource']
const AFTERWARDS: Environments = ['log', 'metric', 'trace']
const RESPONDED: Environments = ['response', 'health', ...AFTERWARDS, 'token-cost']
const HTTP: Environments = ['request', 'mcp', 'llm', 'request-cost', ...RESPONDED]
const CONNECTED: Environments = ['network', ...HTTP]

/** The same reason applies to all variables of a request. */
const WITHOUT_REQUEST: Readonly<Partial<Record<ExpressionEnvironment, string>>> = {
  network: 'when a connection is accepted, there is no HTTP request yet',
  resource: 'resource attributes describe the gateway, not a request',
}

const NO_RESPONSE = 'there is no response yet'
const NOT_ENDED = 'the request has not ended yet'
const NO_LLM = 'it is known only after the request was sent to an LLM backend'
const NAMED_BY_CLIENT = `${NO_LLM}; use llm.clientModel`
const NOT_SENT = 'the request has not been sent to the provider yet; use llmRequest'
const ONLY_HEAD = 'health is evaluated when the response headers arrive'
const NO_MCP = 'these policies run before the MCP message is read'
const ONLY_RULES = 'only rules for MCP can read the annotations of tools'
/** Bodies are recorded only for expressions of the listener's policies. */
const UNRECORDED: Group['undelivered'] = {
  environments: ['token-cost'],
  why: 'bodies are not recorded for the cost of global rate limits',
}

/** The variables of each environment, and why others are not available (docs/guides/expressions.md). No other table exists. */
const GROUPS: readonly Group[] = [
  { variables: SOURCE, environments: CONNECTED, otherwise: '' },
  { variables: CERTIFICATE, environments: CONNECTED, otherwise: '' },
  { variables: WORKLOAD, environments: CONNECTED, otherwise: '' },
  { variables: TUNNEL, environments: CONNECTED, otherwise: '' },
  { variables: ENV, environments: ['resource', ...CONNECTED], otherwise: '' },
  { variables: REQUEST, environments: HTTP, otherwise: '' },
  {
    variables: REQUEST_BODY,
    environments: HTTP.filter((environment) => environment !== 'health'),
    otherwise: ONLY_HEAD,
    undelivered: UNRECORDED,
  },
  { variables: GATEWAY_NAMES, environments: HTTP, otherwise: '' },
  { variables: IDENTITY, environments: HTTP, otherwise: '' },
  { variables: RESPONSE, environments: RESPONDED, otherwise: NO_RESPONSE, wholeOnly: ['token-cost'] },
  {
    variables: RESPONSE_BODY,
    environments: RESPONDED.filter((environment) => environment !== 'health'),
    otherwise: NO_RESPONSE,
    because: { health: ONLY_HEAD },
    undelivered: UNRECORDED,
  },
  { variables: DURATIONS, environments: RESPONDED, otherwise: NO_RESPONSE },
  { variables: ENDED, environments: AFTERWARDS, otherwise: NOT_ENDED },
  {
    variables: CLIENT_MODEL,
    environments: ['request', 'request-cost'],
    otherwise: 'only policies of requests can read it',
    because: { llm: NOT_SENT },
  },
  {
    variables: REQUEST_MODEL,
    environments: RESPONDED,
    otherwise: NO_LLM,
    because: { request: NAMED_BY_CLIENT, 'request-cost': NAMED_BY_CLIENT, llm: NOT_SENT },
  },
  {
    variables: LLM,
    environments: RESPONDED,
    otherwise: NO_LLM,
    because: { llm: NOT_SENT },
  },
  {
    variables: LLM_ANSWER,
    environments: RESPONDED.filter((environment) => environment !== 'health'),
    otherwise: NO_LLM,
    because: { llm: NOT_SENT, health: ONLY_HEAD },
  },
  { variables: LLM_TIMES, environments: AFTERWARDS, otherwise: NOT_ENDED },
  { variables: LLM_REQUEST, environments: ['llm'], otherwise: 'only transformations of LLM requests can read it' },
  {
    variables: MCP,
    environments: AFTERWARDS,
    otherwise: NO_MCP,
    because: { mcp: 'rules are evaluated for items, not for messages' },
  },
  { variables: MCP_ITEM, environments: ['mcp', ...AFTERWARDS], otherwise: NO_MCP },
  {
    variables: MCP_ARGUMENTS,
    environments: ['mcp', 'log', 'trace'],
    otherwise: NO_MCP,
    because: { metric: 'tool arguments cannot be metric labels' },
  },
  {
    variables: MCP_ANNOTATIONS,
    environments: ['mcp'],
    otherwise: NO_MCP,
    because: Object.fromEntries(AFTERWARDS.map((environment) => [environment, ONLY_RULES])),
  },
  {
    variables: MCP_PAYLOAD,
    environments: ['log', 'trace'],
    otherwise: NO_MCP,
    because: {
      mcp: 'rules are evaluated before the tool responds',
      metric: 'results of tools cannot be metric labels',
    },
  },
  {
    variables: A2A,
    environments: ['request', 'request-cost', ...RESPONDED],
    otherwise: 'the request is not for an A2A agent',
  },
  { variables: MCP_GUARDRAILS, environments: HTTP, otherwise: '' },
]

/** The budget that expressions of an environment use. */
const BUDGET_OF: Readonly<Record<ExpressionEnvironment, keyof ExpressionBudgets>> = {
  network: 'request',
  request: 'request',
  'request-cost': 'request',
  mcp: 'request',
  llm: 'request',
  response: 'response',
  health: 'response',
  log: 'record',
  metric: 'record',
  trace: 'record',
  resource: 'record',
  'token-cost': 'record',
}

const RANDOM: RandomSource<Exchange> = {
  random: ({ context }) => context.random(),
  uuid: ({ context }) => context.uuid(),
}

const environments = new Map<string, Environment<Exchange>>()

/** The compiled environment; created once. @param forKeys see `ExpressionUse` */
export function environmentOf(name: ExpressionEnvironment, forKeys = false): Environment<Exchange> {
  const kept = forKeys ? `${name} key` : name
  let environment = environments.get(kept)
  if (environment === undefined) {
    const budget = BUDGET_OF[name]
    environment = createEnvironment<Exchange>({
      variables: forKeys ? variablesAt(name).map(inKeys) : variablesAt(name),
      functions: ATTRIBUTES.includes(name) ? [...QUERY_FUNCTIONS, ...FLATTEN_FUNCTIONS] : QUERY_FUNCTIONS,
      budgetOf: ({ budgets }) => budgets[budget],
      random: RANDOM,
      meanings: VARIABLE_MEANINGS,
      types: [...HEADER_TYPES, { name: 'secret', methods: ['unredacted() -> string'] }],
    })
    environments.set(kept, environment)
  }
  return environment
}

function inKeys(variable: Variable<Exchange> | UnavailableVariable): Variable<Exchange> | UnavailableVariable {
  return 'read' in variable && variable.path === RAW_TOKEN_IN_KEYS.path ? RAW_TOKEN_IN_KEYS : variable
}

/** All variables in this environment: readable, or with the reason why not. */
export function variablesAt(environment: ExpressionEnvironment): readonly (Variable<Exchange> | UnavailableVariable)[] {
  return GROUPS.flatMap(({ variables, environments, otherwise, because, wholeOnly }) => {
    if (wholeOnly?.includes(environment)) return variables.map(absentIfStreamed)
    if (environments.includes(environment)) return variables
    const unavailable = WITHOUT_REQUEST[environment] ?? because?.[environment] ?? otherwise
    return variables.map(({ path }) => ({ path, unavailable }))
  })
}

/** Specification 2, 2.2.8: the cost of tokens sees no response when the request streams. */
function absentIfStreamed(variable: Declared): Declared {
  if ('unavailable' in variable) return variable
  const { read, index, prepareIndex, ...others } = variable
  const unlessStreamed =
    <A extends readonly unknown[], R>(reader: (exchange: Exchange, ...more: A) => R) =>
    (exchange: Exchange, ...more: A) =>
      exchange.llm?.streaming === true ? undefined : reader(exchange, ...more)
  return {
    ...others,
    read: unlessStreamed(read),
    ...(index && { index: unlessStreamed(index) }),
    ...(prepareIndex && { prepareIndex: (key: string) => unlessStreamed(prepareIndex(key)) }),
  }
}

/** Variables of an environment that are declared but absent in this version, with the reason. */
export function undeliveredAt(environment: ExpressionEnvironment): ReadonlyMap<string, string> {
  const groups = GROUPS.filter(({ undelivered }) => undelivered?.environments.includes(environment))
  return new Map(groups.flatMap(({ variables, undelivered }) => variables.map(({ path }) => [path, undelivered!.why])))
}

/** Paths that users of other gateways and languages write, with the variables that they mean. */
export const VARIABLE_MEANINGS: ReadonlyMap<string, string> = new Map([
  ['request.url', 'request.uri'],
  ['request.url_path', 'request.path'],
  ['request.query', 'request.pathAndQuery'],
  ['request.protocol', 'request.version'],
  ['request.time', 'request.startTime'],
  ['request.ip', 'source.address'],
  ['request.clientIp', 'source.address'],
  ['request.remoteAddress', 'source.address'],
  ['source.ip', 'source.address'],
  ['response.status', 'response.code'],
  ['response.statusCode', 'response.code'],
  ['response.status_code', 'response.code'],
  ['llm.model', 'llm.requestModel'],
  ['request.model', 'llm.clientModel'],
  ['llm.tokens', 'llm.totalTokens'],
  ['mcp.target', 'mcp.tool.target'],
  ['mcp.name', 'mcp.tool.name'],
  ['mcp.toolName', 'mcp.tool.name'],
  ['mcp.arguments', 'mcp.tool.arguments'],
  ['mcp.method', 'mcp.methodName'],
])
