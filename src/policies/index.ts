import { backendTransformation } from './backend/transformation/index.ts'
import type { PolicyDefinition, SettingDefinition } from './policy.ts'
import { requestRedirect } from './route/request-redirect/index.ts'
import { urlRewrite } from './route/url-rewrite/index.ts'
import { apiKeyAuthentication } from './traffic/api-key-authentication/index.ts'
import { authorization } from './traffic/authorization/index.ts'
import { directResponse } from './traffic/direct-response/index.ts'
import { headerModifiers } from './traffic/header-modifiers/index.ts'
import { rateLimit } from './traffic/rate-limit/index.ts'
import { transformation } from './traffic/transformation/index.ts'

/** Every field of the three sections and of the route filters, by section and name. Adding a policy adds a line here. */
export const POLICIES = {
  frontend: {},
  traffic: {
    apiKeyAuthentication,
    authorization,
    directResponse,
    headerModifiers,
    rateLimit,
    requestRedirect,
    transformation,
    urlRewrite,
  },
  backend: { transformation: backendTransformation },
} as const

type Section = keyof typeof POLICIES

/** The definition of a field whose name is known only at run time. */
export function policyDefinition(section: Section, field: string): PolicyDefinition | SettingDefinition | undefined {
  const fields: Readonly<Record<string, PolicyDefinition | SettingDefinition>> = POLICIES[section]
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}
