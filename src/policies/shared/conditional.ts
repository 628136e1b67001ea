import type { Static, TObject, TSchema, TUnsafe } from 'typebox'
import {
  annotate,
  type ConfigProblem,
  celExpression,
  itemPath,
  list,
  nodeOf,
  object,
  optional,
  problem,
  required,
} from '#schema/index.ts'

/** One item of a conditional wrapper: the policy applies when the condition is true; without a condition, always. */
export interface ConditionalItem<P> {
  condition?: string
  policy: P
}

/** A section that either is its policy or chooses among several (specification 2, 2.2.1). */
export type OrConditional<P> = (P & { conditional?: undefined }) | { conditional: ConditionalItem<P>[] }

interface WithItems {
  readonly conditional?: readonly { readonly condition?: unknown }[]
}

function checkFallbackIsLast({ conditional = [] }: WithItems, path: string): readonly ConfigProblem[] {
  const message = 'an entry without condition must be the last entry of conditional'
  return conditional
    .slice(0, -1)
    .flatMap((item, index) =>
      item.condition === undefined
        ? [problem(itemPath(`${path}.conditional`, index), 'conditional-order', message)]
        : [],
    )
}

/** The fields of the section, or `conditional` instead of them. */
export function orConditional<S extends TObject>(policy: S): TUnsafe<OrConditional<Static<S>>> {
  const item = object({
    condition: optional(
      celExpression(),
      'CEL expression. The entry applies if it is true. An expression that fails to evaluate is not true.',
    ),
    policy: required(policy, 'Settings of the entry.'),
  })
  const conditional = optional(
    list(item, { min: 1, max: 16 }),
    'Conditional settings. The first entry whose condition is true applies. An entry without condition is the fallback and must be last.',
  )
  const rule = {
    reads: ['conditional'],
    description: 'Only the last entry of conditional may omit condition.',
    check: checkFallbackIsLast,
    onServer:
      '!has(self.conditional) || self.conditional.filter(entry, !has(entry.condition)).size() == (has(self.conditional[self.conditional.size() - 1].condition) ? 0 : 1)',
  }
  const rules = [...(nodeOf(policy).rules ?? []), rule]
  return annotate<TSchema>(policy, {
    properties: { ...policy.properties, conditional },
    insteadOf: 'conditional',
    rules,
  }) as TUnsafe<OrConditional<Static<S>>>
}
