import { createEnvironment, type Environment, type UnavailableVariable, type Variable } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import type { ExpressionPlace } from '../expression.ts'
import { IDENTITY, LLM, LLM_REQUEST, MCP, MCP_ITEM, PLACE, SOURCE } from './context-variables.ts'
import { QUERY_FUNCTIONS } from './query.ts'
import { ENDED, REQUEST, RESPONSE } from './request-variables.ts'

type Group = readonly Variable<Exchange>[]

/** Every variable there is, in groups that come and go together; the reason is shown where a group is not available. */
const GROUPS = {
  source: { variables: SOURCE, only: '' },
  request: { variables: REQUEST, only: 'nothing of HTTP is known when a connection is accepted' },
  place: { variables: PLACE, only: 'nothing of HTTP is known when a connection is accepted' },
  identity: { variables: IDENTITY, only: 'nothing of HTTP is known when a connection is accepted' },
  response: { variables: RESPONSE, only: 'there is no response yet' },
  ended: { variables: ENDED, only: 'the request has not ended yet' },
  llm: { variables: LLM, only: 'it is known only after an LLM backend was asked' },
  llmRequest: { variables: LLM_REQUEST, only: 'it is for the transformations of LLM requests' },
  mcp: { variables: MCP, only: 'the MCP message is read after these policies have run' },
  mcpItem: { variables: MCP_ITEM, only: 'the MCP message is read after these policies have run' },
} as const satisfies Record<string, { variables: Group; only: string }>

type GroupName = keyof typeof GROUPS

const HTTP: readonly GroupName[] = ['source', 'request', 'place', 'identity']

/** What each place may read (docs/behaviour/http.md, "Variables"). */
const PLACES: Readonly<Record<ExpressionPlace, readonly GroupName[]>> = {
  network: ['source'],
  request: HTTP,
  response: [...HTTP, 'response'],
  log: [...HTTP, 'response', 'ended', 'llm', 'mcp', 'mcpItem'],
  metric: [...HTTP, 'response', 'ended', 'llm', 'mcp', 'mcpItem'],
  trace: [...HTTP, 'response', 'ended', 'llm', 'mcp', 'mcpItem'],
  mcp: [...HTTP, 'mcpItem'],
  llm: [...HTTP, 'llm', 'llmRequest'],
  'request-cost': HTTP,
  'token-cost': [...HTTP, 'response', 'llm'],
}

const environments = new Map<ExpressionPlace, Environment<Exchange>>()

/** The environment of a place; made once. */
export function environmentOf(place: ExpressionPlace): Environment<Exchange> {
  let environment = environments.get(place)
  if (environment === undefined) {
    environment = build(PLACES[place])
    environments.set(place, environment)
  }
  return environment
}

function build(groups: readonly GroupName[]): Environment<Exchange> {
  const variables: (Variable<Exchange> | UnavailableVariable)[] = []
  for (const [name, group] of Object.entries(GROUPS)) {
    const available = groups.includes(name as GroupName)
    for (const variable of group.variables) {
      variables.push(available ? variable : { path: variable.path, unavailable: group.only })
    }
  }
  return createEnvironment<Exchange>({
    variables,
    functions: QUERY_FUNCTIONS,
    types: [
      {
        name: 'headers',
        element: 'dyn',
        methods: [
          'join() -> headers',
          'raw() -> headers',
          'split() -> headers',
          'redacted() -> headers',
          'cookie(string) -> string',
        ],
      },
      { name: 'secret', methods: ['unredacted() -> string'] },
    ],
  })
}
