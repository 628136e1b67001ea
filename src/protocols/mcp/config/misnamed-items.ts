import type { ConfigProblem } from '#base/config-problem.ts'
import { suggest } from '#base/suggest.ts'
import type { Expression } from '#exchange/expression.ts'
import { ITEM_KINDS, type ItemKind } from './authorization.ts'
import { NAME_SEPARATOR, splitPrefix, URI_SEPARATOR } from './prefixed-name.ts'

/**
 * Names in a rule that no item has: of a target that does not exist, and that clients use of an item of one of several targets.
 * @param targets the names of the targets of one backend; a rule may also be for other backends
 */
export function findMisnamed(
  expression: Expression,
  targets: readonly string[],
): Omit<ConfigProblem, 'path'> | undefined {
  for (const kind of ITEM_KINDS) {
    const misnamed = misnamedTarget(kind, expression, targets) ?? clientName(kind, expression, targets)
    if (misnamed !== undefined) return misnamed
  }
  return undefined
}

/** Only a name that is almost that of a target: others may be of other backends. */
function misnamedTarget(
  kind: ItemKind,
  expression: Expression,
  targets: readonly string[],
): Omit<ConfigProblem, 'path'> | undefined {
  for (const name of expression.comparedTexts(`mcp.${kind}.target`)) {
    const nearest = targets.includes(name) ? undefined : suggest(name, targets)
    if (nearest === undefined) continue
    const message = `mcp.${kind}.target is never "${name}": there is no such target; did you mean "${nearest}"?`
    return { code: 'mcp-name-unknown', severity: 'warning', message }
  }
  return undefined
}

/** A target may have an item of such a name, so this is advice. */
function clientName(
  kind: ItemKind,
  expression: Expression,
  targets: readonly string[],
): Omit<ConfigProblem, 'path'> | undefined {
  if (targets.length < 2) return undefined
  const separator = kind === 'tool' || kind === 'prompt' ? NAME_SEPARATOR : URI_SEPARATOR
  const named = targets.map((target) => ({ name: target }))
  for (const name of expression.comparedTexts(`mcp.${kind}.name`)) {
    const owned = splitPrefix(named, name, separator)
    if (owned === undefined) continue
    const owner = owned.target.name
    const instead = `mcp.${kind}.name == "${owned.name}" && mcp.${kind}.target == "${owner}"`
    const message = `mcp.${kind}.name is the name at the target, without "${owner}${separator}"; for the ${kind} that clients name ${name}, write ${instead}`
    return { code: 'mcp-name-unknown', severity: 'advice', message }
  }
  return undefined
}
