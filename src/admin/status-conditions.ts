/** A condition of an object, or of a part of it. */
export interface PlacedCondition {
  /** The part: a listener, a parent or an ancestor; undefined: the object itself. */
  readonly of: string | undefined
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** Conditions of these types are good while they are False (Gateway API). */
const NEGATIVE: ReadonlySet<string> = new Set([
  'Conflicted',
  'InsecureFrontendValidationMode',
  'OverlappingTLSConfig',
  'PartiallyInvalid',
])

export function isGood({ type, status }: Pick<PlacedCondition, 'type' | 'status'>): boolean {
  return status === (NEGATIVE.has(type) ? 'False' : 'True')
}

type Condition = Omit<PlacedCondition, 'of'>

interface Part {
  readonly name?: string
  readonly conditions?: readonly Condition[]
  readonly parentRef?: Reference
  readonly ancestorRef?: Reference
}

interface Reference {
  readonly kind?: string
  readonly name: string
  readonly sectionName?: string
}

/** The conditions in a `status`, with those of listeners, parents and ancestors that do not only repeat one of the object. */
export function conditionsIn(status: unknown): readonly PlacedCondition[] {
  const {
    conditions,
    listeners = [],
    parents = [],
    ancestors = [],
  } = (status ?? {}) as Part & Partial<Record<'listeners' | 'parents' | 'ancestors', readonly Part[]>>
  const own = [{ conditions: conditions ?? [] }, ...listeners, ...parents, ...ancestors]
  return own.flatMap((part: Part) => {
    const of = part.name ?? nameOf(part.parentRef ?? part.ancestorRef)
    return (part.conditions ?? [])
      .filter(
        (condition) => part.ancestorRef === undefined || !conditions?.some((whole) => isRepeated(condition, whole)),
      )
      .map((condition) => ({ ...condition, of }))
  })
}

/** The message of a condition of the whole object may begin with the name of the ancestor. */
function isRepeated({ type, status, reason, message }: Condition, whole: Condition): boolean {
  const isSame = whole.type === type && whole.status === status && whole.reason === reason
  return isSame && (whole.message === message || whole.message.endsWith(`: ${message}`))
}

function nameOf(reference: Reference | undefined): string | undefined {
  if (reference === undefined) return undefined
  const { kind = 'Gateway', name, sectionName } = reference
  return `${kind} ${name}${sectionName === undefined ? '' : ` ${sectionName}`}`
}
