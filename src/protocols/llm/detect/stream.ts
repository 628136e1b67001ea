import { keepChoices } from '../dialects/completions/keep-answer.ts'
import { hasOutput } from '../dialects/completions/stream.ts'
import { keepBlockEvent } from '../dialects/messages/keep-answer.ts'
import { keepItemEvent } from '../dialects/responses/keep-answer.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'
import type { StreamFormat } from '../facts/stream-format.ts'
import { wantedMembers } from '../json/member-reader.ts'
import { memberOf, textAt } from '../json/read-value.ts'
import { CallsOfChoices } from '../texts/call-numbers.ts'
import { DETECT_MEMBERS, DetectReader } from './response.ts'

/** Members of a stream's objects that can be large are read in part. */
const EVENT_PATHS = DETECT_MEMBERS.flatMap((member) => {
  if (member !== 'response' && member !== 'message' && member !== 'metadata') return [member]
  return ['id', 'model', 'modelVersion', 'service_tier', 'usage', 'usageMetadata'].map((name) => `${member}.${name}`)
}).concat('type', 'error', 'stopReason', 'delta.stop_reason')

/** Those of a whole response of the Responses API, in its last event. */
const RESPONSE_PATHS = ['responseId', 'status', 'incomplete_details.reason', 'error'].map((name) => `response.${name}`)

const MEMBERS = wantedMembers([...EVENT_PATHS, ...RESPONSE_PATHS])

/** A stream of unknown format: facts are read if possible, and no events are added. */
export class DetectStream extends DetectReader implements StreamFormat {
  readonly finishMember = ''
  readonly readsAll = true
  readonly members = MEMBERS
  readonly #calls = new CallsOfChoices()

  isEnd(): boolean {
    return false
  }

  isOutput(event: unknown): boolean {
    const type = textAt(event, 'type')
    if (type !== undefined) return type.endsWith('delta')
    return hasOutput(event) || memberOf(event, 'candidates') !== undefined || memberOf(event, 'delta') !== undefined
  }

  keep(event: unknown, kept: KeptAnswer): void {
    const type = textAt(event, 'type')
    if (type === undefined) keepChoices(memberOf(event, 'choices'), kept, this.#calls)
    else if (type.startsWith('response.')) keepItemEvent(event, kept)
    else keepBlockEvent(event, kept)
  }

  formatBreak(): string {
    return ''
  }

  formatRefusal(): string {
    return ''
  }
}
