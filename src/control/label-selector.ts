/** `LabelSelector` of the platform; every part must hold, and one without parts selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

export type Labels = Readonly<Record<string, string>>

export function selectsLabels(selector: LabelSelector, labels: Labels): boolean {
  return hasLabels(labels, selector.matchLabels ?? {}) && (selector.matchExpressions ?? []).every(holdsFor(labels))
}

export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value)
}

function holdsFor(labels: Labels) {
  return ({ key, operator, values = [] }: NonNullable<LabelSelector['matchExpressions']>[number]): boolean => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value)
      case 'NotIn':
        return value === undefined || !values.includes(value)
      case 'Exists':
        return value !== undefined
      case 'DoesNotExist':
        return value === undefined
      default:
        return false
    }
  }
}
