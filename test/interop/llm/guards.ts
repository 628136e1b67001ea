import type { Reply, Seen } from './replies.ts'

/** Where the guards of the backends ask. */
export const JUDGE = 'judge'

export const GUARD_TEXTS = {
  message: 'You may not say that.',
  /** An error as all three APIs write it. */
  object: '{"type":"error","error":{"message":"You may not say that, either.","type":"policy","code":"words"}}',
  objectMessage: 'You may not say that, either.',
  verdict: 'The judge says no.',
  mask: '<EMAIL_ADDRESS>',
  result: 'The address is ann@example.org!',
} as const

/** The guards of all backends behind `<upstream>-guarded`. */
export const PROMPT_GUARD = {
  request: [
    { regex: { action: 'Reject', matches: ['forbidden word'] }, response: { message: GUARD_TEXTS.message } },
    {
      regex: { action: 'Reject', matches: ['forbidden object'] },
      response: { message: GUARD_TEXTS.object, statusCode: 422 },
    },
    { regex: { builtins: ['Email'] } },
    { webhook: { backendRef: { name: JUDGE, port: 80 } } },
  ],
  response: [{ regex: { builtins: ['Email'] } }, { webhook: { backendRef: { name: JUDGE, port: 80 } } }],
}

/** What the judge answers to a question of a guard: a status and a body. */
export function judge(question: string): readonly [status: number, body: object] {
  if (question.includes('unjudgeable')) return [500, {}]
  const isRefused = question.includes('unspeakable')
  return [200, { action: isRefused ? { body: GUARD_TEXTS.verdict, status_code: 403 } : {} }]
}

const INPUT = { city: 'ann@example.org' }
/** More than one window of a guard. */
const LONG = 'A long story, word by word. '.repeat(50)

/** What the model says behind guards; a text: what is wrong with the request. */
export function guardedReply(scenario: string, { tools, results }: Seen): Reply | string {
  const json = { city: 'ann@example.org', degrees: 12 }
  switch (scenario) {
    case 'guard-structured':
      if (tools.includes('json')) return { calls: [{ id: 'call_json', name: 'json', input: json }], end: 'calls' }
      return { texts: [JSON.stringify(json)], end: 'stop' }
    case 'guard-masked': {
      const [result] = results
      if (result === undefined) {
        const calls = [{ id: 'call_ann', name: 'weather', input: INPUT }]
        return { texts: ['Write to an', 'n@exam', 'ple.org', '!'], calls, end: 'calls' }
      }
      if (result.text !== `The address is ${GUARD_TEXTS.mask}!`) return `the result is ${result.text}`
      return { texts: ['Done.'], end: 'stop' }
    }
    case 'guard-rejected':
      return { texts: ['This is unspeak', 'able.'], end: 'stop' }
    case 'guard-blocked':
      return { texts: [LONG, 'Now unspeak', 'able words', ' follow.'], end: 'stop' }
    case 'guard-broken':
      return { texts: [LONG, 'This is unjudgeable.'], end: 'stop' }
    default:
      return 'the guard let it pass'
  }
}
