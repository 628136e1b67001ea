/** A Condition without `lastTransitionTime`, which `stampStatus` adds. */
export interface ConditionDraft {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
}

/** The reason and message of a condition that reports a failure. */
export interface ConditionFault {
  readonly reason: string
  readonly message: string
}

/** Length limit of the message of a Condition (Kubernetes API). */
const MAX_MESSAGE = 32_768

/** Creates conditions of one object. */
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
