import { deepStrictEqual, match, ok } from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Client, Connection } from './client.ts'
import { ERROR_MESSAGE, PROMPT, TEXTS } from './replies.ts'
import { failure, never, type Scenario, streamed, whole } from './scenario.ts'
import type { Upstream } from './upstreams.ts'

/** Scenarios with this prefix: the provider sends the form that it is not asked for, a stream or a whole answer. */
const PREFIX = 'form-'

/** What is asked, without how it is answered. */
export function withoutForm(scenario: string): { readonly name: string; readonly isOther: boolean } {
  const isOther = scenario.startsWith(PREFIX)
  return { name: isOther ? scenario.slice(PREFIX.length) : scenario, isOther }
}

/** Why a client cannot be tried with a provider that sends the other form; undefined: it can. */
export function whyNoOtherForm(
  { name, isPassed }: Pick<Client, 'name' | 'isPassed'>,
  { servesResponses }: Pick<Upstream, 'servesResponses'>,
): string | undefined {
  if (isPassed === true) return 'the form of what passes through is that of the provider'
  if (name.endsWith('responses') && servesResponses)
    return 'the gateway does not translate answers of the responses API'
  return undefined
}

/** Why thoughts do not come back after an answer in the other form; undefined: as after any other. */
export function whyThoughtsAreLost(
  { name }: Pick<Client, 'name'>,
  { api }: Pick<Upstream, 'api'>,
  scenario: string,
): string | undefined {
  const isNative = api === 'completions' && !/messages|anthropic|responses/.test(name)
  const isLost = isNative && withoutForm(scenario).isOther
  return isLost ? 'an answer in the other form loses the signatures of its calls' : undefined
}

/** Clients get the same as from a provider that sends what it is asked for. */
const SAME = [
  ...['text', 'usage', 'tools', 'parallel', 'runner', 'structured'],
  ...['thinking', 'thinking-stream', 'refusal', 'length'],
]

/** Converse has no errors with status 200. */
const NO_ANSWER = 'output is required'

/** In as many pieces as the gateway likes. */
async function streams(connection: Connection): Promise<void> {
  let pieces = 0
  const { text, reason } = await connection.stream({ prompt: PROMPT }, () => pieces++)
  deepStrictEqual([text, reason], [TEXTS.join(''), 'stop'])
  ok(pieces > 0, 'no text came')
}

const leaves =
  (isStream: boolean): Scenario =>
  async (connection, { hasLeft }) => {
    const abort = new AbortController()
    const question = { prompt: PROMPT, signal: abort.signal }
    const asked = isStream ? connection.stream(question, never) : connection.ask(question)
    await setTimeout(50)
    abort.abort()
    await asked.then(never, never)
    ok(await hasLeft(), 'the provider did not notice')
  }

const fails =
  (message: RegExp): Scenario =>
  async (connection) => {
    for (const ask of [whole(connection), streamed(connection)]) {
      match((await failure(connection, ask({ prompt: PROMPT }))).message, message)
    }
  }

/** @param scenarios what is asked of a provider that sends what it is asked for */
export function formScenarios(scenarios: Readonly<Record<string, Scenario>>): Readonly<Record<string, Scenario>> {
  return {
    ...Object.fromEntries(SAME.map((name) => [PREFIX + name, scenarios[name]!])),
    'form-stream': streams,
    'form-error': fails(new RegExp(`${ERROR_MESSAGE}|${NO_ANSWER}`)),
    'form-cut': fails(/./),
    'form-abort': leaves(false),
    'form-abort-stream': leaves(true),
  }
}
