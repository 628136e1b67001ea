/** A Condition without its time, which the writer of the status adds when the condition changes. */
export interface ConditionDraft {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
}

/** Why something is not as wanted: becomes a condition with status False. */
export interface Complaint {
  readonly reason: string
  readonly message: string
}

/** Messages longer than this are not allowed in a Condition. */
const MAX_MESSAGE = 32_768

/** Writes conditions about one object. */
export function conditionsOf(object: { readonly metadata: { readonly generation?: number } }) {
  const { generation } = object.metadata
  return (type: string, status: ConditionDraft['status'], reason: string, message: string): ConditionDraft => ({
    type,
    status,
    reason,
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  })
}
