import { type Refusal, refusalStatus, refusalText } from '#exchange/outcome.ts'
import { formatError } from '../../completions/errors.ts'
import { formatMessagesError } from '../../messages/errors.ts'
import { GUARD_CODE } from '../guard-refusals.ts'
import type { GuardedFormat } from '../guarded-format.ts'

/** The event with which a guard ends a stream that has begun, in the dialect of the client (decision B47). @param events before it */
export function formatGuardEvent(format: GuardedFormat, refusal: Refusal, events: number): string {
  const status = refusalStatus(refusal)
  const message = refusal.body ?? refusalText(refusal)
  switch (format) {
    case 'Messages':
      return `event: error\ndata: ${formatMessagesError(status, GUARD_CODE, message)}\n\n`
    case 'Responses': {
      const data = { type: 'error', code: GUARD_CODE, message, param: null, sequence_number: events }
      return `event: error\ndata: ${JSON.stringify(data)}\n\n`
    }
    default:
      return `data: ${formatError({ status, type: undefined, message, code: GUARD_CODE, param: undefined })}\n\n`
  }
}
