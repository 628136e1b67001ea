/** What happened to an object, for its readers (Kubernetes, Event). */
export interface EventDraft {
  readonly type: 'Normal' | 'Warning'
  readonly reason: 'Invalid' | 'NotAttached' | 'Overlapped' | 'ConfigRejected' | 'Programmed' | 'Expires'
  readonly message: string
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

interface Part {
  readonly conditions?: readonly Condition[]
}

/**
 * The events of a new status: one for each condition that was not there before and is worth telling.
 * @param before the status before; undefined: there was none
 */
export function conditionEvents(before: unknown, after: unknown): readonly EventDraft[] {
  const known = new Set(conditionsIn(before).map(textOf))
  const drafts = new Map<string, EventDraft>()
  for (const condition of conditionsIn(after)) {
    if (known.has(textOf(condition))) continue
    const draft = eventOf(condition)
    if (draft !== undefined) drafts.set(`${draft.reason} ${draft.message}`, draft)
  }
  return [...drafts.values()]
}

/** Conditions of the object and of its parents. Those of ancestors and listeners repeat the ones of the object. */
function conditionsIn(status: unknown): readonly Condition[] {
  const { conditions = [], parents = [] } = (status ?? {}) as Part & { readonly parents?: readonly Part[] }
  return [...conditions, ...parents.flatMap((parent) => parent.conditions ?? [])]
}

function textOf({ type, status, reason, message }: Condition): string {
  return `${type} ${status} ${reason} ${message}`
}

/** Reasons of conditions that are true, but not of all fields or listeners. */
const IN_PART: ReadonlySet<string> = new Set(['PartiallyValid', 'ListenersNotValid'])

function eventOf({ type, status, reason, message }: Condition): EventDraft | undefined {
  switch (type) {
    case 'Current':
      return status === 'False' ? { type: 'Warning', reason: 'ConfigRejected', message } : undefined
    case 'Attached':
      return status === 'False' ? { type: 'Warning', reason: 'NotAttached', message } : undefined
    case 'Overlapped':
      return status === 'True' ? { type: 'Warning', reason: 'Overlapped', message } : undefined
    case 'Programmed':
      // Unknown: the data plane has not answered yet.
      if (status === 'Unknown') return undefined
      return status === 'True'
        ? { type: 'Normal', reason: 'Programmed', message }
        : { type: 'Warning', reason: 'Invalid', message }
    case 'Accepted':
    case 'ResolvedRefs':
      return status === 'False' || IN_PART.has(reason) ? { type: 'Warning', reason: 'Invalid', message } : undefined
    case 'PartiallyInvalid':
      return status === 'True' ? { type: 'Warning', reason: 'Invalid', message } : undefined
    default:
      return undefined
  }
}
