/** Replaces a secret. */
export const REDACTED = '<redacted>'

/** Request and response headers that carry credentials by convention; lower case. */
const FIELDS: ReadonlySet<string> = new Set([
  'api-key',
  'apikey',
  'authorization',
  'cookie',
  'ocp-apim-subscription-key',
  'private-token',
  'proxy-authorization',
  // Browsers cannot set other headers of a WebSocket, so keys of LLM providers are among its protocols.
  'sec-websocket-protocol',
  'set-cookie',
  'x-access-token',
  'x-amz-security-token',
  'x-api-key',
  'x-api-token',
  'x-apikey',
  'x-auth-key',
  'x-auth-token',
  'x-authorization',
  'x-csrf-token',
  'x-forwarded-access-token',
  'x-forwarded-authorization',
  'x-functions-key',
  'x-gitlab-token',
  'x-goog-api-key',
  'x-goog-iam-authorization-token',
  'x-secret-key',
  'x-session-token',
  'x-subscription-key',
  'x-token',
  'x-vault-token',
  'x-xsrf-token',
])

/** Query parameters that carry credentials by convention; lower case, `_` for `-`. */
const PARAMETERS = [
  'access_key',
  'access_token',
  'api_key',
  'api_token',
  'apikey',
  'assertion',
  'auth',
  'auth_token',
  'authorization',
  'bearer_token',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'credential',
  'id_token',
  'jwt',
  'key',
  'passwd',
  'password',
  'private_key',
  'pwd',
  'refresh_token',
  'secret',
  'secret_key',
  'session_token',
  'sig',
  'signature',
  'subscription_key',
  'token',
  'x_amz_credential',
  'x_amz_security_token',
  'x_amz_signature',
  'x_goog_credential',
  'x_goog_signature',
]
const PARAMETER_SET: ReadonlySet<string> = new Set(PARAMETERS)

/** A fast check that excludes almost all other queries. An escape can hide a name from it. */
const MAYBE = /token|key|secret|pass|pwd|sig|auth|cred|code|jwt|assertion|%/i
const IN_TEXT = new RegExp(`([?&](?:${PARAMETERS.join('|').replaceAll('_', '[_-]')})=)[^&#\\s"'<>\\\\]+`, 'gi')

/** Whether the name of a header indicates a credential, in any letter case. */
export function isCredentialField(name: string): boolean {
  return FIELDS.has(name.toLowerCase())
}

/** Whether the name of a query parameter indicates a credential. */
export function isCredentialParameter(name: string): boolean {
  return PARAMETER_SET.has(name.toLowerCase().replaceAll('-', '_'))
}

/** False if no parameter name of the query indicates a credential. */
export function mayNameCredential(query: string): boolean {
  return MAYBE.test(query)
}

/** Removes the credentials in URL queries from any text. */
export function hideCredentialParameters(text: string): string {
  return text.includes('=') ? text.replace(IN_TEXT, `$1${REDACTED}`) : text
}
