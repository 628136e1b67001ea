import { isCredentialField, REDACTED, redactTarget } from '#base/credential-names.ts'

/** Which values of a message are hidden. */
export interface Hidden {
  /** Texts that may be credentials. */
  readonly secrets: readonly string[]
  /** Query parameters that may hold credentials, besides those with conventional names. */
  readonly parameters: readonly string[]
}

/** A message as text with one line for each value, in the form of YAML. @param hidden undefined: everything is shown */
export function messageLines(message: object, hidden: Hidden | undefined): string[] {
  const entries = message instanceof Map ? [...message] : Object.entries(message)
  return entries.flatMap(([name, value]) => fieldLines(String(name), value, hidden))
}

function fieldLines(name: string, value: unknown, hidden: Hidden | undefined): string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return [`${name}:`, ...value.flatMap((item) => itemLines(item, hidden))]
  if (typeof value !== 'object' || value === null) return [`${name}: ${leafText(name, value, hidden)}`]
  const lines = messageLines(value, hidden)
  return lines.length === 0 ? [`${name}: {}`] : [`${name}:`, ...lines.map((line) => `  ${line}`)]
}

function itemLines(item: unknown, hidden: Hidden | undefined): string[] {
  if (typeof item !== 'object' || item === null) return [`- ${leafText('', item, hidden)}`]
  return messageLines(item, hidden).map((line, index) => `${index === 0 ? '-' : ' '} ${line}`)
}

function leafText(name: string, value: unknown, hidden: Hidden | undefined): string {
  if (hidden === undefined || typeof value !== 'string') return JSON.stringify(value)
  if (isCredentialField(name) || hidden.secrets.includes(value)) return REDACTED
  return JSON.stringify(name === 'path' || name === ':path' ? redactTarget(value, hidden.parameters) : value)
}
