import { ask, failed } from './ask.ts'
import { list, member } from './json-shape.ts'
import type { GuardService, ServiceVerdict } from './service.ts'
import { splitText } from './split-text.ts'

const DEFAULT_MODEL = 'omni-moderation-latest'

/** Longest text of one input, and most inputs of one call. */
const MAX_TEXT = 100_000
const MAX_INPUTS = 512

/** The moderation endpoint of provider one: it rejects if it flags any text (decision B54). @param destination key of its backend */
export function moderationEndpoint(destination: string, model = DEFAULT_MODEL): GuardService {
  return {
    kind: 'moderationEndpoint',
    masks: false,
    async judge({ messages }, around): Promise<ServiceVerdict> {
      const inputs = messages.flatMap(({ content }) => (content === '' ? [] : splitText(content, MAX_TEXT)))
      let verdict: ServiceVerdict = { kind: 'pass' }
      for (let from = 0; from < inputs.length && verdict.kind === 'pass'; from += MAX_INPUTS) {
        const input = inputs.slice(from, from + MAX_INPUTS)
        const body = { input, model }
        verdict = await ask({ destination, path: '/v1/moderations', body }, around, (json) => read(json, input.length))
      }
      return verdict
    },
  }
}

/** One result for each text. */
function read(json: unknown, count: number): ServiceVerdict {
  const results = list(member(json, 'results'))
  const flags = results?.map((result) => member(result, 'flagged'))
  if (flags?.length !== count || flags.some((flag) => typeof flag !== 'boolean')) {
    return failed('the answer of the service has no verdict for each text')
  }
  return { kind: flags.includes(true) ? 'reject' : 'pass' }
}
