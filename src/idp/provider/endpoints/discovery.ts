import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import { issuerOf, type ProviderContext } from '../provider-context.ts'

/** The metadata of a realm (OpenID Connect Discovery 1.0, 3; RFC 8414). */
export function discovery(context: ProviderContext, request: IdpRequest): IdpReply {
  const issuer = issuerOf(request, context.realmOf(request).name)
  const openid = `${issuer}/protocol/openid-connect`
  const json = {
    issuer,
    authorization_endpoint: `${openid}/auth`,
    token_endpoint: `${openid}/token`,
    userinfo_endpoint: `${openid}/userinfo`,
    end_session_endpoint: `${openid}/logout`,
    jwks_uri: `${openid}/certs`,
    registration_endpoint: `${issuer}/clients-registrations/openid-connect`,
    grant_types_supported: ['authorization_code', 'client_credentials', 'password', 'refresh_token'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    scopes_supported: ['openid', 'profile', 'email'],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'name', 'preferred_username', 'email'],
  }
  return { status: 200, json }
}
