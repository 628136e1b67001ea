import { deepStrictEqual, equal, match, ok } from 'node:assert/strict'
import { GUARD_TEXTS } from './guards.ts'
import { SCHEMA } from './replies.ts'
import { both, failure, type Scenario } from './scenario.ts'

const refused =
  (prompt: string, status: number, message: string): Scenario =>
  (connection, { errors }) =>
    both(async (ask) => {
      const fault = await failure(connection, ask({ prompt }))
      equal(fault.status, status)
      match(fault.message, new RegExp(message))
      if (errors[status] !== undefined) equal(fault.kind, errors[status])
    })(connection)

/** Each with every client and upstream, through guards. */
export const GUARD_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'guard-refused': refused('Say the forbidden word.', 403, GUARD_TEXTS.message),
  'guard-refused-json': refused('Say the forbidden object.', 422, GUARD_TEXTS.objectMessage),
  'guard-judged': refused('Say something unspeakable.', 403, GUARD_TEXTS.verdict),
  'guard-failed': refused('Say something unjudgeable.', 503, 'prompt guard failed'),
  'guard-rejected': refused('Hello.', 403, GUARD_TEXTS.verdict),
  'guard-masked': (connection) =>
    both(async (ask) => {
      const first = await ask({ prompt: 'Where is Ann?', offersTools: true })
      const calls = first.calls.map(({ name, input }) => [name, input])
      deepStrictEqual(
        [first.reason, first.text, calls],
        ['calls', `Write to ${GUARD_TEXTS.mask}!`, [['weather', { city: GUARD_TEXTS.mask }]]],
      )
      const results = first.calls.map(({ id, name }) => ({ id, name, text: GUARD_TEXTS.result }))
      const second = await ask({ history: first.history, results, offersTools: true })
      equal(second.text, 'Done.')
    })(connection),
  async 'guard-structured'(connection) {
    const parsed = await connection.parse({ prompt: 'Weather as JSON.' }, SCHEMA)
    deepStrictEqual(parsed, { city: GUARD_TEXTS.mask, degrees: 12 })
  },
  'guard-blocked': ended(GUARD_TEXTS.verdict),
  'guard-broken': ended('prompt guard failed'),
}

/** A stream that a guard ends after its first text. */
function ended(message: string): Scenario {
  return async (connection) => {
    let pieces = 0
    const fault = await failure(
      connection,
      connection.stream({ prompt: 'Hello.' }, () => pieces++),
    )
    match(fault.message, new RegExp(message))
    ok(pieces > 0, 'no text came before the error')
  }
}
