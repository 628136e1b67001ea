import { deepStrictEqual, equal, match, ok } from 'node:assert/strict'
import type { Connection, Question } from './client.ts'
import { formScenarios } from './form-scenarios.ts'
import { GUARD_SCENARIOS } from './guard-scenarios.ts'
import {
  DOT,
  doneWith,
  ERROR_MESSAGE,
  PROMPT,
  RETRY_AFTER,
  resultOf,
  SCHEMA,
  TEXTS,
  USAGE,
  WEATHER,
} from './replies.ts'
import { type Ask, both, failure, never, type Scenario, streamed, whole } from './scenario.ts'

async function twoTurns(ask: Ask, cities: readonly string[], last: string, more: Question = {}): Promise<void> {
  const first = await ask({ prompt: 'What is the weather?', offersTools: true, ...more })
  deepStrictEqual(
    [first.reason, first.text, first.calls.map(({ name, input }) => [name, input])],
    ['calls', 'I look.', cities.map((city) => ['weather', { city }])],
  )
  const results = first.calls.map(({ id, name, input }) => {
    return { id, name, text: resultOf((input as { readonly city: string }).city) }
  })
  const second = await ask({ history: first.history, results, offersTools: true, ...more })
  deepStrictEqual([second.reason, second.text, second.calls], ['stop', last, []])
}

const thinking =
  (how: (connection: Connection) => Ask): Scenario =>
  async (connection, { keepsThoughts }) => {
    const last = keepsThoughts ? 'The thought came back.' : 'No thought came back.'
    await twoTurns(how(connection), ['Oslo'], last, { thinks: true })
  }

const refused =
  (status: number): Scenario =>
  async (connection, { errors }) => {
    for (const isStream of [false, true]) {
      const fault = await failure(
        connection,
        isStream ? connection.stream({ prompt: PROMPT }, never) : connection.ask({ prompt: PROMPT }),
      )
      equal(fault.status, status)
      match(fault.message, new RegExp(ERROR_MESSAGE))
      if (errors[status] !== undefined) equal(fault.kind, errors[status])
      if (status === 429 && fault.retryAfter !== 'hidden') equal(fault.retryAfter, RETRY_AFTER)
    }
  }

const OWN: Readonly<Record<string, Scenario>> = {
  async text(connection) {
    const { text, reason } = await connection.ask({ prompt: PROMPT })
    deepStrictEqual([text, reason], [TEXTS.join(''), 'stop'])
  },
  async stream(connection) {
    let pieces = 0
    const { text, reason } = await connection.stream({ prompt: PROMPT }, () => pieces++)
    deepStrictEqual([text, reason], [TEXTS.join(''), 'stop'])
    ok(pieces >= TEXTS.length, `the text came in ${pieces} pieces`)
  },
  usage: both(async (ask) => {
    const { usage } = await ask({ prompt: PROMPT })
    deepStrictEqual(usage, { ...USAGE })
  }),
  tools: both((ask) => twoTurns(ask, ['Oslo'], doneWith('Oslo'))),
  parallel: both((ask) => twoTurns(ask, ['Oslo', 'Rome'], doneWith('Oslo', 'Rome'))),
  async runner(connection) {
    for (const isStream of [false, true]) {
      const asked: string[] = []
      const run = (city: string) => {
        asked.push(city)
        return resultOf(city)
      }
      const text = await connection.runTools!({ prompt: 'What is the weather?', offersTools: true }, run, isStream)
      deepStrictEqual([text, asked], [doneWith('Oslo'), ['Oslo']])
    }
  },
  async structured(connection) {
    deepStrictEqual(await connection.parse({ prompt: 'Weather as JSON.' }, SCHEMA), WEATHER)
  },
  image: both(async (ask) => {
    const { text } = await ask({ prompt: 'What is this?', image: DOT })
    equal(text, 'A red dot.')
  }),
  thinking: thinking(whole),
  'thinking-stream': thinking(streamed),
  async moved(connection, { others }) {
    const failed: string[] = []
    const tools = { offersTools: true, thinks: true }
    for (const { name, connection: other } of others) {
      try {
        const first = await connection.ask({ prompt: 'What is the weather?', ...tools })
        const results = first.calls.map(({ id, name }) => ({ id, name, text: resultOf('Oslo') }))
        const second = await other.ask({ history: first.history, results, ...tools })
        equal(second.text, doneWith('Oslo'))
      } catch (error) {
        // Models up to 4.5 refuse calls of others while they think, and the gateway leaves a request of their own API as it is.
        const mustThink = error instanceof Error && /Expected `thinking`/.test(error.message)
        if (!mustThink) failed.push(`to ${name}: ${error instanceof Error ? error.message : error}`)
      }
    }
    deepStrictEqual(failed, [])
  },
  refusal: both(async (ask) => {
    const { reason, calls } = await ask({ prompt: 'Do evil.' })
    deepStrictEqual([reason, calls], ['refusal', []])
  }),
  length: both(async (ask) => {
    const { reason, text } = await ask({ prompt: 'A story.', limit: 16 })
    deepStrictEqual([reason, text], ['length', 'Once upon'])
  }),
  '400': refused(400),
  '401': refused(401),
  '429': refused(429),
  '500': refused(500),
  '529': refused(529),
  async 'stream-error'(connection) {
    let pieces = 0
    const fault = await failure(
      connection,
      connection.stream({ prompt: PROMPT }, () => pieces++),
    )
    match(fault.message, new RegExp(ERROR_MESSAGE))
    ok(pieces > 0, 'no text came before the error')
  },
  async cut(connection) {
    let pieces = 0
    await failure(
      connection,
      connection.stream({ prompt: PROMPT }, () => pieces++),
    )
    ok(pieces > 0, 'no text came before the end')
  },
  async abort(connection, { hasLeft }) {
    const abort = new AbortController()
    const asked = connection.stream({ prompt: PROMPT, signal: abort.signal }, () => abort.abort())
    await asked.then(never, never)
    ok(abort.signal.aborted, 'no text came')
    ok(await hasLeft(), 'the provider did not notice')
  },
}

/** Providers send the form that they are not asked for. */
export const FORM_SCENARIOS = formScenarios(OWN)

/** By name; each with every client and upstream. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = { ...OWN, ...FORM_SCENARIOS, ...GUARD_SCENARIOS }
