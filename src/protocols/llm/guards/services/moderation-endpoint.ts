import { ask, failed } from './ask.ts'
import { list, member } from './json-shape.ts'
import { judgeParts } from './judge-parts.ts'
import type { GuardService, ServiceVerdict } from './service.ts'
import { splitText } from './split-text.ts'

const DEFAULT_MODEL = 'omni-moderation-latest'

/** Longest text of one input: the models take 32,768 tokens, and a UTF-16 unit is at most 3 bytes, each at most a token. */
const MAX_TEXT = 10_000
const OVERLAP = 256
/** Most inputs of one call. */
const MAX_INPUTS = 32

/** The moderation endpoint of provider one: it rejects if it flags any text. @param destination key of its backend */
export function moderationEndpoint(destination: string, model = DEFAULT_MODEL): GuardService {
  return {
    kind: 'moderationEndpoint',
    destination,
    masks: false,
    judge({ messages }, around): Promise<ServiceVerdict> {
      const texts = messages.flatMap(({ content }) => (content === '' ? [] : splitText(content, MAX_TEXT, OVERLAP)))
      return judgeParts(chunksOf(texts, MAX_INPUTS), around, (input, within) => {
        const body = { input, model }
        return ask({ destination, path: '/v1/moderations', body }, within, (json) => read(json, input.length))
      })
    },
  }
}

function chunksOf(texts: readonly string[], length: number): readonly (readonly string[])[] {
  const count = Math.ceil(texts.length / length)
  return Array.from({ length: count }, (_, index) => texts.slice(index * length, (index + 1) * length))
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
