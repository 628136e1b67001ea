/** A condition of a CustomResourceDefinition, without its time. */
export interface DefinitionCondition {
  readonly type: 'NamesAccepted' | 'Established' | 'Terminating'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

type Status = Readonly<Record<string, unknown>>
type Stored = DefinitionCondition & { readonly lastTransitionTime?: string }

/** A status with a condition. Its time is that of the last change of True or False. */
export function withCondition(status: Status, condition: DefinitionCondition, now: string): Status {
  const conditions = (status.conditions ?? []) as readonly Stored[]
  const before = conditions.find(({ type }) => type === condition.type)
  const isChange = before?.status !== condition.status
  const next: Stored = { ...condition, lastTransitionTime: isChange ? now : (before.lastTransitionTime ?? now) }
  return {
    ...status,
    conditions:
      before === undefined ? [...conditions, next] : conditions.map((each) => (each === before ? next : each)),
  }
}
