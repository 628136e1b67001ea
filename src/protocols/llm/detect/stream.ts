import { keepChoices } from '../completions/keep-answer.ts'
import { memberOf, textAt } from '../json/read-value.ts'
import type { KeptAnswer } from '../kept-answer.ts'
import { keepBlockEvent } from '../messages/keep-answer.ts'
import { keepItemEvent } from '../responses/keep-answer.ts'
import type { StreamFormat } from '../stream-format.ts'
import { DetectReader } from './response.ts'

/** A stream of unknown format: facts are read if possible, and no events are added. */
export class DetectStream extends DetectReader implements StreamFormat {
  readonly finishMember = ''
  readonly readsAll = true

  isEnd(): boolean {
    return false
  }

  isOutput(): boolean {
    return true
  }

  keep(event: unknown, kept: KeptAnswer): void {
    const type = textAt(event, 'type')
    if (type === undefined) keepChoices(memberOf(event, 'choices'), kept)
    else if (type.startsWith('response.')) keepItemEvent(event, kept)
    else keepBlockEvent(event, kept)
  }

  formatBreak(): string {
    return ''
  }
}
