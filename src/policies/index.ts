import type { PolicyDefinition, SettingDefinition } from './policy.ts'
import { apiKeyAuthentication } from './traffic/api-key-authentication/index.ts'
import { authorization } from './traffic/authorization/index.ts'

/** Every field of the three sections and of the route filters, by section and name. Adding a policy adds a line here. */
export const POLICIES = {
  frontend: {},
  traffic: { apiKeyAuthentication, authorization },
  backend: {},
} as const

type Section = keyof typeof POLICIES

/** The definition of a field whose name is known only at run time. */
export function policyDefinition(section: Section, field: string): PolicyDefinition | SettingDefinition | undefined {
  const fields: Readonly<Record<string, PolicyDefinition | SettingDefinition>> = POLICIES[section]
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}
