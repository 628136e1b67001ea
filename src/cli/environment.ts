import { type VariableName, variableFault } from '#api/process-variables.ts'
import { UsageError } from './usage-error.ts'

/** Environment variables of the process. Only those of the table can be read. */
export type Environment = { readonly [V in VariableName]?: string | undefined }

/** A setting, as its name and text. */
export type Setting = readonly [name: string, text: string | undefined]

/**
 * An environment variable; undefined if it is unset or empty.
 * @throws UsageError if its value does not have the form of the variable
 */
export function readVariable(environment: Environment, name: VariableName): string | undefined {
  const text = environment[name] || undefined
  const fault = text === undefined ? undefined : variableFault(name, text)
  if (fault !== undefined) throw new UsageError(`${name} is ${text}; it ${fault}`)
  return text
}

/**
 * The value of the first setting that is set.
 * @throws UsageError if it is not one of the values
 */
export function oneOf<T extends string>(values: readonly T[], ...settings: readonly Setting[]): T | undefined {
  const [name, text] = settings.find(([, text]) => text) ?? []
  if (text === undefined) return undefined
  const value = values.find((known) => known === text)
  if (value !== undefined) return value
  throw new UsageError(`${name} is ${text}; it must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`)
}
