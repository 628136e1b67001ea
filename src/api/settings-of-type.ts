import { type ConfigProblem, fieldPath, problem } from '#schema/index.ts'

/**
 * A check for an object whose `type` names the field with its settings: it has these settings, and those of no other type. Types that are
 * not in the table have no settings here.
 * @param settings the field by type
 * @param what the object, with its article: `a filter`
 */
export function settingsOfType(settings: Readonly<Record<string, string>>, what: string) {
  return (
    value: { readonly type: string } & Readonly<Record<string, unknown>>,
    path: string,
  ): readonly ConfigProblem[] => {
    const { type } = value
    const own = Object.hasOwn(settings, type) ? settings[type] : undefined
    if (own === undefined) return []
    const foreign = Object.values(settings).filter((field) => field !== own && value[field] !== undefined)
    const found = foreign.map((field) =>
      problem(fieldPath(path, field), 'not-together', `${field} cannot be set in ${what} of type ${type}`),
    )
    if (value[own] !== undefined) return found
    return [problem(fieldPath(path, own), 'required', `is required in ${what} of type ${type}`), ...found]
  }
}
