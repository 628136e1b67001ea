import type { BodyDialect } from '../../chat/body-dialect.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { asIs, writeJson } from '../../json/write-json.ts'
import { MESSAGES_VERSION } from './version-fields.ts'

/**
 * Token counts of provider seven: the whole request of a model is counted, as base64. The client gets the count under the name that its API
 * has.
 */
export const COUNT_BY_INVOKING: BodyDialect = {
  translate(request, head) {
    const members = new Map<string, unknown>(request.members.map(([key, value]) => [key, asIs(value.json)]))
    members.delete('model')
    if (!members.has('max_tokens')) members.set('max_tokens', 1)
    if (!members.has('anthropic_version')) {
      members.set('anthropic_version', head.joined('anthropic-version') ?? MESSAGES_VERSION)
    }
    const body = writeJson(Object.fromEntries(members)).toBase64()
    return {
      body: { input: { invokeModel: { body } } },
      answer: (answer, _head, facts) => {
        const count = answer.get('inputTokens')?.count
        if (count === undefined) throw new Untranslatable(undefined, 'the response has no inputTokens')
        facts.countTokens = count
        return { input_tokens: count }
      },
    }
  },
}
