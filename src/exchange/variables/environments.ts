import {
  createEnvironment,
  type Environment,
  FLATTEN_FUNCTIONS,
  type UnavailableVariable,
  type Variable,
} from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import type { ExpressionPlace } from '../expression.ts'
import type { ExpressionBudgets } from '../expression-budgets.ts'
import { ENV, IDENTITY, PLACE } from './context-variables.ts'
import type { Declared } from './declared.ts'
import { HEADER_TYPES } from './header-view.ts'
import { LLM, LLM_ANSWER, LLM_REQUEST, LLM_TIMES } from './llm-variables.ts'
import { MCP, MCP_GUARDRAILS, MCP_ITEM, MCP_PAYLOAD } from './mcp-variables.ts'
import { QUERY_FUNCTIONS } from './query.ts'
import { DURATIONS, ENDED, REQUEST, REQUEST_BODY, RESPONSE, RESPONSE_BODY } from './request-variables.ts'
import { CERTIFICATE, SOURCE, TUNNEL, WORKLOAD } from './source-variables.ts'

type Places = readonly ExpressionPlace[]

/** Variables that come and go together. */
interface Group {
  readonly variables: readonly Declared[]
  readonly places: Places
  /** Completes "x is not available here: ..." for the other places. */
  readonly otherwise: string
  /** The same for some of them, where another reason is nearer. */
  readonly because?: Readonly<Partial<Record<ExpressionPlace, string>>>
  /** Nothing delivers the values in this version, in these places: they are absent, and lint says so. */
  readonly undelivered?: { readonly places: Places; readonly why: string }
}

/** Places whose results are attributes, of which one expression may give several. */
const ATTRIBUTES: Places = ['log', 'trace', 'resource']
const AFTERWARDS: Places = ['log', 'metric', 'trace']
const RESPONDED: Places = ['response', 'health', ...AFTERWARDS, 'token-cost']
const HTTP: Places = ['request', 'mcp', 'llm', 'request-cost', ...RESPONDED]
const CONNECTED: Places = ['network', ...HTTP]

/** A place that knows no request has one reason for all of it. */
const WITHOUT_REQUEST: Readonly<Partial<Record<ExpressionPlace, string>>> = {
  network: 'when a connection is accepted, there is no HTTP request yet',
  resource: 'resource attributes describe the gateway, not a request',
}

const NO_RESPONSE = 'there is no response yet'
const NOT_ENDED = 'the request has not ended yet'
const NO_LLM = 'it is known only after the request was sent to an LLM backend'
const NOT_ASKED = 'the request has not been sent to the provider yet; use llmRequest'
const ONLY_HEAD = 'health is evaluated when the response headers arrive'
const NO_MCP = 'these policies run before the MCP message is read'
/** Only policies of the listener decide what is recorded; whoever builds the limits on routes adds theirs. */
const UNRECORDED: Group['undelivered'] = {
  places: ['token-cost'],
  why: 'bodies are not recorded for the cost of global rate limits',
}

/** What each place may read, and why not the rest (docs/guides/expressions.md). The one table of it. */
const GROUPS: readonly Group[] = [
  { variables: SOURCE, places: CONNECTED, otherwise: '' },
  { variables: CERTIFICATE, places: CONNECTED, otherwise: '' },
  { variables: WORKLOAD, places: CONNECTED, otherwise: '' },
  { variables: TUNNEL, places: CONNECTED, otherwise: '' },
  { variables: ENV, places: ['resource', ...CONNECTED], otherwise: '' },
  { variables: REQUEST, places: HTTP, otherwise: '' },
  {
    variables: REQUEST_BODY,
    places: HTTP.filter((place) => place !== 'health'),
    otherwise: ONLY_HEAD,
    undelivered: UNRECORDED,
  },
  { variables: PLACE, places: HTTP, otherwise: '' },
  { variables: IDENTITY, places: HTTP, otherwise: '' },
  { variables: RESPONSE, places: RESPONDED, otherwise: NO_RESPONSE },
  {
    variables: RESPONSE_BODY,
    places: RESPONDED.filter((place) => place !== 'health'),
    otherwise: NO_RESPONSE,
    because: { health: ONLY_HEAD },
    undelivered: UNRECORDED,
  },
  { variables: DURATIONS, places: RESPONDED, otherwise: NO_RESPONSE },
  { variables: ENDED, places: AFTERWARDS, otherwise: NOT_ENDED },
  {
    variables: LLM,
    places: RESPONDED,
    otherwise: NO_LLM,
    because: { llm: NOT_ASKED },
  },
  {
    variables: LLM_ANSWER,
    places: RESPONDED.filter((place) => place !== 'health'),
    otherwise: NO_LLM,
    because: { llm: NOT_ASKED, health: ONLY_HEAD },
  },
  { variables: LLM_TIMES, places: AFTERWARDS, otherwise: NOT_ENDED },
  { variables: LLM_REQUEST, places: ['llm'], otherwise: 'only transformations of LLM requests can read it' },
  {
    variables: MCP,
    places: AFTERWARDS,
    otherwise: NO_MCP,
    because: { mcp: 'rules are evaluated for items, not for messages' },
  },
  { variables: MCP_ITEM, places: ['mcp', ...AFTERWARDS], otherwise: NO_MCP },
  {
    variables: MCP_PAYLOAD,
    places: ['log', 'trace'],
    otherwise: NO_MCP,
    because: {
      mcp: 'rules cannot read tool arguments and results',
      metric: 'tool arguments and results cannot be metric labels',
    },
  },
  { variables: MCP_GUARDRAILS, places: HTTP, otherwise: '' },
]

/** Which steps an expression takes, by its place. */
export const BUDGET_OF: Readonly<Record<ExpressionPlace, keyof Omit<ExpressionBudgets, 'reset'>>> = {
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

const environments = new Map<ExpressionPlace, Environment<Exchange>>()

/** The environment of a place; made once. */
export function environmentOf(place: ExpressionPlace): Environment<Exchange> {
  let environment = environments.get(place)
  if (environment === undefined) {
    const budget = BUDGET_OF[place]
    environment = createEnvironment<Exchange>({
      variables: variablesAt(place),
      functions: ATTRIBUTES.includes(place) ? [...QUERY_FUNCTIONS, ...FLATTEN_FUNCTIONS] : QUERY_FUNCTIONS,
      budgetOf: ({ budgets }) => budgets[budget],
      types: [...HEADER_TYPES, { name: 'secret', methods: ['unredacted() -> string'] }],
    })
    environments.set(place, environment)
  }
  return environment
}

/** Every variable there is, as the place sees it: readable, or with the reason why not. */
export function variablesAt(place: ExpressionPlace): readonly (Variable<Exchange> | UnavailableVariable)[] {
  return GROUPS.flatMap(({ variables, places, otherwise, because }) => {
    if (places.includes(place)) return variables
    const unavailable = WITHOUT_REQUEST[place] ?? because?.[place] ?? otherwise
    return variables.map(({ path }) => ({ path, unavailable }))
  })
}

/** Variables of a place that can be named and are absent in this version, with the reason. */
export function undeliveredAt(place: ExpressionPlace): ReadonlyMap<string, string> {
  const groups = GROUPS.filter(({ undelivered }) => undelivered?.places.includes(place))
  return new Map(groups.flatMap(({ variables, undelivered }) => variables.map(({ path }) => [path, undelivered!.why])))
}
